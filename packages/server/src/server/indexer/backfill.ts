import { type Damage, IndexDamagedError, type StoreWriter } from '@chain-data/index'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { createCommits } from './createCommits.ts'
import { explainMissing } from './explainMissing.ts'
import { BlockFailure, createFetchAhead, defaultMaxBytes } from './fetchAhead.ts'
import type { FollowOptions } from './follow.ts'
import { createProgressLog } from './indexCounts.ts'
import { createRetryPauses } from './retryPauses.ts'
import { describeProblem } from './status.ts'

export interface BackfillOptions
  extends Pick<FollowOptions, 'board' | 'counts' | 'logger' | 'signal' | 'window' | 'maxBytes' | 'wait'> {
  readonly source: Pick<EvmSource, 'block' | 'room' | 'settleDispute' | 'oldestBlock'>
  readonly store: Pick<StoreWriter, 'state' | 'blockRef' | 'prependBlocks'>
  readonly chainId: number
  /** Lowest block to add. */
  readonly startBlock: number
  /** Called with damage of the index that was met. */
  onDamage(damage: Damage): void
}

/** Interval of the check whether there are blocks to add, and the index is level with its node. */
const checkMs = 250
/** Tries at one block before the backfill pauses: most contradictions are gone a moment later. */
const triesPerBlock = 5

/**
 * Adds the blocks between `startBlock` and the first one of the index, newest first, until `signal` is aborted. New blocks come
 * first: it rests while the index is not level with its node. How far it came is in the index (`indexedFrom`), so that a restart
 * goes on there. A block that cannot be had ends nothing else: it is asked for again, and the status says why there are no
 * older ones.
 */
export async function backfill(options: BackfillOptions): Promise<void> {
  const { source, store, chainId, startBlock, board, counts, logger, signal } = options
  const { window = 4_096, maxBytes = defaultMaxBytes, wait = pause } = options
  const logProgress = createProgressLog({ counts, logger, isBackfill: true })
  const pauses = createRetryPauses()

  const isDue = () => {
    const { phase, indexedFrom, indexedTo } = board.read()
    return phase === 'following' && indexedTo !== undefined && indexedFrom > startBlock
  }

  async function write(batch: Parameters<StoreWriter['prependBlocks']>[0]): Promise<void> {
    const startedMs = performance.now()
    // Afterwards the batch may be with another thread.
    const [blocks, transactions, first] = [batch.headers.length, batch.ids.length, batch.headers[0]]
    await store.prependBlocks(batch)
    counts.committed({ blocks, transactions, startedMs })
    pauses.reset()
    if (first === undefined) return
    const indexedFrom = first.ref.number
    const left = indexedFrom - startBlock
    const expectedSeconds = logProgress(left, { indexedFrom, startBlock })
    board.change({
      ...{ indexedFrom, backfillProblem: undefined },
      ...((expectedSeconds !== undefined || left === 0) && { backfillSeconds: expectedSeconds })
    })
    if (left === 0) logger.info('the backfill is complete', { indexedFrom })
  }

  /** Adds blocks until there are no more, or the index is not level any more. */
  async function addBlocks(): Promise<void> {
    const { indexedFrom: first = 0 } = await store.state()
    // A commit that failed may be stored all the same.
    if (first !== board.read().indexedFrom) board.change({ indexedFrom: first, backfillProblem: undefined })
    let expected = (await store.blockRef(first))?.hash
    if (expected === undefined || first <= startBlock) return
    // A store that fails ends the reading, also in the middle of a block that takes long.
    const reading = openAbortScope([signal])
    const ahead = createFetchAhead({ source, window, maxBytes, signal: reading.signal, wait, step: -1 })
    const commits = createCommits(write, reading.end, 'down')
    try {
      // The first one is stored already: it names the parent.
      for (let number = first; number >= startBlock && isDue(); number--) {
        const block = await ahead.take(number, startBlock, triesPerBlock)
        if (block.ref.hash !== expected) {
          await source.settleDispute?.(number + 1, signal)
          const problem = `block ${number}: the node has ${block.ref.hash} there; expected ${expected}, the parent of block ${number + 1}`
          throw new BlockFailure(number, 1, new NodeContradictionError(problem, { blockNumber: number }))
        }
        expected = block.parentHash
        if (number < first) await commits.add(block)
      }
      await commits.finish()
    } catch (error) {
      throw await commits.finishAfter(error)
    } finally {
      reading.end()
      await ahead.drop()
    }
  }

  /** @returns how long to wait before the next attempt, in milliseconds. */
  async function takeFailure(error: unknown): Promise<number> {
    if (error instanceof IndexDamagedError) options.onDamage(error.damage)
    const failure = error instanceof BlockFailure ? error.cause : error
    const blockNumber = error instanceof BlockFailure ? error.blockNumber : undefined
    const head = board.read().head ?? 0
    // A later `startBlock` is enough: what is indexed stays.
    const cause = await explainMissing(failure, blockNumber, source, { chainId, head, isEmpty: true, signal })
    const problem = describeProblem(cause, blockNumber)
    board.change({ backfillProblem: problem, backfillSeconds: undefined })
    const waitMs = pauses.next(cause, error instanceof BlockFailure ? error.tries : undefined)
    if (pauses.isMilestone()) {
      logger.warn('the backfill pauses', { problem, attempt: pauses.failures(), waitMs: Math.round(waitMs) })
    }
    return waitMs
  }

  while (!signal.aborted) {
    let waitMs = checkMs
    try {
      if (isDue()) await addBlocks()
    } catch (error) {
      if (signal.aborted) return
      waitMs = await takeFailure(error)
    }
    await wait(waitMs, signal)
  }
}
