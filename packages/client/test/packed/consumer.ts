// Compiled against the packed declarations, with and without DOM types: it uses what a program of theirs would name.
import { type Client, type ClientOptions, createClient, parseCoverage, RpcError } from '@chain-data/client'
import { type ChainPerCall, createClient as createFetchClient } from '@chain-data/client/fetch'
import { createLiveHistory, type HistorySnapshot } from '@chain-data/client/history'

const options = { baseUrl: 'https://rpc.example.com', projectId: 'p', serverKey: 'k' } satisfies ClientOptions
export const client: Client<ChainPerCall> = createClient(options)
export const small = createFetchClient({ ...options, chainId: 1, int64: 'bigint' })

export async function use(address: string): Promise<string> {
  const { native } = await client.getTokensAndNFTs({ address, chainId: 1 })
  // @ts-expect-error: without a default chain every call names its own.
  await client.getTokensAndNFTs({ address })
  const { lamports } = await small.enhancedGetTokensAndNFTs({ accountAddress: address, chainId: 103 })
  const exact: bigint = lamports
  // @ts-expect-error: no `any` on the way.
  const wrong: number = native
  for await (const page of small.iterateTransactions({ address })) if (page[0]?.hash === native) break
  const certificate = await client.verifyHistory({ address, chainId: 1 })
  const sum: bigint = certificate.native.parts.received + (certificate.findings[0]?.nonce ?? 0n)
  // @ts-expect-error: amounts are exact.
  const rounded: number = certificate.native.parts.sent
  const covered: number | undefined = parseCoverage('1;from=0')[0]?.from
  const list = createLiveHistory(small, { address, chainId: 1 })
  const snapshot: HistorySnapshot = list.getSnapshot()
  // @ts-expect-error: what was not read is not known.
  const count: number = snapshot.records.length
  if (snapshot.state === 'ready') list.close()
  return [count, exact, wrong, sum, rounded, covered].join()
}

export function isOurs(error: unknown): error is RpcError {
  return error instanceof RpcError && error.reason === 'NOT_SYNCED'
}
