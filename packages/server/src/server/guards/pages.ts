import type { Troubled } from '../../model/sync.ts'
import type { LimitFigures } from '../../platform/figures.ts'
import type { Counts } from '../metrics/counts.ts'
import type { MetricsPage } from '../metrics/metricsPage.ts'
import type { HttpAnswer } from './exchange.ts'

/** Pages that are read with GET and without credentials, by path. */
export type Pages = ReadonlyMap<string, () => Promise<HttpAnswer>>

/** Words what a chain says of its problems. */
export type WordProblems = <State extends Troubled & { readonly chainId: number }>(state: State) => State

/** Opens the pages for operators of a feature; called once for a server. */
export type OpenPages = (service: ServiceFigures) => {
  /** Makes the pages for one listener. @param word - for those of operators it names the hosts of nodes. */
  pages(word: WordProblems): Pages
  /** Ends what is recorded for them. */
  stop(): void
}

/** How the HTTP layer of a server fares, read whenever it is asked. */
export interface ServiceFigures {
  readonly counts: Counts
  /** RPC requests whose answer is not complete. */
  readonly inFlight: () => number
  readonly openEventStreams: () => number
  readonly limitFigures: () => LimitFigures
  readonly isClosing: () => boolean
  /** null: a stalled chain leaves the server ready. */
  readonly notReadyAfterStalledSeconds: number | null
  /** Of the server's features: each adds its figures to a page for Prometheus. */
  readonly addMetrics: readonly ((page: MetricsPage) => void)[]
}
