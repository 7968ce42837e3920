import type { StoreWriter } from '../../index/port/writer.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import type { Logger } from '../../platform/logger.ts'
import { type FetchBlock, fetchInPlace } from './createHealer.ts'
import { createRetryPauses } from './retryPauses.ts'
import { describeProblem, type StatusBoard } from './status.ts'

/** Pause after each block, as a multiple of the time that it took: new blocks and answers come first. */
const restPerBlock = 4
/** Interval of the check whether there is something to do. */
const idleMs = 5_000
/** Interval of the progress in the log. */
const logEveryMs = 60_000

/**
 * Gives the blocks that an older version has stored what this one stores: checksums, and details that it did not know. They
 * are fetched and verified anew, newest first, one at a time while the index is level with its node, until `signal` is
 * aborted. How far that came is in the index (`checkedFrom`), so that a restart goes on there.
 */
export async function upgradeIndex(options: {
  readonly store: Pick<StoreWriter, 'state' | 'replaceBlock' | 'coversTraces'>
  readonly fetchBlock: FetchBlock
  readonly board: StatusBoard
  readonly logger: Logger
  readonly signal: AbortSignal
}): Promise<void> {
  const { store, fetchBlock, board, logger, signal } = options
  const pauses = createRetryPauses()
  let loggedMs = Number.NEGATIVE_INFINITY

  /** @returns absent while there is nothing to do. */
  async function nextBlock(): Promise<number | undefined> {
    if (board.read().phase !== 'following') return undefined
    const { head, indexedFrom, checkedFrom } = await store.state()
    if (head === undefined || indexedFrom === undefined) return undefined
    const next = (checkedFrom ?? head.number + 1) - 1
    return next < indexedFrom ? undefined : next
  }

  async function rewrite(number: number): Promise<void> {
    const startedMs = performance.now()
    await fetchInPlace(number, { part: 'block', block: number }, { fetchBlock, store, signal })
    if (startedMs - loggedMs > logEveryMs) {
      logger.info('blocks of an older version get checksums', { blockNumber: number })
      loggedMs = startedMs
    }
    await pause(restPerBlock * (performance.now() - startedMs), signal)
  }

  while (!signal.aborted) {
    try {
      const next = await nextBlock()
      if (next === undefined) await pause(idleMs, signal)
      else await rewrite(next)
      pauses.reset()
    } catch (error) {
      if (signal.aborted) return
      const waitMs = pauses.next(error, pauses.failures() + 1)
      if (pauses.isMilestone()) {
        logger.warn('a block of an older version cannot be fetched again', {
          problem: describeProblem(error),
          attempt: pauses.failures()
        })
      }
      await pause(waitMs, signal)
    }
  }
}
