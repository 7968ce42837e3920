import type { StoreWriter } from '../../index/port/writer.ts'
import type { BlockHeader, BlockRows } from '../../index/record/encodeBlock.ts'
import type { BlockRef } from '../../model/evm.ts'
import { type Commits, createCommits } from './createCommits.ts'
import { BlockFailure, type FetchOptions, fetchInOrder, weighRows } from './fetchInOrder.ts'

export interface BackfillOptions extends FetchOptions {
  readonly store: Pick<StoreWriter, 'commitBlocks'>
  /** First height to store; the child of `parent`. */
  readonly from: number
  /** Newest stored block; absent in an empty store. */
  readonly parent?: BlockRef
  /** What the node calls final; passed on to the store. */
  readonly finalized?: number
  /** Runs after each commit; the next one waits for it. */
  onCommit(blocks: readonly BlockHeader[]): void | Promise<void>
}

/** How far a range came. All blocks before the one named are stored, as far as they surely belong to the chain. */
export type BackfillOutcome =
  | { readonly kind: 'stored' }
  /** This block is no child of the one before it: a reorg or a lie, which is for the caller to find out. */
  | { readonly kind: 'unlinked'; readonly blockNumber: number }
  | { readonly kind: 'failed'; readonly failure: BlockFailure }

/**
 * So much is gathered for one commit; while the store is still busy with the one before, fetching waits then. Large commits
 * cost the store less for each transaction. Small ones stay short, lose little in a crash, and bound what is in memory.
 */
const commitTransactions = 8_000
const commitBytes = 8 * 1024 * 1024
const commitBlocks = 2_048
/** A store that has nothing to do is given what there is after this time. */
const commitAfterMs = 500

/**
 * Stores the blocks of a range in order, several fetched at a time, and further ones while the last ones are being stored.
 * @throws what the store throws.
 */
export async function backfill(options: BackfillOptions): Promise<BackfillOutcome> {
  const { store, finalized, signal, onCommit } = options
  // A store that fails ends the fetching, also in the middle of a block that takes long.
  const leaving = new AbortController()
  const leave = () => leaving.abort(signal.reason)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  const commits = createCommits({ store, finalized, onCommit, onFailure: () => leaving.abort() })
  try {
    return await storeInOrder({ ...options, signal: leaving.signal }, commits)
  } finally {
    signal.removeEventListener('abort', leave)
    // Whatever ends this: who asks next where the index stands must not be overtaken by a commit.
    await commits.finish().catch(() => undefined)
  }
}

async function storeInOrder(options: BackfillOptions, commits: Commits): Promise<BackfillOutcome> {
  const batch = createBatch()
  let last = options.parent
  try {
    for await (const block of fetchInOrder(options)) {
      if (last !== undefined && block.parentHash !== last.hash) {
        // The block before may be the wrong one of the two: it is left out as well.
        await commits.send(batch.take().slice(0, -1))
        await commits.finish()
        return { kind: 'unlinked', blockNumber: block.ref.number }
      }
      batch.add(block)
      last = block.ref
      if (batch.isFull() || (!commits.isBusy() && batch.ageMs() >= commitAfterMs)) {
        await commits.send(batch.take())
      }
    }
    await commits.send(batch.take())
    await commits.finish()
    return { kind: 'stored' }
  } catch (error) {
    if (!(error instanceof BlockFailure)) throw error
    // The blocks before the one that failed are good.
    await commits.send(batch.take())
    await commits.finish()
    return { kind: 'failed', failure: error }
  }
}

/** Blocks gathered for the next commit. */
function createBatch() {
  let blocks: BlockRows[] = []
  let transactions = 0
  let bytes = 0
  let sinceMs = 0
  return {
    add(block: BlockRows): void {
      if (blocks.length === 0) sinceMs = performance.now()
      blocks.push(block)
      transactions += block.transactionCount
      bytes += weighRows(block)
    },
    ageMs: () => performance.now() - sinceMs,
    isFull: () => transactions >= commitTransactions || bytes >= commitBytes || blocks.length >= commitBlocks,
    /** The blocks; the next ones begin another batch. */
    take(): readonly BlockRows[] {
      const taken = blocks
      blocks = []
      transactions = 0
      bytes = 0
      return taken
    }
  }
}
