import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { isDegraded, type SyncStatus } from '../../model/sync.ts'
import type { NodeFigures } from '../../nodes/upstreams/upstreamFigures.ts'
import type { MetadataFigures } from '../../platform/metadataFigures.ts'
import { registerIndexMetrics } from './indexMetrics.ts'
import { type LimitFigures, registerLimitMetrics } from './limitMetrics.ts'
import { registerMetadataMetrics } from './metadataMetrics.ts'
import { registerUpstreamMetrics } from './upstreamMetrics.ts'

/** What the server counts. One registry per server, so that two servers in one process do not mix. */
export interface Metrics {
  /** One JSON-RPC call, each entry of a batch by itself. `outcome` is `ok` or the error's reason. */
  countCall(call: { readonly method: string; readonly outcome: string; readonly durationMs: number }): void
  /** A request refused before it became a call. */
  countRefusal(reason: string): void
  /** An HTTP answer has begun. */
  countAnswer(status: number): void
  /** So much of the bodies of answers was handed on to be sent. */
  countSent(bytes: number): void
  /** An answer that is written piece by piece has begun. */
  beginStream(): void
  /** It has ended, in whatever way. */
  endStream(): void
  /** The page for Prometheus, text format 0.0.4. */
  render(): Promise<{ readonly contentType: string; readonly text: string }>
}

/** What the page is made from; read at every scrape. */
export interface MetricSources {
  /** One per indexed chain. */
  readonly syncStatuses: () => readonly SyncStatus[]
  /** Requests being answered right now. */
  readonly inFlight: () => number
  /** How the upstreams of each chain fare. */
  readonly nodeFigures?: () => readonly NodeFigures[]
  readonly metadataFigures?: () => MetadataFigures
  readonly limitFigures?: () => LimitFigures
  /** The page tells of the process too: memory, CPU, event loop, garbage collection. Default: false. */
  readonly ownsProcess?: boolean | undefined
}

/** Counts, and renders what is counted together with `sources`. */
export function createMetrics(sources: MetricSources): Metrics {
  const registry = new Registry()
  const registers = [registry]
  const calls = new Counter({
    name: 'chain_data_calls_total',
    help: 'JSON-RPC calls by method and outcome (ok, or the error reason).',
    labelNames: ['method', 'outcome'],
    registers
  })
  const durations = new Histogram({
    name: 'chain_data_call_duration_seconds',
    help: 'Time until a call was answered, or until its stream began.',
    labelNames: ['method'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25],
    registers
  })
  const refusals = new Counter({
    name: 'chain_data_http_refusals_total',
    help: 'Requests refused before they became a call, by reason.',
    labelNames: ['reason'],
    registers
  })
  const answers = new Counter({
    name: 'chain_data_http_answers_total',
    help: 'HTTP answers by status; without those to bytes that are no HTTP request.',
    labelNames: ['status'],
    registers
  })
  const sent = new Counter({
    name: 'chain_data_http_sent_bytes_total',
    help: 'Bytes of the bodies of answers.',
    registers
  })
  const streams = new Gauge({
    name: 'chain_data_streams_open',
    help: 'Answers being written piece by piece now.',
    registers
  })
  new Gauge({
    name: 'chain_data_build_info',
    help: 'Always 1; which version this is and which Node runs it.',
    labelNames: ['version', 'node'],
    registers
  }).set({ version: packageFile.version, node: process.versions.node }, 1)
  new Gauge({
    name: 'chain_data_requests_in_flight',
    help: 'Requests being answered now.',
    registers,
    collect() {
      this.set(sources.inFlight())
    }
  })
  const syncGauge = (name: string, help: string, read: (status: SyncStatus) => number | undefined) =>
    new Gauge({
      name,
      help,
      labelNames: ['chain_id'],
      registers,
      collect() {
        this.reset()
        for (const status of sources.syncStatuses()) {
          const value = read(status)
          if (value !== undefined) this.set({ chain_id: String(status.chainId) }, value)
        }
      }
    })
  syncGauge('chain_data_sync_head_block', 'Newest block the node has named.', status => status.head)
  syncGauge('chain_data_sync_indexed_block', 'Newest indexed block.', status => status.indexedTo?.number)
  syncGauge('chain_data_sync_lag_blocks', 'Blocks between the head and the index.', status =>
    status.head === undefined
      ? undefined
      : Math.max(0, status.head - (status.indexedTo?.number ?? status.indexedFrom - 1))
  )
  syncGauge('chain_data_sync_backfilled', '1 once the first backfill is complete.', status =>
    status.backfilled ? 1 : 0
  )
  syncGauge('chain_data_sync_stalled', '1 while the chain does not move because of its node.', status =>
    status.phase === 'stalled' ? 1 : 0
  )
  syncGauge(
    'chain_data_sync_degraded',
    '1 while the chain is stalled, or final blocks were replaced and are not all final again.',
    status => (isDegraded(status) ? 1 : 0)
  )
  syncGauge(
    'chain_data_sync_waiting',
    '1 while another server on the same store indexes the chain.',
    status => (status.waiting ? 1 : 0)
  )
  syncGauge(
    'chain_data_sync_indexing',
    '1 where this server indexes the chain or takes its turn to; 0 where it only answers.',
    status => (status.indexing === false ? 0 : 1)
  )
  const { nodeFigures } = sources
  if (nodeFigures !== undefined) {
    registerUpstreamMetrics(registry, nodeFigures)
    registerIndexMetrics(registry, () => nodeFigures().flatMap(({ index }) => index ?? []))
  }
  if (sources.metadataFigures !== undefined) registerMetadataMetrics(registry, sources.metadataFigures)
  if (sources.limitFigures !== undefined) registerLimitMetrics(registry, sources.limitFigures)

  if (sources.ownsProcess) collectDefaultMetrics({ register: registry })

  return {
    countAnswer(status) {
      answers.inc({ status })
    },
    countSent(bytes) {
      sent.inc(bytes)
    },
    beginStream() {
      streams.inc()
    },
    endStream() {
      streams.dec()
    },
    countCall({ method, outcome, durationMs }) {
      calls.inc({ method, outcome })
      durations.observe({ method }, durationMs / 1000)
    },
    countRefusal(reason) {
      refusals.inc({ reason })
    },
    async render() {
      return { contentType: registry.contentType, text: await registry.metrics() }
    }
  }
}
