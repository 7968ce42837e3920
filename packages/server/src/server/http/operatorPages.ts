import { transport } from '@chain-data/protocol'
import { mapProblems, type SolanaState } from '../../model/sync.ts'
import type { ServerFigures } from '../../platform/figures.ts'
import { nameNodes } from '../../platform/nameNodes.ts'
import type { HttpAnswer } from '../guards/exchange.ts'
import type { OpenPages, Pages, ServiceFigures, WordProblems } from '../guards/pages.ts'
import { type EvmChainHealth, findNotReady, type NotReady, toChainHealth } from './health.ts'

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

type HealthSources = Pick<ServerFigures, 'chainStates' | 'solanaStates' | 'nodeHosts'> &
  Pick<ServiceFigures, 'isClosing' | 'notReadyAfterStalledSeconds'>

/** The pages for operators, which are read with GET and without credentials. */
export interface OperatorPages {
  /** All of them, by path, for a listener that callers reach. */
  readonly pages: Pages
  /** The health pages alone, which balancers and orchestrators read. */
  readonly health: Pages
  /** All of them for the listener of operators: problems name the hosts of nodes. */
  readonly apart: Pages
  /** Ends what is recorded for them. */
  stop(): void
}

/**
 * Builds the health pages, and those of features. `/health/ready` is 503 because of a chain (`findNotReady`), and from the
 * moment the server begins to close.
 */
export function createOperatorPages(options: {
  readonly sources: HealthSources
  readonly service: ServiceFigures
  readonly openPages: readonly OpenPages[]
}): OperatorPages {
  const { sources, service } = options
  const opened = options.openPages.map(open => open(service))
  const health = (word: WordProblems): Pages =>
    new Map<string, () => Promise<HttpAnswer>>([
      ['/health/live', async () => ({ status: 200, headers, body: '{"live":true}' })],
      ['/health/ready', async () => readyAnswer(sources, word)]
    ])
  const all = (word: WordProblems): Pages =>
    new Map([...health(word), ...opened.flatMap(each => [...each.pages(word)])])
  const asTheyAre: WordProblems = state => state
  return {
    pages: all(asTheyAre),
    health: health(asTheyAre),
    apart: all(state => mapProblems(state, problem => nameNodes(problem, sources.nodeHosts(state.chainId)))),
    stop() {
      for (const { stop } of opened) stop()
    }
  }
}

const headers = { 'content-type': transport.responseContentType }

function readyAnswer(
  { chainStates, solanaStates, isClosing, ...rule }: HealthSources,
  word: WordProblems
): HttpAnswer {
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
