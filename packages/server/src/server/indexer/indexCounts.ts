import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import type { StoreWriter } from '../../index/port/writer.ts'
import {
  createHistogram,
  depthBounds,
  type Histogram,
  type IndexFigures,
  writeBounds
} from '../../platform/figures.ts'

/** Counts what an indexer does, at the two places that all of it passes: its source and its store. */
export interface IndexCounts {
  /** The same source; blocks asked of it are counted while they are under way. */
  watchSource<T extends Pick<EvmSource, 'block'>>(source: T): T
  /** The same store; what is written and removed is counted and timed. */
  watchStore(store: StoreWriter): StoreWriter
  read(): IndexFigures
}

export function createIndexCounts(chainId: number): IndexCounts {
  const commits = createHistogram(writeBounds)
  const rollbacks = createHistogram(writeBounds)
  const reorgDepths = createHistogram(depthBounds)
  let blocks = 0
  let transactions = 0
  let blocksUnderWay = 0
  let poolTransactions: number | undefined

  return {
    watchSource(source) {
      return {
        ...source,
        async block(number, signal) {
          blocksUnderWay++
          try {
            return await source.block(number, signal)
          } finally {
            blocksUnderWay--
          }
        }
      }
    },

    watchStore(store) {
      async function countRollback(keptNumber: number | undefined, work: () => Promise<void>): Promise<void> {
        const { head, indexedFrom } = await store.state()
        const isEmpty = head === undefined || indexedFrom === undefined
        const depth = isEmpty ? 0 : head.number - (keptNumber ?? indexedFrom - 1)
        if (depth <= 0) return work()
        await timed(rollbacks, work)
        reorgDepths.note(depth)
      }
      return {
        state: () => store.state(),
        async commitBlocks(committed, options) {
          // Afterwards they may be with another thread.
          const [count, transactionCount] = [committed.headers.length, committed.ids.length]
          await timed(commits, () => store.commitBlocks(committed, options))
          blocks += count
          transactions += transactionCount
        },
        blockRef: number => store.blockRef(number),
        rollbackTo: ancestor => countRollback(ancestor.number, () => store.rollbackTo(ancestor)),
        rollbackAll: () => countRollback(undefined, () => store.rollbackAll()),
        markBackfilled: () => store.markBackfilled(),
        markSettled: () => store.markSettled(),
        markFinal: number => store.markFinal(number),
        async updatePool(update) {
          await store.updatePool(update)
          poolTransactions = update.present.length
        },
        report: report => store.report(report),
        close: () => store.close()
      }
    },

    read: () => ({
      ...{ chainId, blocks, transactions, blocksUnderWay },
      commits: commits.read(),
      rollbacks: rollbacks.read(),
      reorgDepths: reorgDepths.read(),
      ...(poolTransactions === undefined ? {} : { poolTransactions })
    })
  }
}

/** What fails is no transaction of the store. */
async function timed(histogram: Histogram, work: () => Promise<void>): Promise<void> {
  const startedMs = performance.now()
  await work()
  histogram.note((performance.now() - startedMs) / 1_000)
}
