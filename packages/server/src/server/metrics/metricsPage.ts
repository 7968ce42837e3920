import type { HistogramFigures } from '../../platform/figures.ts'

/** Labels of a sample and its value; a sample without a value is left out. */
type Row<T> = readonly [labels: Labels, value: T | undefined]
type Labels = Readonly<Record<string, string | number>>

/** The page for Prometheus: metrics whose samples are read at each scrape. */
export interface MetricsPage {
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
  /** Reads every metric, in the order in which they were added, and returns the page as text. */
  render(): string
}

/** Media type of the page. */
export const metricsType = 'text/plain; version=0.0.4; charset=utf-8'

/**
 * Creates an empty page. One per server, so that two servers in one process do not mix.
 *
 * @param prefix - Of every name.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function createMetricsPage(prefix: string): MetricsPage {
  const metrics: (() => string)[] = []
  const add = (name: string, help: string, type: string, readLines: () => readonly string[]) => {
    const head = [`# HELP ${name} ${escapeText(help)}`, `# TYPE ${name} ${type}`]
    metrics.push(() => `${[...head, ...readLines()].join('\n')}\n`)
  }
  return {
    counter(name, help, read) {
      const fullName = `${prefix}${name}_total`
      add(fullName, help, 'counter', () => read().flatMap(row => toLines(fullName, row)))
    },
    gauge(name, help, read) {
      const fullName = prefix + name
      add(fullName, help, 'gauge', () => read().flatMap(row => toLines(fullName, row)))
    },
    histogram(name, help, { counted, shown = counted }, read) {
      const fullName = prefix + name
      add(fullName, help, 'histogram', () =>
        read().flatMap(([labels, figures]) => {
          if (figures === undefined) return []
          // In the text format each bucket holds those below it as well.
          const countUpTo = (bound: number) =>
            figures.counts.reduce(
              (sum, n, index) => ((counted[index] ?? Infinity) <= bound ? sum + n : sum),
              0
            )
          return [
            ...[...shown, Infinity].flatMap(bound =>
              toLines(`${fullName}_bucket`, [{ ...labels, le: toText(bound) }, countUpTo(bound)])
            ),
            ...toLines(`${fullName}_sum`, [labels, figures.sum]),
            ...toLines(`${fullName}_count`, [labels, countUpTo(Infinity)])
          ]
        })
      )
    },
    render: () => metrics.map(renderMetric => renderMetric()).join('\n')
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

/** Labels a sample with its chain. */
export function chainLabel({ chainId }: { readonly chainId: number }) {
  return { chain_id: chainId }
}

/** The line of a sample; none for a sample without a value. */
function toLines(name: string, [labels, value]: Row<number | boolean>): readonly string[] {
  if (value === undefined) return []
  const pairs = Object.entries(labels).map(
    ([label, text]) => `${label}="${escapeText(String(text)).replaceAll('"', '\\"')}"`
  )
  return [`${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${toText(Number(value))}`]
}

function toText(value: number): string {
  if (value === Infinity) return '+Inf'
  return value === -Infinity ? '-Inf' : String(value)
}

function escapeText(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n')
}
