import { isDegraded, type SyncStatus } from '../../model/sync.ts'
import {
  depthBounds,
  type IndexFigures,
  type NodeFigures,
  type UpstreamFigures,
  upstreamBounds,
  writeBounds
} from '../../platform/figures.ts'
import type { MetricsPage, Row } from './metricsPage.ts'

/** Adds where the index of each chain stands. */
export function addSyncMetrics({ gauge }: MetricsPage, read: () => readonly SyncStatus[]): void {
  const add = (name: string, help: string, value: (status: SyncStatus) => number | boolean | undefined) =>
    gauge(`sync_${name}`, help, () => read().map(status => [chainLabel(status), value(status)]))
  add('head_block', 'Newest block the node has named.', ({ head }) => head)
  add('indexed_block', 'Newest indexed block.', ({ indexedTo }) => indexedTo?.number)
  add('lag_blocks', 'Blocks between the head and the index.', ({ head, indexedTo, indexedFrom }) =>
    head === undefined ? undefined : Math.max(0, head - (indexedTo?.number ?? indexedFrom - 1))
  )
  add('backfilled', '1 once the first backfill is complete.', s => s.backfilled)
  add('stalled', '1 while the chain does not move because of its node.', s => s.phase === 'stalled')
  add(
    'degraded',
    '1 while the chain is stalled, or final blocks were replaced and are not all final again.',
    isDegraded
  )
  add('waiting', '1 while another server on the same store indexes the chain.', s => s.waiting === true)
  add(
    'indexing',
    '1 where this server indexes the chain or takes its turn to; 0 where it only answers.',
    s => s.indexing !== false
  )
}

/** Adds what each chain's indexer did. Counts begin again with its thread, which Prometheus takes for a restart. */
export function addIndexMetrics(page: MetricsPage, read: () => readonly NodeFigures[]): void {
  const rows =
    <T>(value: (figures: IndexFigures) => T | undefined) =>
    (): readonly Row<T>[] =>
      read().flatMap(({ index }) => (index === undefined ? [] : [[chainLabel(index), value(index)] as const]))
  const [times, depths] = [{ counted: writeBounds }, { counted: depthBounds }]
  const blocksHelp = 'Blocks stored; those that a reorg removed later stay counted.'
  page.counter(
    'indexed_blocks',
    blocksHelp,
    rows(f => f.blocks)
  )
  page.counter(
    'indexed_transactions',
    'Transactions stored with them.',
    rows(f => f.transactions)
  )
  const commitHelp = 'Time that storing some blocks took, in one transaction.'
  page.histogram(
    'store_commit_duration_seconds',
    commitHelp,
    times,
    rows(f => f.commits)
  )
  const rollbackHelp = 'Time that removing the blocks of a reorg took, in one transaction.'
  page.histogram(
    'store_rollback_duration_seconds',
    rollbackHelp,
    times,
    rows(f => f.rollbacks)
  )
  const depthHelp = 'Reorgs by the number of blocks that they removed.'
  page.histogram(
    'reorg_depth_blocks',
    depthHelp,
    depths,
    rows(f => f.reorgDepths)
  )
  const fetchingHelp = 'Blocks that the indexer is asking the nodes for now.'
  page.gauge(
    'fetching_blocks',
    fetchingHelp,
    rows(f => f.blocksUnderWay)
  )
  const poolHelp = 'Pending transactions at the last look at the pool.'
  page.gauge(
    'pool_transactions',
    poolHelp,
    rows(f => f.poolTransactions)
  )
  const sizeHelp = 'Size of the index on the disk, its write-ahead log included.'
  page.gauge(
    'store_size_bytes',
    sizeHelp,
    rows(f => f.storeBytes)
  )
}

/** Adds how the nodes of each chain fare. */
export function addUpstreamMetrics(page: MetricsPage, read: () => readonly NodeFigures[]): void {
  const upstreams = () => read().flatMap(figures => figures.upstreams)
  const rows =
    <T>(value: (figures: UpstreamFigures) => T | undefined) =>
    (): readonly Row<T>[] =>
      upstreams().map(figures => [upstreamLabels(figures), value(figures)])
  const counter = (name: string, help: string, value: (figures: UpstreamFigures) => number) =>
    page.counter(`upstream_${name}`, help, rows(value))
  const gauge = (name: string, help: string, value: (f: UpstreamFigures) => number | boolean | undefined) =>
    page.gauge(`upstream_${name}`, help, rows(value))

  page.counter('upstream_calls', 'Calls and batches given to an upstream, by outcome.', () =>
    upstreams().flatMap(figures =>
      Object.entries(figures.calls).map(
        ([outcome, calls]) => [{ ...upstreamLabels(figures), outcome }, calls] as const
      )
    )
  )
  const timeHelp = 'Time until an upstream had done a call or batch.'
  page.histogram(
    'upstream_call_duration_seconds',
    timeHelp,
    { counted: upstreamBounds },
    rows(f => f.durations)
  )
  counter('retries', 'Calls given to an upstream after an earlier attempt had failed.', f => f.retries)
  counter('hedges_sent', 'Calls given to an upstream because another one took long.', f => f.hedgesSent)
  counter('hedges_won', 'Those of them that it answered first.', f => f.hedgesWon)
  gauge('concurrency_limit', 'Most requests under way at the same time.', f => f.concurrencyLimit)
  gauge('batch_limit', 'Most calls in one request.', f => f.batchLimit)
  gauge('head_block', 'Newest block that the upstream has named.', f => f.head)
  gauge('lag_blocks', 'How far that was behind the newest of all upstreams.', f => f.lagBlocks)
  gauge('score', 'How well it serves, from 0 to 1.', f => f.score)
  const outHelp = '1 while it is left alone: failing, resting, or of another chain.'
  gauge('out_of_service', outHelp, f => f.outOfService)
  gauge('preferred', '1 for the upstream that calls go to.', f => f.preferred)
  page.gauge('websocket_connected', '1 while this WebSocket announces new blocks.', () =>
    read()
      .flatMap(figures => figures.webSockets)
      .map(socket => [{ ...chainLabel(socket), websocket: socket.position }, socket.connected])
  )
}

function chainLabel({ chainId }: { readonly chainId: number }) {
  return { chain_id: chainId }
}

function upstreamLabels({ chainId, role, position }: UpstreamFigures) {
  return { ...chainLabel({ chainId }), role, upstream: position }
}
