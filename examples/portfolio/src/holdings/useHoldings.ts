import type { TransactionRecord } from '@chain-data/client/fetch'
import { enhancedGetTokensAndNFTsQuery, getTokensAndNFTsQuery } from '@chain-data/client/query'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useSyncExternalStore } from 'react'
import { chainById, settings } from '../config.ts'
import { useClient } from '../shared/ClientProvider.tsx'
import { retryEvery } from '../shared/FailedNotice.tsx'
import type { AccountRoute } from '../shared/route.ts'
import { useSteadyError } from '../shared/useSteadyError.ts'
import { listOf } from '../timeline/useHistory.ts'
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

/** Balances also change without a transaction of the account: by withdrawals of validators, or tokens whose supply is adjusted. */
const renewMs = 60_000
const neverChanges = () => () => {}

/**
 * What an account of either family holds. It is read again when the history of the account changes, and once a minute; where no stream
 * reports changes, as of Solana, as often as the page polls.
 */
export function useHoldings({ chainId, address }: AccountRoute): HoldingsState {
  const client = useClient()
  const isEvm = chainById(chainId).family === 'evm'
  const list = isEvm ? listOf(client, { chainId, address }).list : undefined
  const isStreamed = useSyncExternalStore(
    list?.subscribe ?? neverChanges,
    () => list?.getSnapshot().isStreamed === true
  )
  const refetchInterval = ({ state: { error } }: { state: { error: Error | null } }) =>
    retryEvery(error, chainId, isStreamed ? renewMs : settings.pollMs)
  const evm = useQuery({
    ...getTokensAndNFTsQuery(client, { chainId, address }),
    ...{ select: toEvmView, enabled: isEvm, refetchInterval }
  })
  const solana = useQuery({
    ...enhancedGetTokensAndNFTsQuery(client, { chainId, accountAddress: address, parseMetadataUri: true }),
    ...{ select: toSolanaView, enabled: !isEvm, refetchInterval }
  })
  const { refetch: readAgain } = evm
  useEffect(() => {
    if (list === undefined) return
    const read = createFollowUps(readAgain)
    let { records: before } = list.getSnapshot()
    return list.subscribe(() => {
      const { records } = list.getSnapshot()
      if (before !== undefined && records !== undefined && hasChanged(before, records)) read()
      before = records
    })
  }, [list, readAgain])
  const query = isEvm ? evm : solana
  const error = useSteadyError(query)
  const { data, dataUpdatedAt, refetch } = query
  return { data, error, readAtSeconds: dataUpdatedAt / 1000, retry: () => void refetch() }
}

type Records = readonly TransactionRecord[]

/** Whether more has happened to a list than that older records were added to its end. */
function hasChanged(before: Records, now: Records): boolean {
  return before !== now && (before.length === 0 || before.some((record, place) => record !== now[place]))
}

/** Reads one time after another, so that an account on which much happens does not cancel every answer. */
function createFollowUps(read: () => Promise<unknown>): () => void {
  let reading: Promise<unknown> | undefined
  let isDue = false
  return function readOn() {
    isDue = reading !== undefined
    reading ??= read().finally(() => {
      reading = undefined
      if (isDue) readOn()
    })
  }
}
