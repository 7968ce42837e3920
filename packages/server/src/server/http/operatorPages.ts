import { transport } from '@chain-data/protocol'
import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import { mapProblems, type SolanaState, type Troubled } from '../../model/sync.ts'
import type { ServerFigures } from '../../platform/figures.ts'
import { nameNodes } from '../../platform/nameNodes.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { HttpAnswer } from './exchange.ts'
import { createStatusPages } from './statusPage/createStatusPages.ts'
import { createStatusRecorder, type StatusSources } from './statusPage/createStatusRecorder.ts'
import { type EvmChainHealth, findNotReady, type NotReady, toChainHealth } from './statusPage/health.ts'

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

type Page = readonly [path: string, answer: () => Promise<HttpAnswer>]
type Pages = ReadonlyMap<string, () => Promise<HttpAnswer>>
type PageSources = Omit<StatusSources, 'version' | 'counts'> & Pick<ServerFigures, 'nodeHosts'>
/** Words what a chain says of its problems. */
type Word = <State extends Troubled & { readonly chainId: number }>(state: State) => State

/** The pages for operators, which are read with GET and without credentials. */
export interface OperatorPages {
  /** All of them, by path, for a listener that callers reach. */
  readonly pages: Pages
  /** The health pages alone, which balancers and orchestrators read. */
  readonly health: Pages
  /** All of them for the listener of operators: problems name the hosts of nodes. */
  readonly apart: Pages
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
  readonly sources: PageSources
  readonly times?: StatusTimes | undefined
}): OperatorPages {
  const { served, metrics, sources, times = {} } = options
  const { version } = packageFile
  const recorder = served.status
    ? createStatusRecorder({ ...sources, version, counts: metrics }, times.sampleMs)
    : undefined
  recorder?.start()

  function createPages(word: Word) {
    const health: Page[] = [
      ['/health/live', async () => ({ status: 200, headers, body: '{"live":true}' })],
      ['/health/ready', async () => readyAnswer(sources, word)]
    ]
    const pages = new Map(health)
    if (served.metrics) pages.set('/metrics', async () => metricsAnswer(metrics))
    if (recorder === undefined) return { health: new Map(health), pages }
    const report = () => {
      const { evm, solana, ...others } = recorder.report()
      return { ...others, evm: evm.map(word), solana: solana.map(word) }
    }
    for (const [path, page] of createStatusPages({ report, ...times })) pages.set(path, page)
    return { health: new Map(health), pages }
  }

  const apart = createPages(state =>
    mapProblems(state, problem => nameNodes(problem, sources.nodeHosts(state.chainId)))
  )
  return {
    ...createPages(state => state),
    apart: apart.pages,
    stop: () => recorder?.stop()
  }
}

function metricsAnswer(metrics: Metrics): HttpAnswer {
  const { contentType, text } = metrics.render()
  return { status: 200, headers: { 'content-type': contentType }, body: text }
}

function readyAnswer({ chainStates, solanaStates, isClosing, ...rule }: PageSources, word: Word): HttpAnswer {
  const states = chainStates().map(word)
  const chains = states.map(state => toChainHealth(state, Date.now()))
  const solana = solanaStates().map(word)
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
