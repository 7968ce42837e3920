import { isConfirmed, type TransactionRecord } from '@chain-data/client/fetch'
import { getSyncStatusQuery } from '@chain-data/client/query'
import { useQuery } from '@tanstack/react-query'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { chainById, settings } from '../config.ts'
import { useClient } from '../shared/ClientProvider.tsx'
import { FailedNotice, ReadingNotice, retryEvery, StaleNotice } from '../shared/FailedNotice.tsx'
import { shownInteger } from '../shared/formatAmount.ts'
import { Notice } from '../shared/Notice.tsx'
import { plural } from '../shared/plural.ts'
import type { AccountRoute } from '../shared/route.ts'
import { Skeleton } from '../shared/Skeleton.tsx'
import { useChain } from '../shared/useChain.ts'
import { useNow } from '../shared/useNow.ts'
import { useSteadyError } from '../shared/useSteadyError.ts'
import { When } from '../shared/When.tsx'
import { SolanaTimeline } from '../solanaTimeline/SolanaTimeline.tsx'
import { dayOf, underDays } from './days.ts'
import type { ListChanges } from './ListChanges.ts'
import { RecordRow } from './RecordRow.tsx'
import { RowBlock, useOldRows } from './RowBlock.tsx'
import { type ShownList, tellChanges } from './tellChanges.ts'
import { type AccountHistory, useHistory } from './useHistory.ts'
import { useTokens } from './useTokens.ts'
import './timeline.css'

/** Every transaction of an account, newest first; older ones come as the reader goes on. */
export function Timeline({ chainId, address }: AccountRoute) {
  const { family } = chainById(chainId)
  return (
    <section className="card timeline" aria-labelledby="transactions">
      {family === 'evm' ? (
        <EvmTimeline chainId={chainId} address={address} />
      ) : (
        <SolanaTimeline chainId={chainId} address={address} />
      )}
    </section>
  )
}

function EvmTimeline({ chainId, address }: AccountRoute) {
  const history = useHistory({ chainId, address })
  const { snapshot, changes, list } = history
  const { state, records, hasOlder } = snapshot
  const hasRows = (records?.length ?? 0) + changes.gone.length > 0
  const said = useChangesSaid(history)
  const retry = () => void list.refresh()
  return (
    <>
      <h2 id="transactions">
        Transactions{' '}
        {records !== undefined && (
          <span className="quiet">
            {shownInteger(records.length)}
            {hasOlder && ' newest'}
          </span>
        )}
      </h2>
      <p className="unseen" role="status">
        {said}
      </p>
      {state === 'failed' && <FailedNotice {...{ error: snapshot.error, chainId }} onRetry={retry} />}
      {state === 'stale' && (
        <StaleNotice
          {...{ error: snapshot.error, chainId }}
          readAtSeconds={snapshot.readAtMs / 1000}
          onRetry={retry}
        />
      )}
      {state === 'reading' && !snapshot.isLoadingOlder && <ReadingNotice progress={snapshot.progress} />}
      {state === 'loading' && <Skeleton rows={4} />}
      {records !== undefined && !hasRows && !hasOlder && <NoTransactions chainId={chainId} />}
      {records !== undefined && (hasRows || hasOlder) && (
        <>
          <Rows {...{ chainId, address, records, changes }} />
          <End {...{ chainId, history }} />
        </>
      )}
    </>
  )
}

function NoTransactions({ chainId }: { chainId: number }) {
  const { data } = useQuery(getSyncStatusQuery(useClient(), { chainId }))
  const known =
    data?.indexedTo === undefined
      ? ''
      : `From block ${shownInteger(data.indexedFrom ?? 0)} to block ${shownInteger(data.indexedTo)} nothing was sent by this account or to it.${data.covers.internal ? '' : ' What contracts may have paid to it is not known.'}`
  return (
    <Notice state="empty" title="No transactions">
      {known}
    </Notice>
  )
}

interface RowsProps extends AccountRoute {
  records: readonly TransactionRecord[]
  changes: ListChanges
}

function Rows({ chainId, address, records, changes: { gone, returned, arrived } }: RowsProps) {
  const currency = useChain(chainId)
  const tokens = useTokens({ chainId, address }, records)
  const today = dayOf(useNow() / 1000)
  const rows = useMemo(() => underDays(records, today), [records, today])
  const [live, old] = useOldRows(rows)
  const common = { address, chainId, currency, tokens }
  return (
    <>
      <ol className="records">
        {gone.map((record, place) => (
          <RecordRow
            key={record.hash}
            {...{ record, ...common }}
            day={place === 0 ? 'Taken out' : undefined}
            isNew={false}
            note={whyGone(record, records)}
            isGone
          />
        ))}
        {live.map(({ record, day }) => (
          <RecordRow
            key={record.hash}
            {...{ record, day, ...common }}
            isNew={arrived.has(record.hash)}
            note={whyReturned(returned.get(record.hash))}
          />
        ))}
      </ol>
      {old.map((part, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: older rows are only added at their end.
        <RowBlock key={place} rows={part} {...common} />
      ))}
    </>
  )
}

function whyReturned(block: number | undefined): string | undefined {
  if (block === undefined) return undefined
  return `It was in block ${shownInteger(block)}, which the chain has replaced (a reorg). It waits for a new one.`
}

function whyGone(record: TransactionRecord, records: readonly TransactionRecord[]): string {
  const other = records.find(({ from, nonce }) => from === record.from && nonce === record.nonce)
  if (other !== undefined) return 'Another transaction of the sender has taken its place.'
  return isConfirmed(record)
    ? `It was in block ${shownInteger(record.blockNumber ?? 0)}, which the chain has replaced (a reorg). It may come back.`
    : 'The node does not hold it any more. It may come back.'
}

/** Reads on when the reader comes to the end; by a button for those who do not scroll. */
function End({ chainId, history: { snapshot, list } }: { chainId: number; history: AccountHistory }) {
  const { records = [], hasOlder, isLoadingOlder, olderError } = snapshot
  const end = useRef<HTMLDivElement>(null)
  const canRead = hasOlder && !isLoadingOlder && olderError === undefined
  const readOn = useCallback(() => void list.loadOlder(), [list])

  const error = useSteadyError({ error: olderError ?? null, isPending: isLoadingOlder })
  const againMs = olderError !== undefined && retryEvery(olderError, chainId, settings.pollMs)
  useEffect(() => {
    if (againMs === false) return
    const timer = setTimeout(readOn, againMs)
    return () => clearTimeout(timer)
  }, [againMs, readOn])

  useEffect(() => {
    if (end.current === null || !canRead) return
    const read: IntersectionObserverCallback = entries => {
      // On a busy machine several may come at once.
      if (entries.some(({ isIntersecting }) => isIntersecting)) readOn()
    }
    const observer = new IntersectionObserver(read, { rootMargin: '600px' })
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [canRead, readOn])

  // Where the index begins later than the chain, older transactions are not known.
  const from = useQuery(getSyncStatusQuery(useClient(), { chainId })).data?.indexedFrom ?? 0
  const first = records.findLast(record => isConfirmed(record))
  return (
    <div className="end" ref={end}>
      {!hasOlder && (
        <p className="quiet">
          That is all{from > 0 && ` since block ${shownInteger(from)}, where the index begins`}:{' '}
          {plural(records.length, 'transaction', 'transactions')}
          {first !== undefined && (
            <>
              , the first <When seconds={first.timestamp} />
            </>
          )}
          .
        </p>
      )}
      {error !== null && <FailedNotice {...{ error, chainId }} onRetry={readOn} />}
      {snapshot.state === 'reading' && isLoadingOlder && <ReadingNotice progress={snapshot.progress} />}
      {hasOlder && error === null && (
        <button
          type="button"
          className="button"
          // Not `disabled`: that would take the focus from whoever pressed it.
          aria-disabled={isLoadingOlder}
          onClick={readOn}
        >
          {isLoadingOlder ? 'Loading older ones …' : 'Load older'}
        </button>
      )}
    </div>
  )
}

function useChangesSaid({ snapshot: { records }, changes }: AccountHistory): string {
  const before = useRef<ShownList>({ changes })
  const [said, setSaid] = useState('')
  useEffect(() => {
    const text = tellChanges(before.current, { records, changes })
    before.current = { records, changes }
    if (text !== '') setSaid(text)
  }, [records, changes])
  return said
}
