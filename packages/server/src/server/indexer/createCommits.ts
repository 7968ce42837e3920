import { type BlockRows, type PackedBlocks, packBlocks } from '@chain-data/index/record'
import { weighRows } from './fetchAhead.ts'

/** Gathers blocks into batches and writes one batch while the next is gathered. */
export interface Commits {
  /**
   * Takes the next block. Returns late when a batch is full while the one before is still being written, so that no more
   * than one ever waits.
   * @throws what writing a batch before threw.
   */
  add(block: BlockRows): Promise<void>
  /** Forgets blocks from this number on that are not being written yet. */
  dropFrom(blockNumber: number): void
  /**
   * Writes what is gathered, and returns once everything is written.
   * @throws what writing threw.
   */
  finish(): Promise<void>
  /** The same after a failure elsewhere, since the blocks before it are good. Returns why writing failed, else that failure. */
  finishAfter(failure: unknown): Promise<unknown>
}

/**
 * Maximum of one commit; fetching waits while a full batch is gathered and the one before is still being written. Large
 * commits cost the store less for each transaction. Small ones stay short, lose little in a crash, and bound the memory.
 */
const commitTransactions = 8_000
const commitBytes = 8 * 1024 * 1024
const commitBlocks = 2_048
/** An idle store gets a batch that is not full after this time. */
const commitAfterMs = 500

/**
 * @param write - stores a batch; called for one batch after the other.
 * @param onFailure - runs as soon as `write` has failed, which `add` and `finish` report only when they are called.
 * @param order - in which the blocks are added; a batch is written upwards.
 */
export function createCommits(
  write: (batch: PackedBlocks) => Promise<void>,
  onFailure: () => void,
  order: 'up' | 'down' = 'up'
): Commits {
  let batch: BlockRows[] = []
  let transactions = 0
  let bytes = 0
  let sinceMs = 0
  let underWay = Promise.resolve()
  let isBusy = false

  const isFull = () =>
    transactions >= commitTransactions || bytes >= commitBytes || batch.length >= commitBlocks

  function put(block: BlockRows): void {
    batch.push(block)
    transactions += block.transactionCount
    bytes += weighRows(block)
  }

  /** Takes out all that is gathered. */
  function take(): readonly BlockRows[] {
    const taken = batch
    batch = []
    transactions = 0
    bytes = 0
    return taken
  }

  async function send(): Promise<void> {
    if (batch.length === 0) return
    // Packed while the batch before is still being written.
    const packed = packBlocks(order === 'up' ? take() : take().toReversed())
    await underWay
    isBusy = true
    underWay = write(packed).finally(() => {
      isBusy = false
    })
    underWay.catch(onFailure)
  }

  async function finish(): Promise<void> {
    await send()
    await underWay
  }

  return {
    async add(block) {
      if (batch.length === 0) sinceMs = performance.now()
      put(block)
      if (isFull() || (!isBusy && performance.now() - sinceMs >= commitAfterMs)) await send()
    },
    dropFrom(blockNumber) {
      for (const block of take()) if (block.ref.number < blockNumber) put(block)
    },
    finish,
    finishAfter: failure =>
      finish().then(
        () => failure,
        (storeError: unknown) => storeError
      )
  }
}
