import type { StoreWriter } from '../../index/port/writer.ts'
import type { BlockHeader, BlockRows } from '../../index/record/encodeBlock.ts'
import { packBlocks } from '../../index/record/packBlocks.ts'

/** Hands blocks to a store, batch after batch, while the next batch is gathered. */
export interface Commits {
  /** A batch is being stored. */
  isBusy(): boolean
  /**
   * Returns once this batch is under way, which is when all before it are stored: so no more than one ever waits.
   * @throws what the store threw for a batch before.
   */
  send(blocks: readonly BlockRows[]): Promise<void>
  /**
   * Returns once everything is stored.
   * @throws what the store threw.
   */
  finish(): Promise<void>
}

/**
 * @param options.finalized - what the node calls final; passed on to the store.
 * @param options.onCommit - runs after each commit, in their order; the next one waits for it.
 * @param options.onFailure - runs as soon as a commit has failed, which `send` and `finish` tell only when they are called.
 */
export function createCommits({
  store,
  finalized,
  onCommit,
  onFailure
}: {
  readonly store: Pick<StoreWriter, 'commitBlocks'>
  readonly finalized?: number | undefined
  onCommit(blocks: readonly BlockHeader[]): void | Promise<void>
  onFailure(): void
}): Commits {
  let underWay = Promise.resolve()
  let isBusy = false

  return {
    isBusy: () => isBusy,
    async send(blocks) {
      if (blocks.length === 0) return
      // Packed while the batch before is still being stored.
      const packed = packBlocks(blocks)
      const { headers } = packed
      await underWay
      isBusy = true
      underWay = store.commitBlocks(packed, finalized === undefined ? {} : { finalized }).then(() => {
        isBusy = false
        return onCommit(headers)
      })
      underWay.catch(onFailure)
    },
    finish: () => underWay
  }
}
