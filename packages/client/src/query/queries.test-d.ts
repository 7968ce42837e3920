// Checked by the compiler alone: each `@ts-expect-error` fails the build when its line compiles.
import { QueryClient, skipToken } from '@tanstack/query-core'
import { createPublicClient, custom } from 'viem'
import { mainnet } from 'viem/chains'
import type { ChainOptional, Client, EvmHoldings, TransactionHistory } from '../index.ts'
import { chainDataActions } from '../viem.ts'
import { enhancedGetTokensAndNFTsQuery, getTokensAndNFTsQuery, transactionPagesQuery } from './index.ts'

declare const perCall: Client
declare const withChain: Client<ChainOptional, bigint>
declare const address: string | undefined
const cache = new QueryClient()

/** Never called: only its types matter. */
export async function keysKnowTheirData(known: string): Promise<void> {
  const query = getTokensAndNFTsQuery(withChain, { address: known })
  const held = cache.getQueryData(query.queryKey)
  held satisfies EvmHoldings | undefined
  // @ts-expect-error: the cache knows what is under this key
  held satisfies TransactionHistory | undefined
  cache.setQueryData(query.queryKey, before => before && { ...before, native: '0' })
  // @ts-expect-error: no holdings
  cache.setQueryData(query.queryKey, [])
  cache.getQueryState(query.queryKey)?.error?.retryable.valueOf()
  const pages = transactionPagesQuery(withChain, { address: known })
  const read = cache.getQueryData(pages.queryKey)
  read?.pages[0] satisfies TransactionHistory | undefined
  read?.pageParams[0] satisfies string | undefined
  const solana = await cache.fetchQuery(enhancedGetTokensAndNFTsQuery(withChain, { address: known }))
  solana.lamports satisfies bigint
}

export async function skippedQueriesAreTold(known: string): Promise<void> {
  const args = address ? { address, chainId: 1 } : skipToken
  const query = getTokensAndNFTsQuery(perCall, args)
  const { signal } = new AbortController()
  // @ts-expect-error: the function of a query that may be skipped may be the token
  await query.queryFn({ signal })
  await getTokensAndNFTsQuery(perCall, { address: known, chainId: 1 }).queryFn({ signal })
  const pages = transactionPagesQuery(perCall, args)
  // @ts-expect-error: as above
  await pages.queryFn({ signal, pageParam: undefined })
  // @ts-expect-error: an address that may be missing is no reason to skip by itself
  getTokensAndNFTsQuery(perCall, { address, chainId: 1 })
}

export function chainsComeFromTheClient(): void {
  getTokensAndNFTsQuery(withChain, { address: '0x' })
  // @ts-expect-error: neither the client nor the call names a chain
  getTokensAndNFTsQuery(perCall, { address: '0x' })
  const actions = chainDataActions({ baseUrl: 'https://rpc.example.com', auth: false })
  const transport = custom({ request: async () => undefined })
  const viem = createPublicClient({ chain: mainnet, transport }).extend(actions)
  const query = getTokensAndNFTsQuery(viem, { address: '0x' })
  const held = cache.getQueryData(query.queryKey)
  held satisfies EvmHoldings | undefined
  // @ts-expect-error: a client of viem without a chain names none
  getTokensAndNFTsQuery(createPublicClient({ transport }).extend(actions), { address: '0x' })
  // @ts-expect-error: nothing about Solana is asked of a client of viem
  enhancedGetTokensAndNFTsQuery(viem, { address: '0x' })
}
