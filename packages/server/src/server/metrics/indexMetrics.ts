import { Counter, Gauge, type Registry } from 'prom-client'
import { depthBounds, type IndexFigures, writeBounds } from '../../platform/indexFigures.ts'
import type { TallyFigures } from '../../platform/tally.ts'
import { type CountedRow, registerCountedHistogram } from './countedHistogram.ts'

/**
 * Puts the figures of all indexers on the metrics page.
 * @param read - called at every scrape. Counts begin anew with a thread, which Prometheus takes for a restart.
 */
export function registerIndexMetrics(registry: Registry, read: () => readonly IndexFigures[]): void {
  const registers = [registry]
  const labelNames = ['chain_id']

  const counter = (name: string, help: string, value: (figures: IndexFigures) => number) =>
    new Counter({
      name: `chain_data_${name}_total`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const figures of read()) this.inc(labelsOf(figures), value(figures))
      }
    })
  const gauge = (name: string, help: string, value: (figures: IndexFigures) => number | undefined) =>
    new Gauge({
      name: `chain_data_${name}`,
      help,
      labelNames,
      registers,
      collect() {
        this.reset()
        for (const figures of read()) {
          const now = value(figures)
          if (now !== undefined) this.set(labelsOf(figures), now)
        }
      }
    })
  const rows = (value: (figures: IndexFigures) => TallyFigures) => (): readonly CountedRow[] =>
    read().map(figures => ({ labels: labelsOf(figures), figures: value(figures) }))

  counter('indexed_blocks', 'Blocks stored; those that a reorg removed later stay counted.', f => f.blocks)
  counter('indexed_transactions', 'Transactions stored with them.', f => f.transactions)
  registerCountedHistogram(registry, {
    name: 'chain_data_store_commit_duration_seconds',
    help: 'Time that storing some blocks took, in one transaction.',
    bounds: writeBounds,
    read: rows(figures => figures.commits)
  })
  registerCountedHistogram(registry, {
    name: 'chain_data_store_rollback_duration_seconds',
    help: 'Time that removing the blocks of a reorg took, in one transaction.',
    bounds: writeBounds,
    read: rows(figures => figures.rollbacks)
  })
  registerCountedHistogram(registry, {
    name: 'chain_data_reorg_depth_blocks',
    help: 'Reorgs by the number of blocks that they removed.',
    bounds: depthBounds,
    read: rows(figures => figures.reorgDepths)
  })
  gauge('fetching_blocks', 'Blocks that the indexer is asking the nodes for now.', f => f.blocksUnderWay)
  gauge('pool_transactions', 'Pending transactions at the last look at the pool.', f => f.poolTransactions)
  gauge('store_size_bytes', 'Size of the index on the disk, its write-ahead log included.', f => f.storeBytes)
}

function labelsOf({ chainId }: IndexFigures) {
  return { chain_id: String(chainId) }
}
