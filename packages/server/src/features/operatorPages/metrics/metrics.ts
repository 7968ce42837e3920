import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import type { ChainState, SolanaState } from '../../../model/sync.ts'
import {
  depthBounds,
  type LimitFigures,
  type NodeFigures,
  type ServerFigures,
  upstreamBounds,
  writeBounds
} from '../../../platform/figures.ts'
import type { ServiceFigures } from '../../../server/guards/pages.ts'
import { type Counts, callBounds, shownCallBounds } from '../../../server/metrics/counts.ts'
import {
  chainLabel,
  createMetricsPage,
  type MetricsPage,
  metricsOf,
  rowsBy
} from '../../../server/metrics/metricsPage.ts'
import { addProcessMetrics } from './processMetrics.ts'

/** The figures on the page, read at every scrape. */
interface MetricSources extends ServerFigures, ServiceFigures {
  /** The page includes the process: memory, CPU, event loop, garbage collection. */
  readonly ownsProcess: boolean
}

/**
 * Makes the page for Prometheus, text format 0.0.4: the figures of the core and of every feature. `docs/metrics.md` describes
 * each.
 */
export function createMetrics(sources: MetricSources): { render(): string } {
  const page = createMetricsPage('chain_data_')
  const { counts } = sources
  addCallerMetrics(page, counts, sources.inFlight)
  addEventMetrics(page, counts, sources.openEventStreams)
  addSyncMetrics(page, sources.chainStates)
  addIntegrityMetrics(page, sources.chainStates)
  addStateMetrics(page, () => [...sources.chainStates(), ...sources.solanaStates()])
  addClusterMetrics(page, sources.solanaStates)
  addUpstreamMetrics(page, sources.nodeFigures)
  addIndexMetrics(page, sources.nodeFigures)
  const corruptHelp = 'Rows of caches that were not what was written: they are fetched again.'
  page.counter('cache_corruptions', corruptHelp, () => rowsBy('cache', sources.cacheDamages()))
  addLimitMetrics(page, sources.limitFigures)
  for (const add of sources.addMetrics) add(page)
  const pages = [page]
  if (sources.ownsProcess) {
    const processPage = createMetricsPage('')
    addProcessMetrics(processPage)
    pages.push(processPage)
  }
  return { render: () => pages.map(each => each.render()).join('\n') }
}

function addCallerMetrics(page: MetricsPage, counts: Counts, inFlight: () => number): void {
  const { counter, gauge } = metricsOf(page, () => [counts])
  page.counter('calls', 'JSON-RPC calls by method and outcome (ok, or the error reason).', () =>
    [...counts.calls].flatMap(([method, { outcomes }]) =>
      [...outcomes].map(([outcome, count]) => [{ method, outcome }, count] as const)
    )
  )
  page.histogram(
    'call_duration_seconds',
    'Time until a call was answered, or until its stream began.',
    { counted: callBounds, shown: shownCallBounds },
    () => [...counts.calls].map(([method, { durations }]) => [{ method }, durations.read()])
  )
  const refusalsHelp = 'Requests refused before they became a call, by reason.'
  page.counter('http_refusals', refusalsHelp, () => rowsBy('reason', counts.refusals))
  page.counter('index_corruptions', 'Calls that met a damaged part of an index, by part.', () =>
    [...counts.damages].flatMap(([chainId, parts]) => rowsBy('part', parts, { chain_id: chainId }))
  )
  const answersHelp = 'HTTP answers by status; without those to bytes that are no HTTP request.'
  page.counter('http_answers', answersHelp, () => rowsBy('status', counts.answers))
  counter('http_sent_bytes', 'Bytes of the bodies of answers.', c => c.sentBytes())
  gauge('streams_open', 'Answers being written piece by piece now.', c => c.openStreams())
  gauge('requests_in_flight', 'Requests being answered now.', inFlight)
  const build = { version: packageFile.version, node: process.versions.node }
  page.gauge('build_info', 'Always 1; which version this is and which Node runs it.', () => [[build, 1]])
}

/** Adds how many streams of events there are, and how they end. */
function addEventMetrics(page: MetricsPage, counts: Counts, openEventStreams: () => number): void {
  const one = metricsOf(page, () => [counts], { prefix: 'event_streams_' })
  one.gauge('open', 'Streams of events open now.', openEventStreams)
  const endsHelp =
    'Streams of events that ended, by reason: caller (it left), slow (it took nothing), revoked, closing, failed.'
  page.counter('event_streams_ended', endsHelp, () => rowsBy('reason', counts.streamEnds))
}

/** Adds how each chain stands, those of Solana too, which have no index. */
function addStateMetrics(page: MetricsPage, read: () => readonly (ChainState | SolanaState)[]): void {
  const { gauge } = metricsOf(page, read, { prefix: 'sync_', labels: chainLabel })
  gauge('ready', '1 while histories are answered; on Solana, while the node answers.', s => s.ready)
  gauge('head_block', 'Newest block or slot the node has named.', s => s.head)
  const ageHelp = 'Time since the timestamp of that block; on Solana, since the slot was first seen.'
  gauge('head_age_seconds', ageHelp, s => s.headAgeSeconds)
  gauge('stalled', '1 while the chain does not move because of its node.', s => s.phase === 'stalled')
  const stallHelp = 'How long the chain has been stalled, or its pool unseen; 0 while it is not.'
  gauge('stalled_seconds', stallHelp, s => s.stalledSeconds ?? 0)
  const degradedHelp =
    '1 while the chain is stalled, its head is below the index, or replaced final blocks are not all final again.'
  gauge('degraded', degradedHelp, s => s.degraded)
}

/** Adds when the node of each Solana cluster answered, which is asked every 10 seconds. */
function addClusterMetrics(page: MetricsPage, read: () => readonly SolanaState[]): void {
  const { gauge } = metricsOf(page, read, { prefix: 'sync_', labels: chainLabel })
  const help = 'Time since the node of a Solana cluster last answered the check of every 10 seconds.'
  gauge('answered_age_seconds', help, s => s.answeredSecondsAgo)
}

/** Adds where the index of each EVM chain stands. */
function addSyncMetrics(page: MetricsPage, read: () => readonly ChainState[]): void {
  const { gauge } = metricsOf(page, read, { prefix: 'sync_', labels: chainLabel })
  const belowHelp = 'Blocks by which the head is below the index, because the node went back; else 0.'
  gauge('head_below_index_blocks', belowHelp, s => s.headBelowIndexBlocks ?? 0)
  gauge('indexed_block', 'Newest indexed block.', s => s.indexedTo?.number)
  gauge('lag_blocks', 'Blocks between the head and the index.', ({ head, indexedTo, indexedFrom }) =>
    head === undefined ? undefined : Math.max(0, head - (indexedTo?.number ?? indexedFrom - 1))
  )
  gauge('backfilled', '1 once the blocks that histories wait for are indexed.', s => s.backfilled)
  gauge('waiting', '1 while another server on the same store indexes the chain.', s => s.waiting === true)
  const indexingHelp = '1 where this server indexes the chain or takes its turn to; 0 where it only answers.'
  gauge('indexing', indexingHelp, s => s.indexing !== false)
}

/** Adds how sound the index of each chain is, where this server writes it. Counts begin again with the thread of its indexer. */
function addIntegrityMetrics(page: MetricsPage, read: () => readonly ChainState[]): void {
  const found = () =>
    read().flatMap(({ chainId, integrity }) => (integrity === undefined ? [] : { chainId, ...integrity }))
  const { counter, gauge } = metricsOf(page, found, { prefix: 'index_', labels: chainLabel })
  counter('checked_blocks', 'Blocks whose stored rows were checked in the background.', f => f.checkedBlocks)
  gauge(
    'check_progress',
    'Share of the index that the current pass has checked, from 0 to 1.',
    f => f.passDone
  )
  gauge('damaged_parts', 'Damaged parts of the index that are not healed yet.', f => f.damaged)
  counter('healed_parts', 'Damaged parts of the index that were healed.', f => f.healed)
}

/** Adds what each chain's indexer did. Counts begin again with its thread, which Prometheus takes for a restart. */
function addIndexMetrics(page: MetricsPage, read: () => readonly NodeFigures[]): void {
  const figures = () => read().flatMap(({ index = [] }) => index)
  const { counter, gauge, histogram } = metricsOf(page, figures, { labels: chainLabel })
  counter('indexed_blocks', 'Blocks stored; those that a reorg removed later stay counted.', f => f.blocks)
  counter('indexed_transactions', 'Transactions stored with them.', f => f.transactions)
  const commitHelp = 'Time that storing some blocks took, in one transaction.'
  histogram('store_commit_duration_seconds', commitHelp, writeBounds, f => f.commits)
  const rollbackHelp = 'Time that removing the blocks of a reorg took, in one transaction.'
  histogram('store_rollback_duration_seconds', rollbackHelp, writeBounds, f => f.rollbacks)
  const depthHelp = 'Reorgs by the number of blocks that they removed.'
  histogram('reorg_depth_blocks', depthHelp, depthBounds, f => f.reorgDepths)
  gauge('fetching_blocks', 'Blocks that the indexer is asking the nodes for now.', f => f.blocksUnderWay)
  gauge('pool_transactions', 'Pending transactions at the last look at the pool.', f => f.poolTransactions)
  const sizeHelp = 'Size of the index on the disk, its write-ahead log included.'
  gauge('store_size_bytes', sizeHelp, f => f.storeBytes)
  gauge('store_free_bytes', 'Free space on that disk.', f => f.freeBytes)
}

/** Adds how the nodes of each chain fare. */
function addUpstreamMetrics(page: MetricsPage, read: () => readonly NodeFigures[]): void {
  const upstreams = () => read().flatMap(figures => figures.upstreams)
  const { counter, gauge, histogram } = metricsOf(page, upstreams, {
    prefix: 'upstream_',
    labels: ({ chainId, role, position }) => ({ chain_id: chainId, role, upstream: position })
  })
  page.counter('upstream_calls', 'Calls and batches given to an upstream, by outcome.', () =>
    upstreams().flatMap(({ chainId, role, position, calls }) =>
      rowsBy('outcome', Object.entries(calls), { chain_id: chainId, role, upstream: position })
    )
  )
  const timeHelp = 'Time until an upstream had done a call or batch.'
  histogram('call_duration_seconds', timeHelp, upstreamBounds, f => f.durations)
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
  const sockets = metricsOf(page, () => read().flatMap(figures => figures.webSockets), {
    labels: ({ chainId, position }) => ({ chain_id: chainId, websocket: position })
  })
  sockets.gauge('websocket_connected', '1 while this WebSocket announces new blocks.', s => s.connected)
}

function addLimitMetrics(page: MetricsPage, read: () => LimitFigures): void {
  const { counter, gauge } = metricsOf(page, () => [read()])
  const shedHelp =
    'Requests refused with OVERLOADED, by cause: in_flight, delay (of the event loop), closing.'
  page.counter('shed_requests', shedHelp, () => rowsBy('cause', Object.entries(read().shed)))
  const loginsHelp = 'Requests refused because their address sent too many wrong credentials.'
  counter('throttled_logins', loginsHelp, f => f.throttledLogins)
  const queueHelp = 'How long a request that came now would wait for its turn.'
  gauge('request_queue_seconds', queueHelp, f => f.queueMs / 1_000)
  const delayHelp = 'How late the process comes to a request, now or in the last round of its event loop.'
  gauge('event_loop_delay_seconds', delayHelp, f => f.loopDelayMs / 1_000)
}
