import type { BlockRef, IndexedBlock } from '../model/evm.ts'
import type { StoreWriter } from '../store/store.ts'
import type { ChainSource } from './chainSource.ts'
import { fetchInOrder } from './fetchInOrder.ts'

export interface BackfillOptions {
  readonly source: ChainSource
  readonly store: StoreWriter
  /** First height to store; the child of `parent`. */
  readonly from: number
  readonly to: number
  /** Newest stored block; absent in an empty store. */
  readonly parent?: BlockRef
  /** Passed on to the store: undo data below this height may be dropped. */
  readonly finalized?: number
  /** Blocks fetched or waiting at the same time. */
  readonly window: number
  readonly signal: AbortSignal
  /** Runs after each commit. */
  onCommit(blocks: readonly IndexedBlock[]): void
}

/** A commit's bounds: one transaction of the store should stay short, and a crash should cost little. */
const commitTransactions = 2_000
const commitBytes = 8 * 1024 * 1024
const commitBlocks = 512
const commitAfterMs = 500
/** What a transaction takes besides its calldata, roughly. */
const bytesPerTransaction = 300

/**
 * Stores the blocks of a range in order, several at a time.
 *
 * @returns `undefined` when `to` is stored; else the height of the block that is no child of the one before it. All
 *   blocks that are linked to the stored ones without doubt are stored by then; whether it was a reorg or a lie is for
 *   the caller to find out.
 * @throws what the source throws, after everything before that block is stored; what the store throws.
 */
export async function backfill(options: BackfillOptions): Promise<number | undefined> {
  const { source, store, from, to, window, signal, onCommit } = options
  let waiting: IndexedBlock[] = []
  let weight = { transactions: 0, bytes: 0 }
  let waitingSinceMs = 0
  let last = options.parent

  async function commit(blocks: readonly IndexedBlock[]): Promise<void> {
    waiting = []
    weight = { transactions: 0, bytes: 0 }
    if (blocks.length === 0) return
    await store.commitBlocks(blocks, options.finalized === undefined ? {} : { finalized: options.finalized })
    onCommit(blocks)
  }

  try {
    for await (const block of fetchInOrder(source, { from, to }, window, signal)) {
      if (last !== undefined && block.parentHash !== last.hash) {
        // The block before may be the wrong one of the two: it is left out as well.
        await commit(waiting.slice(0, -1))
        return block.ref.number
      }
      if (waiting.length === 0) waitingSinceMs = performance.now()
      waiting.push(block)
      last = block.ref
      weight.transactions += block.transactions.length
      weight.bytes += weigh(block)
      const isFull =
        weight.transactions >= commitTransactions ||
        weight.bytes >= commitBytes ||
        waiting.length >= commitBlocks ||
        performance.now() - waitingSinceMs >= commitAfterMs
      if (isFull) await commit(waiting)
    }
    await commit(waiting)
    return undefined
  } catch (error) {
    // The blocks before the one that failed are good; the source's failure is the one to report.
    await commit(waiting)
    throw error
  }
}

function weigh(block: IndexedBlock): number {
  return block.transactions.reduce(
    (sum, { transaction }) => sum + bytesPerTransaction + transaction.data.length / 2,
    0
  )
}
