import { Counter, Gauge, type Registry } from 'prom-client'
import type { MetadataFigures } from '../../platform/metadataFigures.ts'

/**
 * Puts the figures of the metadata service on the metrics page.
 * @param read - called at every scrape.
 */
export function registerMetadataMetrics(registry: Registry, read: () => MetadataFigures): void {
  const registers = [registry]
  const counter = (
    name: string,
    help: string,
    label: string,
    counts: (figures: MetadataFigures) => Readonly<Record<string, number>>
  ) =>
    new Counter({
      name: `chain_data_metadata_${name}_total`,
      help,
      labelNames: [label],
      registers,
      collect() {
        this.reset()
        for (const [value, count] of Object.entries(counts(read()))) this.inc({ [label]: value }, count)
      }
    })
  const gauge = (name: string, help: string, value: (figures: MetadataFigures) => number) =>
    new Gauge({
      name: `chain_data_metadata_${name}`,
      help,
      registers,
      collect() {
        this.set(value(read()))
      }
    })

  counter(
    'lookups',
    'Addresses asked for, by what was known of them: fresh, stale, negative (failed lately), missing.',
    'found',
    figures => figures.lookups
  )
  counter(
    'fetches',
    'Requests to single hosts by outcome: ok, overtaken by another gateway, or why they failed.',
    'outcome',
    figures => figures.fetches
  )
  new Counter({
    name: 'chain_data_metadata_fetched_bytes_total',
    help: 'Bytes of documents fetched, unpacked.',
    registers,
    collect() {
      this.reset()
      this.inc(read().fetchedBytes)
    }
  })
  gauge('fetches_running', 'Requests under way.', figures => figures.running)
  gauge('fetches_waiting', 'Requests waiting for their turn.', figures => figures.waiting)
  gauge('cache_persistent', '1 while what is fetched outlives the process.', figures =>
    Number(figures.isPersistent)
  )
}
