import { enhancedGetTokensAndNFTsQuery, getTokensAndNFTsQuery } from '@chain-data/client/query'
import { useQuery } from '@tanstack/react-query'
import { chainById, settings } from '../config.ts'
import { useClient } from '../shared/ClientProvider.tsx'
import { retryEvery } from '../shared/FailedNotice.tsx'
import type { AccountRoute } from '../shared/route.ts'
import { useSteadyError } from '../shared/useSteadyError.ts'
import type { HoldingsView } from './HoldingsView.ts'
import { toEvmView } from './toEvmView.ts'
import { toSolanaView } from './toSolanaView.ts'

/** Holdings that are being asked for, are there, or could not be read: the last two may be so at once. */
export interface HoldingsState {
  readonly data: HoldingsView | undefined
  readonly error: Error | null
  /** When `data` arrived. */
  readonly readAtSeconds: number
  retry(): void
}

/** What an account of either family holds, asked for again and again while the page is seen. */
export function useHoldings({ chainId, address }: AccountRoute): HoldingsState {
  const client = useClient()
  const isEvm = chainById(chainId).family === 'evm'
  const refetchInterval = (query: { state: { error: Error | null } }) =>
    retryEvery(query.state.error, chainId, settings.pollMs)
  const evm = useQuery({
    ...getTokensAndNFTsQuery(client, { chainId, address }),
    ...{ select: toEvmView, enabled: isEvm, refetchInterval }
  })
  const solana = useQuery({
    ...enhancedGetTokensAndNFTsQuery(client, { chainId, accountAddress: address, parseMetadataUri: true }),
    ...{ select: toSolanaView, enabled: !isEvm, refetchInterval }
  })
  const query = isEvm ? evm : solana
  const error = useSteadyError(query)
  const { data, dataUpdatedAt, refetch } = query
  return { data, error, readAtSeconds: dataUpdatedAt / 1000, retry: () => void refetch() }
}
