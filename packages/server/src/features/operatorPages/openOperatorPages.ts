import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import type { ServerFigures } from '../../platform/figures.ts'
import type { OpenPages } from '../../server/guards/pages.ts'
import { metricsType } from '../../server/metrics/metricsPage.ts'
import { createMetrics } from './metrics/metrics.ts'
import { createStatusPages } from './statusPage/createStatusPages.ts'
import { createStatusRecorder } from './statusPage/createStatusRecorder.ts'

export interface OperatorPagesOptions {
  readonly figures: ServerFigures
  /** A page that is not served is not found, and nothing is recorded for it. */
  readonly served: { readonly status: boolean; readonly metrics: boolean }
  /** The metrics report on the process too. */
  readonly ownsProcess: boolean
  readonly times?: StatusTimes
}

/** Intervals of the status page, in milliseconds. */
interface StatusTimes {
  /** Between two points of its charts; absent: 10 seconds. */
  readonly sampleMs?: number
  /** Time for which one report answers every request; absent: a second. */
  readonly freshMs?: number
  /** Between two polls of an open page; absent: 5 seconds. */
  readonly pollMs?: number
}

/** Opens the status page and the page for Prometheus. */
export function openOperatorPages(options: OperatorPagesOptions): OpenPages {
  const { figures, served, ownsProcess, times = {} } = options
  return service => {
    const sources = { ...figures, ...service }
    const metrics = served.metrics ? createMetrics({ ...sources, ownsProcess }) : undefined
    const { version } = packageFile
    const recorder = served.status ? createStatusRecorder({ ...sources, version }, times.sampleMs) : undefined
    recorder?.start()
    return {
      pages(word) {
        const pages = new Map()
        if (metrics !== undefined) {
          const headers = { 'content-type': metricsType }
          pages.set('/metrics', async () => ({ status: 200, headers, body: metrics.render() }))
        }
        if (recorder === undefined) return pages
        const report = () => {
          const { evm, solana, ...others } = recorder.report()
          return { ...others, evm: evm.map(word), solana: solana.map(word) }
        }
        return new Map([...pages, ...createStatusPages({ report, ...times })])
      },
      stop: () => recorder?.stop()
    }
  }
}
