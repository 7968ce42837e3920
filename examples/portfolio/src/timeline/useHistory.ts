import { type Client, type EvmHoldings, hasReason, type IncludedPart } from '@chain-data/client/fetch'
import { getSyncStatusQuery, getTokensAndNFTsQuery, transactionPagesQuery } from '@chain-data/client/query'
import { type QueryClient, skipToken, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useMemo } from 'react'
import { settings } from '../config.ts'
import { useClient } from '../shared/ClientProvider.tsx'
import { retryEvery } from '../shared/FailedNotice.tsx'
import type { AccountRoute } from '../shared/route.ts'
import { useSteadyError } from '../shared/useSteadyError.ts'
import { type Anchor, emptyHistory, type History, type ReadRecords } from './History.ts'
import { type HistorySource, refreshHistory } from './readHistory.ts'

/** A history that is kept up to date while the page is seen. */
export interface LiveHistory {
  readonly history: History
  /** Whether it was read at all. */
  readonly isRead: boolean
  /** Why the newest records could not be read the last time; null when they could. */
  readonly error: Error | null
  /** When they were read last, in milliseconds since 1970. */
  readonly readAtMs: number
  readonly refresh: () => void
  /** For reading older records. */
  readonly source: HistorySource
}

/**
 * The history of an EVM account. Every component that asks for the same one shares it, and its polling.
 *
 * @remarks TanStack Query asks for the newest records while somebody sees the page; they are laid over what is held in its cache.
 */
export function useHistory({ chainId, address }: AccountRoute): LiveHistory {
  const client = useClient()
  const queryClient = useQueryClient()
  const key = useMemo(() => ['portfolio', 'history', chainId, address.toLowerCase()], [chainId, address])
  const source = useMemo(
    () => createSource({ client, queryClient, chainId, address, key: [...key, 'records'] }),
    [client, queryClient, chainId, address, key]
  )
  const { data: held } = useQuery<History>({
    // Only ever put there by the two readers.
    ...{ queryKey: [...key, 'records'], queryFn: skipToken, staleTime: Number.POSITIVE_INFINITY },
    structuralSharing: false
  })
  const newest = useQuery({
    queryKey: [...key, 'newest'],
    queryFn: ({ signal }) => refreshHistory(source(signal)).then(() => Date.now()),
    // The client has sent again what may pass.
    retry: false,
    refetchInterval: query => retryEvery(query.state.error, chainId, settings.pollMs)
  })
  const error = useSteadyError(newest)
  const { refetch } = newest
  const refresh = useCallback(() => void refetch(), [refetch])
  const older = useMemo(() => source(), [source])
  return {
    ...{ history: held ?? emptyHistory, source: older, error, readAtMs: newest.dataUpdatedAt },
    ...{ refresh, isRead: newest.data !== undefined && held !== undefined }
  }
}

/** Reads through the client and holds in the cache. */
function createSource({
  client,
  queryClient,
  chainId,
  address,
  key
}: AccountRoute & { client: Client; queryClient: QueryClient; key: readonly unknown[] }) {
  let include: readonly IncludedPart[] | undefined = ['transfers', 'internal']
  const status = getSyncStatusQuery(client, { chainId })
  const holdings = getTokensAndNFTsQuery(client, { chainId, address })

  async function read(
    { limit, before }: { limit: number; before?: string },
    signal: AbortSignal
  ): Promise<ReadRecords> {
    try {
      const { queryFn } = transactionPagesQuery(client, { chainId, address, limit, include })
      const records = await queryFn({ signal, pageParam: before })
      return { records, isLast: records.length < limit }
    } catch (error) {
      // A host of the plain document does not know `include`.
      if (include === undefined || !hasReason(error, 'INVALID_PARAMS')) throw error
      include = undefined
      return read({ limit, ...(before === undefined ? {} : { before }) }, signal)
    }
  }

  async function readFinalized(): Promise<number | undefined> {
    const failed = queryClient.getQueryState(status.queryKey)?.error
    if (hasReason(failed, 'METHOD_NOT_FOUND')) return undefined
    // An older answer is a safe one: what was final stays final.
    const { finalized } = await queryClient
      .fetchQuery({ ...status, staleTime: 10_000 })
      .catch(() => ({ finalized: undefined }))
    return finalized
  }

  function readAnchor(): Anchor | undefined {
    const { native, asOf } = queryClient.getQueryData<EvmHoldings>(holdings.queryKey) ?? {}
    if (native === undefined || asOf === undefined) return undefined
    const { blockNumber, blockHash, timestamp } = asOf
    return { balanceWei: BigInt(native), blockNumber, blockHash, timestampSeconds: timestamp }
  }

  return (signal: AbortSignal = new AbortController().signal): HistorySource => ({
    read: page => read(page, signal),
    readFinalized,
    readAnchor,
    held: () => queryClient.getQueryData<History>(key) ?? emptyHistory,
    hold: history => void queryClient.setQueryData(key, history)
  })
}
