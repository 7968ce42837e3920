import { ChainDataError, StoreLostError, type StoreWriter } from '@chain-data/index'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { BrokenChecksError } from '../../evm/blocks/verification/blockChecks.ts'
import { lowestStart } from '../../model/startBlock.ts'
import { type ChainEvent, type ChainReaderOptions, firstBlock } from './ChainReader.ts'
import { explainMissing } from './explainMissing.ts'
import { BlockFailure } from './fetchAhead.ts'
import { createProgressLog, type IndexCounts } from './indexCounts.ts'
import { createPoolWatch, type PoolSource, type PoolWatch } from './poolWatch.ts'
import { createRetryPauses } from './retryPauses.ts'
import { describeProblem, type StatusBoard, stalledBy } from './status.ts'

export interface FollowedIndexOptions
  extends Pick<
    ChainReaderOptions,
    'identity' | 'startBlock' | 'pollIntervalMs' | 'logger' | 'roundBlocks' | 'recentBlocks' | 'dev'
  > {
  readonly source: EvmSource & PoolSource
  readonly store: StoreWriter
  readonly board: StatusBoard
  readonly counts: IndexCounts
  readonly signal: AbortSignal
}

/** An index that follows its chain: what each event of the chain does to the store, the pool and the board. */
export class FollowedIndex {
  readonly #options: FollowedIndexOptions
  readonly #pool: PoolWatch
  readonly #logProgress: ReturnType<typeof createProgressLog>
  readonly #pauses = createRetryPauses()
  /** The newest blocks that the node has named. */
  #named: { readonly head: number; readonly finalized?: number } = { head: -1 }
  #phase: 'backfilling' | 'following' = 'backfilling'
  /** Failure of the store in a poll of the pool, which runs next to the blocks. */
  #storeFailure: unknown
  /**
   * The pool has been polled. Before that "nothing pending" would be a guess, so the chain does not count as followed; the
   * same holds after a reorg, which may have thrown transactions back into the pool.
   */
  #hasLooked = false
  /** The pool has been polled since then, but may be ahead of the index. */
  #hasPolled = false

  constructor(options: FollowedIndexOptions) {
    const { source, store, board, counts, logger, signal, pollIntervalMs: intervalMs } = options
    this.#options = options
    this.#pool = createPoolWatch({ source, store, board, counts, logger, signal, intervalMs })
    this.#logProgress = createProgressLog({ counts, logger })
  }

  /** Stores the next blocks. */
  async write(batch: Parameters<StoreWriter['commitBlocks']>[0]): Promise<void> {
    const { store, board, counts, logger } = this.#options
    const { head, finalized } = this.#named
    const startedMs = performance.now()
    // Afterwards the batch may be with another thread.
    const [blocks, transactions, last] = [batch.headers.length, batch.ids.length, batch.headers.at(-1)]
    await store.commitBlocks(batch, {
      ...(head >= 0 && { head }),
      ...(finalized !== undefined && this.#keepsFinality() && { finalized })
    })
    counts.committed({ blocks, transactions, startedMs })
    this.#pauses.reset()
    if (last === undefined) return
    // In one change: a reader that waits for blocks in place of removed ones must not see them still marked as degraded.
    const degraded = board.read().degraded && (await store.state()).degraded
    board.change({ indexedTo: last.ref, degraded, problem: undefined })
    this.#showPhase()
    this.#logProgress(head - last.ref.number, { indexedTo: last.ref.number, head })
    logger.debug('stored blocks', { count: blocks, indexedTo: last.ref.number })
  }

  /** Takes an event; all blocks that came before it are stored. */
  async apply(event: Exclude<ChainEvent, { readonly kind: 'block' }>): Promise<void> {
    const { store, board } = this.#options
    switch (event.kind) {
      case 'head':
        return this.#takeHead(event)
      case 'fork':
        return this.#beginFork()
      case 'reorg':
        return this.#rollBack(event)
      case 'final':
        if (!this.#keepsFinality()) return
        await store.markFinal(event.blockNumber)
        board.change({ degraded: (await store.state()).degraded })
        return
      case 'waiting':
        this.#pauses.reset()
        board.change({ problem: undefined, phase: 'backfilling' })
        return
      case 'level':
        this.#pauses.reset()
        return this.#settle()
    }
  }

  /**
   * Shows why the index does not move.
   * @returns how long to wait before the next attempt, in milliseconds.
   */
  async takeFailure(error: unknown): Promise<number> {
    const { source, board, logger, identity, signal } = this.#options
    const failure = error instanceof BlockFailure ? error.cause : error
    const blockNumber = error instanceof BlockFailure ? error.blockNumber : undefined
    const isEmpty = board.read().indexedTo === undefined
    const facts = { chainId: identity.chainId, head: this.#named.head, isEmpty, signal }
    const cause = await explainMissing(failure, blockNumber, source, facts)
    board.change(stalledBy(cause, blockNumber))
    const pauseMs = this.#pauses.next(cause, error instanceof BlockFailure ? error.tries : undefined)
    const fields = {
      problem: describeProblem(cause, blockNumber),
      ...{ attempt: this.#pauses.failures(), waitMs: Math.round(pauseMs) },
      ...(cause instanceof BrokenChecksError ? { suggestedWaivers: cause.waivers } : {})
    }
    // Its reports find a lost store too, within a second, and log it.
    if (cause instanceof StoreLostError) return pauseMs
    if (!(cause instanceof ChainDataError)) {
      logger.error('indexing is stalled', { ...fields, error: cause })
    } else if (this.#pauses.isMilestone()) logger.warn('indexing is stalled', fields)
    return pauseMs
  }

  /** Ends with a last look at the pool. */
  async end(): Promise<void> {
    await this.#pool.look().catch(() => undefined)
  }

  /**
   * No block of a development chain is final, so that going back never makes its index degraded. A mark from before it was
   * one ends as any other.
   */
  #keepsFinality(): boolean {
    return this.#options.dev === undefined || this.#options.board.read().degraded
  }

  /** A chain that has stalled stays so until something has come of the next attempt. */
  #showPhase(): void {
    if (this.#pauses.failures() === 0) this.#options.board.change({ phase: this.#phase })
  }

  async #takeHead(event: ChainEvent & { readonly kind: 'head' }): Promise<void> {
    const { store, board, startBlock, recentBlocks, roundBlocks, dev } = this.#options
    this.#named = event
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
    this.#phase = this.#hasLooked && board.read().backfilled && isNear ? 'following' : 'backfilling'
    this.#showPhase()
  }

  /**
   * From here on until the next time that index and pool are level with the node, transactions may be in neither. Shown
   * before anything is removed, so that no reader is shown the gap.
   */
  #beginFork(): void {
    this.#hasLooked = false
    this.#hasPolled = false
    this.#phase = 'backfilling'
    this.#showPhase()
    this.#options.board.change({ poolSeenAtMs: undefined })
  }

  async #rollBack({ ancestor, blockNumber, depth }: ChainEvent & { readonly kind: 'reorg' }): Promise<void> {
    const { store, board, counts, logger, startBlock } = this.#options
    const before = await store.state()
    board.change({ rollingBackTo: ancestor?.number ?? -1 })
    const startedMs = performance.now()
    if (ancestor === undefined) await store.rollbackAll()
    else await store.rollbackTo(ancestor)
    counts.rolledBack(depth, startedMs)
    this.#pauses.reset()
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
  async #settle(): Promise<void> {
    const { store, board } = this.#options
    const failure = this.#storeFailure
    this.#storeFailure = undefined
    if (failure !== undefined) throw failure
    if (this.#hasLooked) {
      this.#pool.look().catch(error => {
        this.#storeFailure = error
      })
    } else {
      await (this.#hasPolled ? this.#pool.look() : this.#pool.lookAnew())
      this.#hasPolled = true
      // Soon there are more blocks: a transaction that these have, and the pool has no more, is in neither until then.
      if (this.#pool.isAhead()) return board.change({ phase: this.#phase, problem: undefined })
      await store.markSettled()
      this.#hasLooked = true
    }
    if (!board.read().backfilled) await this.#markBackfilled()
    board.change({ phase: 'following', backfilled: true, problem: undefined })
  }

  async #markBackfilled(): Promise<void> {
    const { store, board, logger } = this.#options
    await store.markBackfilled()
    const { indexedFrom, indexedTo, startBlock: wanted = indexedFrom } = board.read()
    const range = { indexedTo: indexedTo?.number ?? 0 }
    if (indexedFrom <= wanted) logger.info('the first backfill is complete', range)
    else logger.info('the newest blocks are indexed, older ones follow', { indexedFrom, ...range })
  }
}

function highest(...numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter(number => number !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}
