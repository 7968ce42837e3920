import { type MetricsPage, metricsOf, rowsBy } from '../../server/metrics/metricsPage.ts'

/** What was known of a metadata address when it was asked for. */
export type MetadataLookup =
  /** Cached and in date. */
  | 'fresh'
  /** Cached and past its date: returned all the same, and fetched again after the answer. */
  | 'stale'
  /** It failed lately and is not tried again yet. */
  | 'negative'
  /** Has to be fetched. */
  | 'missing'

/** What the metadata service has done since its start, and what it is doing. */
export interface MetadataFigures {
  readonly lookups: Readonly<Record<MetadataLookup, number>>
  /** Requests to single hosts by outcome: `ok`, `overtaken`, or the reason of a failure in lower case. */
  readonly fetches: Readonly<Record<string, number>>
  /** Bytes of documents, unpacked. */
  readonly fetchedBytes: number
  readonly running: number
  readonly waiting: number
  /** False while fetched documents are kept in memory only. */
  readonly isPersistent: boolean
}

/** Adds what the metadata service does. */
export function addMetadataMetrics(page: MetricsPage, read: () => MetadataFigures): void {
  const { counter, gauge } = metricsOf(page, () => [read()], { prefix: 'metadata_' })
  const lookupsHelp =
    'Addresses asked for, by what was known of them: fresh, stale, negative (failed lately), missing.'
  page.counter('metadata_lookups', lookupsHelp, () => rowsBy('found', Object.entries(read().lookups)))
  const fetchesHelp =
    'Requests to single hosts by outcome: ok, overtaken by another gateway, or why they failed.'
  page.counter('metadata_fetches', fetchesHelp, () => rowsBy('outcome', Object.entries(read().fetches)))
  counter('fetched_bytes', 'Bytes of documents fetched, unpacked.', f => f.fetchedBytes)
  gauge('fetches_running', 'Requests under way.', f => f.running)
  gauge('fetches_waiting', 'Requests waiting for their turn.', f => f.waiting)
  gauge('cache_persistent', '1 while what is fetched outlives the process.', f => f.isPersistent)
}
