import { setTimeout as sleep } from 'node:timers/promises'
import type { BlockRef } from '../model/evm.ts'
import {
  ChainDataError,
  ConfigError,
  NodeContradictionError,
  NodeUnavailableError,
  StoreError
} from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { ChainIdentity, StoreWriter } from '../store/store.ts'
import { backfill } from './backfill.ts'
import type { ChainSource } from './chainSource.ts'
import { checkIdentity } from './checkIdentity.ts'
import { describeProblem } from './describeProblem.ts'
import { createPoolWatch } from './poolWatch.ts'
import { createProgress } from './progress.ts'
import { resolveReorg } from './reorg.ts'
import { createRetryPauses } from './retryPauses.ts'
import type { StatusBoard } from './statusBoard.ts'

export interface FollowOptions {
  readonly source: ChainSource
  readonly store: StoreWriter
  readonly identity: ChainIdentity
  /** First block of an empty index. */
  readonly startBlock: number
  readonly pollIntervalMs: number
  readonly board: StatusBoard
  readonly logger: Logger
  /** Ends the work after the commit under way. */
  readonly signal: AbortSignal
  /** Blocks fetched or waiting at the same time; 16. */
  readonly window?: number
  /** Blocks between two looks at the head during a long catch-up; 2,000. */
  readonly roundBlocks?: number
  /** How long the node's head may stay below the index before blocks it no longer knows are given up; 30 s. */
  readonly lowerHeadGraceMs?: number
}

/** So often blocks are fetched anew at once; a node that still contradicts itself then is left alone for a while. */
const mostFruitlessRounds = 3

/**
 * Keeps the store equal to the node's canonical chain until `signal` ends it: asks for the head again and again, fetches
 * what is missing, goes back when the chain reorganises. Nothing that the node says wrong and nothing that it does not
 * say ends this; the board tells meanwhile why the index does not move.
 *
 * @returns when `signal` is aborted.
 * @throws {StoreError} when the store cannot be written; only a new writer may help.
 */
export async function follow(options: FollowOptions): Promise<void> {
  const { source, store, identity, board, logger, signal } = options
  const window = options.window ?? 16
  const roundBlocks = options.roundBlocks ?? 2_000
  const lowerHeadGraceMs = options.lowerHeadGraceMs ?? 30_000
  const progress = createProgress({ logger })
  const pool = createPoolWatch({ source, store, board, logger, signal, intervalMs: options.pollIntervalMs })
  const pauses = createRetryPauses()
  let identityConfirmed = false
  let lowerHeadSinceMs: number | undefined
  /** Times in a row that the node's blocks did not fit to each other, but all that is stored was right. */
  let fruitlessRounds = 0
  /** What went wrong with the store while the pool was looked at beside the blocks. */
  let storeFailure: unknown
  /**
   * Until the pool was looked at, "nothing pending" would be a guess: so long the chain does not count as followed. The
   * same holds again after a reorg, which may have thrown transactions back into the pool.
   */
  let hasLooked = false

  const confirmIdentity = async () => {
    checkIdentity(await source.identity(signal), identity)
    identityConfirmed = true
  }

  /** @returns whether the index has reached the head that the node named at the start of the round. */
  async function runRound(): Promise<boolean> {
    if (!identityConfirmed) await confirmIdentity()
    const { head, finalized } = await source.head(signal)
    const stored = (await store.state()).head
    // A lagging node must not take back what was final already.
    const known = board.read().finalized
    const finalHeight = finalized === undefined ? known : Math.max(finalized, known ?? 0)
    board.change({ head: head.number, finalized: finalHeight })

    if (stored !== undefined && head.number <= stored.number) {
      return meetLowerHead(head, stored, finalHeight)
    }
    lowerHeadSinceMs = undefined
    const from = stored === undefined ? options.startBlock : stored.number + 1
    if (from > head.number) return false
    const to = Math.min(head.number, from + roundBlocks - 1)
    const isFollowing = hasLooked && board.read().backfilled && to === head.number
    board.change({ phase: isFollowing ? 'following' : 'backfilling' })
    const broken = await backfill({
      source,
      store,
      from,
      to,
      window,
      signal,
      ...(stored === undefined ? {} : { parent: stored }),
      ...(finalized === undefined ? {} : { finalized }),
      onCommit(blocks) {
        pauses.reset()
        fruitlessRounds = 0
        const last = blocks.at(-1)
        if (last !== undefined) board.change({ indexedTo: last.ref, problem: undefined })
        progress.record(blocks, head.number)
        logger.debug('stored blocks', {
          count: blocks.length,
          ...(last ? { indexedTo: last.ref.number } : {})
        })
      }
    })
    if (broken === undefined) return to === head.number
    await goBack(broken - 1, finalHeight)
    return false
  }

  /** A head at or below the stored one: a node that lags, or a chain that became another or shorter one. */
  async function meetLowerHead(
    head: BlockRef,
    stored: BlockRef,
    finalized: number | undefined
  ): Promise<boolean> {
    const storedThere = await store.blockRef(head.number)
    if (storedThere === undefined) {
      throw new NodeContradictionError(`the node's head ${head.number} is below the first indexed block`)
    }
    if (storedThere.hash !== head.hash) {
      lowerHeadSinceMs = undefined
      await goBack(head.number, finalized)
      return false
    }
    if (head.number === stored.number) {
      lowerHeadSinceMs = undefined
      return true
    }
    lowerHeadSinceMs ??= performance.now()
    const waitedLongEnough = performance.now() - lowerHeadSinceMs >= lowerHeadGraceMs
    if (!waitedLongEnough || (await source.knowsBlock(stored.hash, signal))) return true
    if (finalized !== undefined && head.number < finalized) {
      throw new NodeContradictionError(
        `the node's head ${head.number} is below block ${finalized}, which was final`
      )
    }
    logger.warn('the chain became shorter', { head: head.number, depth: stored.number - head.number })
    leaveHead()
    await store.rollbackTo(head)
    board.change({ indexedTo: head })
    lowerHeadSinceMs = undefined
    return true
  }

  /**
   * From here on until the next time that index and pool are level with the node, transactions may be in neither. Told
   * before anything is removed, so that nobody is shown the gap.
   */
  function leaveHead(): void {
    hasLooked = false
    board.change({ phase: 'backfilling', poolSeenAtMs: undefined })
  }

  async function goBack(suspect: number, finalized: number | undefined): Promise<void> {
    leaveHead()
    const removed = await resolveReorg({
      source,
      store,
      suspect,
      logger,
      signal,
      confirmIdentity,
      ...(finalized === undefined ? {} : { finalized })
    })
    const state = await store.state()
    if (!removed) {
      // Two blocks that do not fit, of which none is stored: most likely a reorg passed while they were fetched.
      if ((state.head?.number ?? -1) < suspect && fruitlessRounds++ < mostFruitlessRounds) return
      throw new NodeContradictionError(`block ${suspect}: the node names two different ones`, {
        blockNumber: suspect
      })
    }
    fruitlessRounds = 0
    const wentBehindFinal = finalized !== undefined && (state.head?.number ?? -1) < finalized
    board.change({
      indexedTo: state.head,
      backfilled: state.backfilled,
      degraded: state.degraded,
      // What was called final is gone: only what the node says from now on counts.
      ...(wentBehindFinal ? { finalized: undefined } : {})
    })
  }

  /** The index is level with the node: time for the pool, which must not hold up the next block. */
  async function settle(): Promise<void> {
    if (storeFailure !== undefined) throw storeFailure
    if (hasLooked) {
      pool.look().catch(error => {
        storeFailure = error
      })
    } else {
      await pool.lookAnew()
      hasLooked = true
    }
    if (!board.read().backfilled) {
      await store.markBackfilled()
      logger.info('the first backfill is complete', { indexedTo: board.read().indexedTo?.number ?? 0 })
    }
    board.change({ phase: 'following', backfilled: true, problem: undefined })
  }

  while (!signal.aborted) {
    let pauseMs: number
    try {
      const reached = await runRound()
      pauses.reset()
      board.change({ problem: undefined })
      if (reached) await settle()
      else if (board.read().phase === 'stalled') board.change({ phase: 'backfilling' })
      const waitsForStart = !reached && board.read().indexedTo === undefined
      pauseMs = reached || waitsForStart ? options.pollIntervalMs : 0
    } catch (error) {
      if (signal.aborted) break
      if (error instanceof StoreError) throw error
      if (error instanceof NodeUnavailableError || error instanceof ConfigError) identityConfirmed = false
      const problem = describeProblem(error)
      board.change({ phase: 'stalled', problem })
      pauseMs = pauses.next(error)
      const fields = { problem, attempt: pauses.failures(), waitMs: Math.round(pauseMs) }
      if (!(error instanceof ChainDataError)) logger.error('indexing is stalled', { ...fields, error })
      else if (pauses.isMilestone()) logger.warn('indexing is stalled', fields)
    }
    if (pauseMs > 0) await sleep(pauseMs, undefined, { signal }).catch(() => undefined)
  }
  await pool.look().catch(() => undefined)
}
