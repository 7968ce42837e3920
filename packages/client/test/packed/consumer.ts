// Compiled against the packed declarations, with and without DOM types: it uses what a program of theirs would name.
import { type Client, type ClientOptions, createClient, RpcError } from '@chain-data/client'
import { type ChainPerCall, createClient as createFetchClient } from '@chain-data/client/fetch'
import { getTokensAndNFTsQuery, transactionPagesQuery } from '@chain-data/client/query'

const options = { baseUrl: 'https://rpc.example.com', projectId: 'p', serverKey: 'k' } satisfies ClientOptions
export const client: Client<ChainPerCall> = createClient(options)
export const small = createFetchClient({ ...options, chainId: 1, int64: 'bigint' })

export async function use(address: string): Promise<string> {
  const { native } = await client.svc_getTokensAndNFTs({ address, chainId: 1 })
  // @ts-expect-error: without a default chain every call names its own.
  await client.svc_getTokensAndNFTs({ address })
  const { lamports } = await small.enhancedGetTokensAndNFTs({ accountAddress: address, chainId: 103 })
  const exact: bigint = lamports
  // @ts-expect-error: no `any` on the way.
  const wrong: number = native
  for await (const page of small.iterateTransactions({ address })) if (page[0]?.hash === native) break
  const query = getTokensAndNFTsQuery(small, { address, chainId: 1 })
  const pages = transactionPagesQuery(client, { address, chainId: 1 })
  return [query.queryKey, pages.initialPageParam, exact, wrong].join()
}

export function isOurs(error: unknown): error is RpcError {
  return error instanceof RpcError && error.reason === 'NOT_SYNCED'
}
