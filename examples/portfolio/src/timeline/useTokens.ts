import {
  type EvmHoldings,
  isConfirmed,
  type SpamVerdict,
  type TransactionRecord
} from '@chain-data/client/fetch'
import { getTokensAndNFTsQuery } from '@chain-data/client/query'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useClient } from '../shared/ClientProvider.tsx'
import type { AccountRoute } from '../shared/route.ts'

/** What a token is called, and how its amounts are written. */
export interface TokenFacts {
  readonly symbol: string
  /** Absent for NFTs. */
  readonly decimals?: number
  readonly spam?: SpamVerdict
}

/** Facts by contract, in lower case; a contract that nobody knows is not in it. */
export type Tokens = ReadonlyMap<string, TokenFacts>

/** Most contracts that one call may name. */
const mostListed = 100

/**
 * What is known of the tokens that moved in some records: from what the account holds, and for what it holds no longer from a
 * call that names the contracts.
 */
export function useTokens({ chainId, address }: AccountRoute, records: readonly TransactionRecord[]): Tokens {
  const client = useClient()
  // The same query as that of the holdings: the cache answers.
  const held = useQuery(getTokensAndNFTsQuery(client, { chainId, address }))
  const known = useMemo(() => factsOf(held.data), [held.data])
  const missing = useMemo(() => {
    const seen = new Set(records.flatMap(record => erc20sOf(record)))
    return [...seen]
      .filter(contract => !known.has(contract))
      .slice(0, mostListed)
      .sort()
  }, [records, known])
  const listed = useQuery({
    ...getTokensAndNFTsQuery(client, { chainId, address, tokenAddresses: missing }),
    enabled: held.data !== undefined && missing.length > 0,
    ...{ staleTime: Number.POSITIVE_INFINITY, placeholderData: keepPreviousData }
  })
  return useMemo(() => new Map([...factsOf(listed.data), ...known]), [listed.data, known])
}

function erc20sOf(record: TransactionRecord): string[] {
  if (!isConfirmed(record)) return []
  return (record.transfers ?? []).flatMap(({ standard, address }) =>
    standard === 'ERC-20' ? [address.toLowerCase()] : []
  )
}

function factsOf(holdings: EvmHoldings | undefined): Map<string, TokenFacts> {
  const facts = new Map<string, TokenFacts>()
  for (const { address, symbol, name, spam } of holdings?.nfts ?? []) {
    facts.set(address.toLowerCase(), { symbol: symbol || name, ...(spam && { spam }) })
  }
  for (const { address, symbol, name, decimals, spam } of holdings?.tokens ?? []) {
    facts.set(address.toLowerCase(), { symbol: symbol || name, decimals, ...(spam && { spam }) })
  }
  return facts
}
