import packageFile from '@chain-data/server/package.json' with { type: 'json' }
import type { Metrics } from '../metrics/metrics.ts'
import type { HttpAnswer } from './exchange.ts'
import { createStatusPages } from './statusPage/createStatusPages.ts'
import { createStatusRecorder, type StatusSources } from './statusPage/createStatusRecorder.ts'

/** The pages that tell operators how the server fares, beside the health pages. */
export interface OperatorPages {
  /** By path. */
  readonly pages: ReadonlyMap<string, () => Promise<HttpAnswer>>
  /** From now on the status page says so; no further samples are taken. */
  beginClosing(): void
}

/** How often the status page is brought up to date, in milliseconds. */
export interface StatusTimes {
  /** Between two points of its charts; absent: 10 seconds. */
  readonly sampleMs?: number
  /** How long one report is given to all who ask; absent: a second. */
  readonly freshMs?: number
  /** Between two questions of an open page; absent: 5 seconds. */
  readonly pollMs?: number
}

/** @param options.served - a page that is not served is not found, and nothing is recorded for it. */
export function createOperatorPages(options: {
  readonly served: { readonly status: boolean; readonly metrics: boolean }
  readonly metrics: Metrics
  readonly sources: Omit<StatusSources, 'version' | 'counts' | 'isClosing'>
  readonly times?: StatusTimes | undefined
}): OperatorPages {
  const { served, metrics, sources, times = {} } = options
  const pages = new Map<string, () => Promise<HttpAnswer>>()
  if (served.metrics) {
    pages.set('/metrics', async () => {
      const { contentType, text } = await metrics.render()
      return { status: 200, headers: { 'content-type': contentType }, body: text }
    })
  }
  if (!served.status) return { pages, beginClosing() {} }

  let isClosing = false
  const { version } = packageFile
  const recorder = createStatusRecorder(
    { ...sources, version, counts: metrics, isClosing: () => isClosing },
    times.sampleMs
  )
  recorder.start()
  for (const [path, page] of createStatusPages({ report: recorder.report, ...times })) pages.set(path, page)
  return {
    pages,
    beginClosing() {
      isClosing = true
      recorder.stop()
    }
  }
}
