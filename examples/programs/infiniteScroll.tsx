/**
 * The transactions of an account as an endless list: pending ones appear on top and become confirmed in their row, older ones are
 * read as the end of the list comes into view.
 */
import type { Client, TransactionRecord } from '@chain-data/client'
import { isPending } from '@chain-data/client/fetch'
import { createLiveHistory, type HistorySnapshot } from '@chain-data/client/history'
import { useEffect, useMemo, useRef, useSyncExternalStore } from 'react'

interface Account {
  readonly client: Pick<Client, 'getTransactionsByAddress' | 'getSyncStatus'>
  readonly address: string
  readonly chainId: number
}

export function Transactions({ client, address, chainId }: Account) {
  const history = useMemo(
    () => createLiveHistory(client, { address, chainId, pageSize: 50 }),
    [client, address, chainId]
  )
  // The third one is for rendering on a server.
  const snapshot = useSyncExternalStore(history.subscribe, history.getSnapshot, history.getSnapshot)
  const end = useRef<HTMLLIElement>(null)
  const { hasOlder, isLoadingOlder, records = [] } = snapshot
  // A new observer looks once at the start: pages follow until the end of the list is out of view.
  const canLoad = hasOlder && !isLoadingOlder && snapshot.olderError === undefined
  useEffect(() => {
    if (!canLoad || end.current === null) return
    const observer = new IntersectionObserver(
      entries => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) void history.loadOlder()
      },
      { rootMargin: '400px' }
    )
    observer.observe(end.current)
    return () => observer.disconnect()
  }, [history, canLoad])
  return (
    <section aria-busy={snapshot.state === 'loading' || isLoadingOlder}>
      <Notice snapshot={snapshot} />
      <ol>
        {records.map(record => (
          <Row key={record.hash} record={record} />
        ))}
        <li ref={end}>{hasOlder ? 'Reading older transactions …' : `${records.length} transactions`}</li>
      </ol>
      {snapshot.olderError && (
        <button type="button" onClick={() => void history.loadOlder()}>
          {snapshot.olderError.message} Read again
        </button>
      )}
    </section>
  )
}

function Row({ record }: { readonly record: TransactionRecord }) {
  return (
    <li>
      <code>{record.hash}</code> {isPending(record) ? 'pending' : `block ${record.blockNumber ?? '?'}`}
    </li>
  )
}

/** What the list is not: of now, or complete. */
function Notice({ snapshot }: { readonly snapshot: HistorySnapshot }) {
  switch (snapshot.state) {
    case 'failed':
      return <p role="alert">{snapshot.error.message}</p>
    case 'stale':
      return <p role="alert">As of {new Date(snapshot.readAtMs).toLocaleTimeString()}</p>
    case 'reading':
      return <p>The host is reading older history: {snapshot.progress.percent} %</p>
    default:
      return null
  }
}
