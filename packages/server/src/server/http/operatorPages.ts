import { transport } from '@chain-data/protocol'
import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import type { SolanaStatus } from '../../model/sync.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { HttpAnswer } from './exchange.ts'
import { createStatusPages } from './statusPage/createStatusPages.ts'
import { createStatusRecorder, type StatusSources } from './statusPage/createStatusRecorder.ts'
import { type EvmChainHealth, toChainHealth } from './statusPage/StatusReport.ts'

/** The JSON that `/health/ready` answers. */
export interface HealthReport {
  readonly ready: boolean
  readonly closing?: true
  readonly chains: readonly EvmChainHealth[]
  /** State of the nodes of each cluster; absent where no cluster is served. Plays no part in `ready`. */
  readonly solana?: readonly SolanaStatus[]
}

/** The pages for operators, which are read with GET and without credentials. */
export interface OperatorPages {
  /** By path. */
  readonly pages: ReadonlyMap<string, () => Promise<HttpAnswer>>
  /** Takes no further samples for the status page. */
  stop(): void
}

/** Intervals of the status page, in milliseconds. */
export interface StatusTimes {
  /** Between two points of its charts; absent: 10 seconds. */
  readonly sampleMs?: number
  /** Time for which one report answers every request; absent: a second. */
  readonly freshMs?: number
  /** Between two polls of an open page; absent: 5 seconds. */
  readonly pollMs?: number
}

const headers = { 'content-type': transport.responseContentType }

/**
 * Builds the health pages, and the others where they are served. `/health/ready` is 503 until every first backfill is
 * complete, and from the moment the server begins to close.
 *
 * @param options.served - a page that is not served is not found, and nothing is recorded for it.
 */
export function createOperatorPages(options: {
  readonly served: { readonly status: boolean; readonly metrics: boolean }
  readonly metrics: Metrics
  readonly sources: Omit<StatusSources, 'version' | 'counts'>
  readonly times?: StatusTimes | undefined
}): OperatorPages {
  const { served, metrics, sources, times = {} } = options
  const pages = new Map<string, () => Promise<HttpAnswer>>([
    ['/health/live', async () => ({ status: 200, headers, body: '{"live":true}' })],
    ['/health/ready', async () => readyAnswer(sources)]
  ])
  if (served.metrics) {
    pages.set('/metrics', async () => {
      const { contentType, text } = await metrics.render()
      return { status: 200, headers: { 'content-type': contentType }, body: text }
    })
  }
  if (!served.status) return { pages, stop() {} }
  const { version } = packageFile
  const recorder = createStatusRecorder({ ...sources, version, counts: metrics }, times.sampleMs)
  recorder.start()
  for (const [path, page] of createStatusPages({ report: recorder.report, ...times })) pages.set(path, page)
  return { pages, stop: recorder.stop }
}

function readyAnswer({
  syncStatuses,
  solanaStatuses,
  isClosing
}: Pick<StatusSources, 'syncStatuses' | 'solanaStatuses' | 'isClosing'>): HttpAnswer {
  const chains = syncStatuses().map(status => toChainHealth(status, Date.now()))
  const solana = solanaStatuses()
  const report: HealthReport = {
    ready: !isClosing() && chains.every(chain => chain.ready),
    ...(isClosing() ? { closing: true } : {}),
    chains,
    ...(solana.length === 0 ? {} : { solana })
  }
  return { status: report.ready ? 200 : 503, headers, body: JSON.stringify(report) }
}
