import { ChainDataError, StoreError, StoreLostError, type StoreWriter } from '@chain-data/index'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { BrokenChecksError } from '../../evm/blocks/verification/blockChecks.ts'
import { lowestStart } from '../../model/startBlock.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { ConfigError } from '../../platform/errors.ts'
import {
  type ChainEvent,
  ChainReader,
  type ChainReaderOptions,
  defaultRecentBlocks,
  firstBlock
} from './ChainReader.ts'
import { createCommits } from './createCommits.ts'
import { explainMissing } from './explainMissing.ts'
import { BlockFailure, defaultMaxBytes } from './fetchAhead.ts'
import { createProgressLog, type IndexCounts } from './indexCounts.ts'
import { createPoolWatch, type PoolSource } from './poolWatch.ts'
import { createRetryPauses } from './retryPauses.ts'
import { describeProblem, type StatusBoard, stalledBy } from './status.ts'

/** Options of a reader that have a default here: 4,096 blocks and 32 MiB ahead, rounds of 2,000 blocks, 30 s of grace. */
type Tuning = 'window' | 'maxBytes' | 'roundBlocks' | 'recentBlocks' | 'lowerHeadGraceMs' | 'dev' | 'wait'

export interface FollowOptions
  extends Pick<ChainReaderOptions, 'identity' | 'startBlock' | 'pollIntervalMs' | 'logger' | 'isParted'>,
    Partial<Pick<ChainReaderOptions, Tuning>> {
  readonly source: EvmSource & PoolSource
  readonly store: StoreWriter
  readonly board: StatusBoard
  readonly counts: IndexCounts
  /** Ends the work after the commit under way. */
  readonly signal: AbortSignal
}

/**
 * Keeps the store equal to the node's canonical chain until `signal` ends it: writes what a {@link ChainReader} yields.
 * Nothing that the node says wrong and nothing that it does not say ends this; the board shows meanwhile why the index does
 * not move.
 *
 * @returns when `signal` is aborted.
 * @throws {StoreError} when the store cannot be written; only a new writer may help. A lost store is waited for: what this writer
 *   has open is the original.
 * @throws {ConfigError} the node of a development chain serves another chain by now.
 */
export async function follow(options: FollowOptions): Promise<void> {
  const { source, store, identity, board, counts, logger, signal, startBlock, pollIntervalMs } = options
  const { window = 4_096, maxBytes = defaultMaxBytes, roundBlocks = 2_000, wait = pause } = options
  const { lowerHeadGraceMs = 30_000, recentBlocks = defaultRecentBlocks, dev } = options
  const reader = new ChainReader({
    ...{ source, stored: store, identity, startBlock, pollIntervalMs, logger, isParted: options.isParted },
    ...{ window, maxBytes, roundBlocks, recentBlocks, lowerHeadGraceMs, dev, wait }
  })
  const logProgress = createProgressLog({ counts, logger })
  const pool = createPoolWatch({ source, store, board, counts, logger, signal, intervalMs: pollIntervalMs })
  const pauses = createRetryPauses()
  /** The newest blocks that the node has named. */
  let named: { readonly head: number; readonly finalized?: number } = { head: -1 }
  let phase: 'backfilling' | 'following' = 'backfilling'
  /** Failure of the store in a poll of the pool, which runs next to the blocks. */
  let storeFailure: unknown
  /**
   * The pool has been polled. Before that "nothing pending" would be a guess, so the chain does not count as followed; the
   * same holds after a reorg, which may have thrown transactions back into the pool.
   */
  let hasLooked = false
  /** The pool has been polled since then, but may be ahead of the index. */
  let hasPolled = false

  /**
   * No block of a development chain is final, so that going back never makes its index degraded. A mark from before it was
   * one ends as any other.
   */
  const isFinalityKept = () => dev === undefined || board.read().degraded

  /** A chain that has stalled stays so until something has come of the next attempt. */
  function showPhase(): void {
    if (pauses.failures() === 0) board.change({ phase })
  }

  async function write(batch: Parameters<StoreWriter['commitBlocks']>[0]): Promise<void> {
    const { head, finalized } = named
    const startedMs = performance.now()
    // Afterwards the batch may be with another thread.
    const [blocks, transactions, last] = [batch.headers.length, batch.ids.length, batch.headers.at(-1)]
    await store.commitBlocks(batch, {
      ...(head >= 0 && { head }),
      ...(finalized !== undefined && isFinalityKept() && { finalized })
    })
    counts.committed({ blocks, transactions, startedMs })
    pauses.reset()
    if (last === undefined) return
    // In one change: a reader that waits for blocks in place of removed ones must not see them still marked as degraded.
    const degraded = board.read().degraded && (await store.state()).degraded
    board.change({ indexedTo: last.ref, degraded, problem: undefined })
    showPhase()
    logProgress(head - last.ref.number, { indexedTo: last.ref.number, head })
    logger.debug('stored blocks', { count: blocks, indexedTo: last.ref.number })
  }

  /** All blocks that came before the event are stored. */
  async function apply(event: Exclude<ChainEvent, { readonly kind: 'block' }>): Promise<void> {
    switch (event.kind) {
      case 'head': {
        named = event
        const { head, finalized } = await store.state()
        board.change({
          indexUnusable: undefined,
          head: event.head,
          headTimestampSeconds: event.timestampSeconds,
          // A lagging node must not take back what was final already.
          finalized: highest(event.finalized, board.read().finalized, finalized),
          ...(head === undefined ? { indexedFrom: firstBlock({ startBlock, recentBlocks, dev }, event) } : {})
        })
        const isNear = event.head - (head?.number ?? board.read().indexedFrom - 1) <= roundBlocks
        phase = hasLooked && board.read().backfilled && isNear ? 'following' : 'backfilling'
        showPhase()
        return
      }
      case 'fork':
        // From here on until the next time that index and pool are level with the node, transactions may be in neither.
        // Shown before anything is removed, so that no reader is shown the gap.
        hasLooked = false
        hasPolled = false
        phase = 'backfilling'
        showPhase()
        board.change({ poolSeenAtMs: undefined })
        return
      case 'reorg':
        return rollBack(event)
      case 'final':
        if (!isFinalityKept()) return
        await store.markFinal(event.blockNumber)
        board.change({ degraded: (await store.state()).degraded })
        return
      case 'waiting':
        pauses.reset()
        board.change({ problem: undefined, phase: 'backfilling' })
        return
      case 'level':
        pauses.reset()
        return settle()
    }
  }

  async function rollBack({ ancestor, blockNumber, depth }: ChainEvent & { readonly kind: 'reorg' }) {
    const before = await store.state()
    board.change({ rollingBackTo: ancestor?.number ?? -1 })
    const startedMs = performance.now()
    if (ancestor === undefined) await store.rollbackAll()
    else await store.rollbackTo(ancestor)
    counts.rolledBack(depth, startedMs)
    pauses.reset()
    if (before.finalized !== undefined && blockNumber < before.finalized) {
      const place = { depth, blockNumber }
      logger.error('the chain reorganised behind final blocks; the index is marked as degraded', place)
    }
    const { head, indexedFrom, backfilled, degraded, finalized } = await store.state()
    board.change({
      rollingBackTo: undefined,
      indexedTo: head,
      indexedFrom: indexedFrom ?? lowestStart(startBlock),
      ...{ backfilled, degraded },
      // Of what was called final, what is gone: only what the node says from now on counts.
      finalized
    })
  }

  /** The index is level with the node: time for the pool, which must not hold up the next block. */
  async function settle(): Promise<void> {
    const failure = storeFailure
    storeFailure = undefined
    if (failure !== undefined) throw failure
    if (hasLooked) {
      pool.look().catch(error => {
        storeFailure = error
      })
    } else {
      await (hasPolled ? pool.look() : pool.lookAnew())
      hasPolled = true
      // Soon there are more blocks: a transaction that these have, and the pool has no more, is in neither until then.
      if (pool.isAhead()) return board.change({ phase, problem: undefined })
      await store.markSettled()
      hasLooked = true
    }
    if (!board.read().backfilled) {
      await store.markBackfilled()
      const { indexedFrom, indexedTo, startBlock: wanted = indexedFrom } = board.read()
      const range = { indexedTo: indexedTo?.number ?? 0 }
      if (indexedFrom <= wanted) logger.info('the first backfill is complete', range)
      else logger.info('the newest blocks are indexed, older ones follow', { indexedFrom, ...range })
    }
    board.change({ phase: 'following', backfilled: true, problem: undefined })
  }

  /** @returns how long to wait before the next attempt, in milliseconds. */
  async function takeFailure(error: unknown): Promise<number> {
    const failure = error instanceof BlockFailure ? error.cause : error
    const blockNumber = error instanceof BlockFailure ? error.blockNumber : undefined
    const isEmpty = board.read().indexedTo === undefined
    const facts = { chainId: identity.chainId, head: named.head, isEmpty, signal }
    const cause = await explainMissing(failure, blockNumber, source, facts)
    board.change(stalledBy(cause, blockNumber))
    const pauseMs = pauses.next(cause, error instanceof BlockFailure ? error.tries : undefined)
    const fields = {
      problem: describeProblem(cause, blockNumber),
      ...{ attempt: pauses.failures(), waitMs: Math.round(pauseMs) },
      ...(cause instanceof BrokenChecksError ? { suggestedWaivers: cause.waivers } : {})
    }
    // Its reports find a lost store too, within a second, and log it.
    if (cause instanceof StoreLostError) return pauseMs
    if (!(cause instanceof ChainDataError)) {
      logger.error('indexing is stalled', { ...fields, error: cause })
    } else if (pauses.isMilestone()) logger.warn('indexing is stalled', fields)
    return pauseMs
  }

  while (!signal.aborted) {
    // A store that fails ends the reading, also in the middle of a block that takes long.
    const reading = openAbortScope([signal])
    const commits = createCommits(write, () => reading.end())
    try {
      for await (const event of reader.events(reading.signal)) {
        if (event.kind === 'block') {
          await commits.add(event.block)
          continue
        }
        if (event.kind === 'fork') commits.dropFrom(event.blockNumber)
        await commits.finish()
        await apply(event)
      }
      await commits.finish()
    } catch (error) {
      const failure = await commits.finishAfter(error)
      if (signal.aborted) break
      if (failure instanceof StoreError && !(failure instanceof StoreLostError)) throw failure
      const cause = failure instanceof BlockFailure ? failure.cause : failure
      if (dev !== undefined && cause instanceof ConfigError) throw cause
      await wait(await takeFailure(failure), signal)
    } finally {
      reading.end()
    }
  }
  await pool.look().catch(() => undefined)
}

function highest(...numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter(number => number !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}
