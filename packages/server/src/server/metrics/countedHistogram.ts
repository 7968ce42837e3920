import type { Histogram, Registry } from 'prom-client'
import type { TallyFigures } from '../../platform/tally.ts'

/** One row of a histogram whose measurements were counted elsewhere. */
export interface CountedRow {
  readonly labels: Readonly<Record<string, string>>
  readonly figures: TallyFigures
}

/**
 * Puts a histogram of measurements on the metrics page that come counted, out of other threads: the library's own takes
 * single ones only.
 *
 * @param options.bounds - those that the rows were counted by.
 * @param options.read - called at every scrape.
 */
export function registerCountedHistogram(
  registry: Registry,
  options: {
    readonly name: string
    readonly help: string
    readonly bounds: readonly number[]
    readonly read: () => readonly CountedRow[]
  }
): void {
  const { name, help, bounds, read } = options
  const histogram = {
    name,
    async get() {
      return { name, help, type: 'histogram', values: read().flatMap(row => valuesOf(name, bounds, row)) }
    }
  }
  registry.registerMetric(histogram as unknown as Histogram)
}

/** In the text format each bucket holds those below it as well. */
function valuesOf(name: string, bounds: readonly number[], { labels, figures }: CountedRow) {
  let count = 0
  const buckets = [...bounds, '+Inf'].map((le, place) => {
    count += figures.counts[place] ?? 0
    return { metricName: `${name}_bucket`, labels: { ...labels, le: String(le) }, value: count }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: figures.sum },
    { metricName: `${name}_count`, labels, value: count }
  ]
}
