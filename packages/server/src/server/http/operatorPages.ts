import { transport } from '@chain-data/protocol'
import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import type { SolanaState } from '../../model/sync.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { HttpAnswer } from './exchange.ts'
import { type EvmChainHealth, findNotReady, type NotReady, type ReadyRule, toChainHealth } from './health.ts'
import { createStatusPages } from './statusPage/createStatusPages.ts'
import { createStatusRecorder, type StatusSources } from './statusPage/createStatusRecorder.ts'

/** The JSON that `/health/ready` answers. */
export interface HealthReport {
  /** The server should be sent calls. */
  readonly ready: boolean
  readonly closing?: true
  /** The chains because of which it is not ready; absent where there is none. */
  readonly notReady?: readonly NotReady[]
  readonly chains: readonly EvmChainHealth[]
  /** State of the nodes of each cluster; absent where no cluster is served. */
  readonly solana?: readonly SolanaState[]
}

/** The pages for operators, which are read with GET and without credentials. */
export interface OperatorPages {
  /** All of them, by path. */
  readonly pages: ReadonlyMap<string, () => Promise<HttpAnswer>>
  /** The health pages alone, which balancers and orchestrators read. */
  readonly health: ReadonlyMap<string, () => Promise<HttpAnswer>>
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
 * Builds the health pages, and the others where they are served. `/health/ready` is 503 because of a chain
 * (`findNotReady`), and from the moment the server begins to close.
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
  const health = new Map<string, () => Promise<HttpAnswer>>([
    ['/health/live', async () => ({ status: 200, headers, body: '{"live":true}' })],
    ['/health/ready', async () => readyAnswer(sources)]
  ])
  const pages = new Map(health)
  if (served.metrics) {
    pages.set('/metrics', async () => {
      const { contentType, text } = metrics.render()
      return { status: 200, headers: { 'content-type': contentType }, body: text }
    })
  }
  if (!served.status) return { pages, health, stop() {} }
  const { version } = packageFile
  const recorder = createStatusRecorder({ ...sources, version, counts: metrics }, times.sampleMs)
  recorder.start()
  for (const [path, page] of createStatusPages({ report: recorder.report, ...times })) pages.set(path, page)
  return { pages, health, stop: recorder.stop }
}

function readyAnswer({
  chainStates,
  solanaStates,
  isClosing,
  ...rule
}: ReadyRule & Pick<StatusSources, 'chainStates' | 'solanaStates' | 'isClosing'>): HttpAnswer {
  const states = chainStates()
  const chains = states.map(state => toChainHealth(state, Date.now()))
  const solana = solanaStates()
  const notReady = findNotReady(states, solana, rule)
  const report: HealthReport = {
    ready: !isClosing() && notReady.length === 0,
    ...(isClosing() ? { closing: true } : {}),
    ...(notReady.length === 0 ? {} : { notReady }),
    chains,
    ...(solana.length === 0 ? {} : { solana })
  }
  return { status: report.ready ? 200 : 503, headers, body: JSON.stringify(report) }
}
