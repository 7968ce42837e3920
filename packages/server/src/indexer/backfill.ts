import type { BlockRef, IndexedBlock } from '../model/evm.ts'
import type { StoreWriter } from '../store/store.ts'
import { BlockFailure, type FetchOptions, fetchInOrder } from './fetchInOrder.ts'

export interface BackfillOptions extends FetchOptions {
  readonly store: StoreWriter
  /** First height to store; the child of `parent`. */
  readonly from: number
  /** Newest stored block; absent in an empty store. */
  readonly parent?: BlockRef
  /** What the node calls final; passed on to the store. */
  readonly finalized?: number
  /** Runs after each commit. */
  onCommit(blocks: readonly IndexedBlock[]): void
}

/** How far a range came. All blocks before the one named are stored, as far as they surely belong to the chain. */
export type BackfillOutcome =
  | { readonly kind: 'stored' }
  /** This block is no child of the one before it: a reorg or a lie, which is for the caller to find out. */
  | { readonly kind: 'unlinked'; readonly blockNumber: number }
  | { readonly kind: 'failed'; readonly failure: BlockFailure }

/** A commit's bounds: one transaction of the store should stay short, and a crash should cost little. */
const commitTransactions = 2_000
const commitBytes = 8 * 1024 * 1024
const commitBlocks = 512
const commitAfterMs = 500
/** What a transaction takes besides its calldata, roughly. */
const bytesPerTransaction = 300

/**
 * Stores the blocks of a range in order, several fetched at a time.
 * @throws what the store throws.
 */
export async function backfill(options: BackfillOptions): Promise<BackfillOutcome> {
  const { store, onCommit } = options
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
    for await (const block of fetchInOrder(options)) {
      if (last !== undefined && block.parentHash !== last.hash) {
        // The block before may be the wrong one of the two: it is left out as well.
        await commit(waiting.slice(0, -1))
        return { kind: 'unlinked', blockNumber: block.ref.number }
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
    return { kind: 'stored' }
  } catch (error) {
    if (!(error instanceof BlockFailure)) throw error
    // The blocks before the one that failed are good.
    await commit(waiting)
    return { kind: 'failed', failure: error }
  }
}

function weigh(block: IndexedBlock): number {
  return block.transactions.reduce(
    (sum, { transaction }) => sum + bytesPerTransaction + transaction.data.length / 2,
    0
  )
}
