import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { collectDefaultMetrics } from 'prom-client'
import type { SyncStatus } from '../../model/sync.ts'
import type { LimitFigures, MetadataFigures, NodeFigures } from '../../platform/figures.ts'
import { addIndexMetrics, addSyncMetrics, addUpstreamMetrics } from './chainMetrics.ts'
import { type Counts, callBounds, createCounts, shownCallBounds } from './counts.ts'
import { createMetricsPage, type MetricsPage, rowsBy } from './metricsPage.ts'

/** What the server counts, and its page for Prometheus. */
export interface Metrics extends Counts {
  /** The page for Prometheus, text format 0.0.4. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>
}

/** Figures that are counted elsewhere; read at every scrape. */
export interface MetricSources {
  /** One per indexed chain. */
  readonly syncStatuses: () => readonly SyncStatus[]
  /** Requests being answered right now. */
  readonly inFlight: () => number
  /** How the upstreams of each chain fare. */
  readonly nodeFigures?: () => readonly NodeFigures[]
  readonly metadataFigures?: () => MetadataFigures
  readonly limitFigures?: () => LimitFigures
  /** The page includes the process: memory, CPU, event loop, garbage collection. Default: false. */
  readonly ownsProcess?: boolean | undefined
}

/** Counts, and renders the counts together with `sources`. `docs/metrics.md` describes every metric. */
export function createMetrics(sources: MetricSources): Metrics {
  const { syncStatuses, inFlight, nodeFigures, metadataFigures, limitFigures, ownsProcess } = sources
  const page = createMetricsPage()
  const counts = createCounts()
  addCallerMetrics(page, counts, inFlight)
  addSyncMetrics(page, syncStatuses)
  if (nodeFigures !== undefined) {
    addUpstreamMetrics(page, nodeFigures)
    addIndexMetrics(page, nodeFigures)
  }
  if (metadataFigures !== undefined) addMetadataMetrics(page, metadataFigures)
  if (limitFigures !== undefined) addLimitMetrics(page, limitFigures)
  if (ownsProcess) collectDefaultMetrics({ register: page.registry })
  return {
    ...counts,
    async render() {
      return { contentType: page.registry.contentType, text: await page.registry.metrics() }
    }
  }
}

function addCallerMetrics(
  { counter, gauge, histogram }: MetricsPage,
  counts: Counts,
  inFlight: () => number
): void {
  counter('calls', 'JSON-RPC calls by method and outcome (ok, or the error reason).', () =>
    [...counts.calls].flatMap(([method, { outcomes }]) =>
      [...outcomes].map(([outcome, count]) => [{ method, outcome }, count] as const)
    )
  )
  histogram(
    'call_duration_seconds',
    'Time until a call was answered, or until its stream began.',
    { counted: callBounds, shown: shownCallBounds },
    () => [...counts.calls].map(([method, { durations }]) => [{ method }, durations.read()])
  )
  const refusalsHelp = 'Requests refused before they became a call, by reason.'
  counter('http_refusals', refusalsHelp, () => rowsBy('reason', counts.refusals))
  const answersHelp = 'HTTP answers by status; without those to bytes that are no HTTP request.'
  counter('http_answers', answersHelp, () => rowsBy('status', counts.answers))
  counter('http_sent_bytes', 'Bytes of the bodies of answers.', () => [[{}, counts.sentBytes()]])
  gauge('streams_open', 'Answers being written piece by piece now.', () => [[{}, counts.openStreams()]])
  gauge('requests_in_flight', 'Requests being answered now.', () => [[{}, inFlight()]])
  const build = { version: packageFile.version, node: process.versions.node }
  gauge('build_info', 'Always 1; which version this is and which Node runs it.', () => [[build, 1]])
}

function addLimitMetrics({ counter, gauge }: MetricsPage, read: () => LimitFigures): void {
  const shedHelp =
    'Requests refused with OVERLOADED, by cause: in_flight, delay (of the event loop), closing.'
  counter('shed_requests', shedHelp, () => rowsBy('cause', Object.entries(read().shed)))
  const loginsHelp = 'Requests refused because their address sent too many wrong credentials.'
  counter('throttled_logins', loginsHelp, () => [[{}, read().throttledLogins]])
  const queueHelp = 'How long a request that came now would wait for its turn.'
  gauge('request_queue_seconds', queueHelp, () => [[{}, read().queueMs / 1_000]])
  const delayHelp = 'How late the process comes to a request, now or in the last round of its event loop.'
  gauge('event_loop_delay_seconds', delayHelp, () => [[{}, read().loopDelayMs / 1_000]])
}

function addMetadataMetrics({ counter, gauge }: MetricsPage, read: () => MetadataFigures): void {
  counter(
    'metadata_lookups',
    'Addresses asked for, by what was known of them: fresh, stale, negative (failed lately), missing.',
    () => rowsBy('found', Object.entries(read().lookups))
  )
  counter(
    'metadata_fetches',
    'Requests to single hosts by outcome: ok, overtaken by another gateway, or why they failed.',
    () => rowsBy('outcome', Object.entries(read().fetches))
  )
  const bytesHelp = 'Bytes of documents fetched, unpacked.'
  counter('metadata_fetched_bytes', bytesHelp, () => [[{}, read().fetchedBytes]])
  gauge('metadata_fetches_running', 'Requests under way.', () => [[{}, read().running]])
  gauge('metadata_fetches_waiting', 'Requests waiting for their turn.', () => [[{}, read().waiting]])
  const cacheHelp = '1 while what is fetched outlives the process.'
  gauge('metadata_cache_persistent', cacheHelp, () => [[{}, read().isPersistent]])
}
