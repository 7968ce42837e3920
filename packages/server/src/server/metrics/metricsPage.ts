import { type Metric, Registry } from 'prom-client'
import type { HistogramFigures } from '../../platform/figures.ts'

/** Labels of a sample and its value; a sample without a value is left out. */
type Row<T> = readonly [labels: Labels, value: T | undefined]
type Labels = Readonly<Record<string, string | number>>

/** The page for Prometheus: metrics whose samples are read at each scrape. Names go without `chain_data_`. */
export interface MetricsPage {
  readonly registry: Registry
  /** Adds `_total` to the name. */
  counter(name: string, help: string, read: () => readonly Row<number>[]): void
  gauge(name: string, help: string, read: () => readonly Row<number | boolean>[]): void
  /** @param bounds - `counted`: those of the figures; `shown`: those of them that the page shows, all by default. */
  histogram(
    name: string,
    help: string,
    bounds: { readonly counted: readonly number[]; readonly shown?: readonly number[] },
    read: () => readonly Row<HistogramFigures>[]
  ): void
}

/** An empty page. One per server, so that two servers in one process do not mix. */
export function createMetricsPage(): MetricsPage {
  const registry = new Registry()
  // The library's own metrics count by themselves; these are counted elsewhere.
  const add = (name: string, help: string, type: string, values: () => readonly object[]) => {
    const metric = { name, get: async () => ({ name, help, type, values: values() }) }
    registry.registerMetric(metric as unknown as Metric)
  }
  return {
    registry,
    counter(name, help, read) {
      add(`chain_data_${name}_total`, help, 'counter', () => read().flatMap(toSample))
    },
    gauge(name, help, read) {
      add(`chain_data_${name}`, help, 'gauge', () => read().flatMap(toSample))
    },
    histogram(name, help, { counted, shown = counted }, read) {
      const fullName = `chain_data_${name}`
      add(fullName, help, 'histogram', () =>
        read().flatMap(([labels, figures]) => {
          if (figures === undefined) return []
          // In the text format each bucket holds those below it as well.
          const countUpTo = (bound: number) =>
            figures.counts.reduce(
              (sum, n, index) => ((counted[index] ?? Infinity) <= bound ? sum + n : sum),
              0
            )
          const bucket = (le: number | '+Inf', value: number) => {
            return { metricName: `${fullName}_bucket`, labels: { ...labels, le }, value }
          }
          const count = countUpTo(Infinity)
          return [
            ...shown.map(bound => bucket(bound, countUpTo(bound))),
            bucket('+Inf', count),
            { metricName: `${fullName}_sum`, labels, value: figures.sum },
            { metricName: `${fullName}_count`, labels, value: count }
          ]
        })
      )
    }
  }
}

/**
 * Adders of metrics that have one sample for each of these figures.
 *
 * @param options.labels - those of a sample; absent: none.
 * @param options.prefix - of every name.
 */
export function metricsOf<Figures>(
  page: MetricsPage,
  read: () => readonly Figures[],
  options: { readonly labels?: (figures: Figures) => Labels; readonly prefix?: string } = {}
) {
  const { labels = () => ({}), prefix = '' } = options
  type Value<T> = (figures: Figures) => T | undefined
  const rows = <T>(value: Value<T>) => read().map(figures => [labels(figures), value(figures)] as const)
  return {
    counter(name: string, help: string, value: Value<number>) {
      page.counter(prefix + name, help, () => rows(value))
    },
    gauge(name: string, help: string, value: Value<number | boolean>) {
      page.gauge(prefix + name, help, () => rows(value))
    },
    histogram(name: string, help: string, counted: readonly number[], value: Value<HistogramFigures>) {
      page.histogram(prefix + name, help, { counted }, () => rows(value))
    }
  }
}

/** A sample for each count of a record or map, labelled with its key. */
export function rowsBy(
  label: string,
  counts: Iterable<readonly [string, number]>,
  others: Labels = {}
): readonly Row<number>[] {
  return [...counts].map(([value, count]) => [{ ...others, [label]: value }, count])
}

function toSample([labels, value]: Row<number | boolean>) {
  return value === undefined ? [] : [{ labels, value: Number(value) }]
}
