import type { ChainIdentity } from '../../index/port/status.ts'
import type { StoreWriter, WriterState } from '../../index/port/writer.ts'
import type { BlockRef } from '../../model/evm.ts'
import { lowestStart, type StartBlock } from '../../model/startBlock.ts'
import { ChainDataError, NodeContradictionError, StoreError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { backfill } from './backfill.ts'
import type { ChainSource } from './chainSource.ts'
import { checkIdentity } from './checkIdentity.ts'
import { describeProblem } from './describeProblem.ts'
import { BlockFailure } from './fetchInOrder.ts'
import { createPoolWatch } from './poolWatch.ts'
import { createProgress } from './progress.ts'
import { resolveReorg } from './reorg.ts'
import { createRetryPauses } from './retryPauses.ts'
import type { StatusBoard } from './statusBoard.ts'
import { type Wait, waitByClock } from './wait.ts'

export interface FollowOptions {
  readonly source: ChainSource
  readonly store: StoreWriter
  readonly identity: ChainIdentity
  /** First block of an empty index; `latest` is found out as long as it is empty. */
  readonly startBlock: StartBlock
  readonly pollIntervalMs: number
  readonly board: StatusBoard
  readonly logger: Logger
  /** Ends the work after the commit under way. */
  readonly signal: AbortSignal
  /** Blocks fetched or waiting at the same time; 32. */
  readonly window?: number
  /** Blocks between two looks at the head during a long catch-up; 2,000. */
  readonly roundBlocks?: number
  /** How long the node's head may stay below the index before blocks it no longer knows are given up; 30 s. */
  readonly lowerHeadGraceMs?: number
  /** The clock of every pause; tests bring their own. */
  readonly wait?: Wait
}

/**
 * How a round ended. `level`: the index has reached the head that the node named at its start. `behind`: there is more
 * to do at once. `waiting`: nothing can be done before the node says something new.
 */
type Round = 'level' | 'behind' | 'waiting'

/** Tries at one block before the index counts as stalled: most contradictions are gone a moment later. */
const quickTries = 5
/** So often blocks are fetched anew at once; a node that still contradicts itself then is left alone for a while. */
const mostFruitlessRounds = 3
/** So many reorgs may follow each other without a pause; nodes on two forks in turn would make it spin. */
const mostReorgsAtOnce = 10

/**
 * Keeps the store equal to the node's canonical chain until `signal` ends it: asks for the head again and again, fetches
 * what is missing, goes back when the chain reorganises. Nothing that the node says wrong and nothing that it does not
 * say ends this; the board tells meanwhile why the index does not move.
 *
 * @returns when `signal` is aborted.
 * @throws {StoreError} when the store cannot be written; only a new writer may help.
 */
export async function follow(options: FollowOptions): Promise<void> {
  const { source, store, identity, board, logger, signal, wait = waitByClock } = options
  const window = options.window ?? 32
  const roundBlocks = options.roundBlocks ?? 2_000
  const lowerHeadGraceMs = options.lowerHeadGraceMs ?? 30_000
  const progress = createProgress({ logger })
  const pool = createPoolWatch({ source, store, board, logger, signal, intervalMs: options.pollIntervalMs })
  const pauses = createRetryPauses()
  let identityConfirmed = false
  let lowerHeadSinceMs: number | undefined
  /** Times in a row that the node's blocks did not fit to each other, but all that is stored was right. */
  let fruitlessRounds = 0
  let reorgsSinceLevel = 0
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

  async function runRound(): Promise<Round> {
    // At the same time: whoever takes over from another indexer is waited for.
    const [{ head, finalized }] = await Promise.all([
      source.head(signal),
      identityConfirmed ? undefined : confirmIdentity()
    ])
    const state = await store.state()
    // A lagging node must not take back what was final already.
    board.change({
      head: head.number,
      finalized: highest(finalized, board.read().finalized, state.finalized)
    })

    if (state.head !== undefined && head.number <= state.head.number) {
      return meetLowerHead(head, state.head, state, finalized)
    }
    lowerHeadSinceMs = undefined
    const from = state.head === undefined ? findStart(finalized) : state.head.number + 1
    if (from > head.number) {
      tellMoving('backfilling')
      return 'waiting'
    }
    const to = Math.min(head.number, from + roundBlocks - 1)
    const phase = hasLooked && board.read().backfilled && to === head.number ? 'following' : 'backfilling'
    tellMoving(phase)
    const outcome = await backfill({
      ...{ source, store, from, to, window, signal, wait },
      // Whoever has failed once already is asked once a round, so that the pauses below are the whole of it.
      tries: pauses.failures() === 0 ? quickTries : 1,
      ...(state.head === undefined ? {} : { parent: state.head }),
      ...(finalized === undefined ? {} : { finalized }),
      async onCommit(blocks) {
        pauses.reset()
        fruitlessRounds = 0
        const last = blocks.at(-1)
        if (last !== undefined) {
          // Together: whoever waits for the blocks that make up for removed ones must not be told that they are not enough.
          const degraded = board.read().degraded && (await store.state()).degraded
          board.change({ indexedTo: last.ref, degraded, problem: undefined })
          tellMoving(phase)
        }
        progress.record(blocks, head.number)
        logger.debug('stored blocks', {
          count: blocks.length,
          ...(last ? { indexedTo: last.ref.number } : {})
        })
      }
    })
    if (outcome.kind === 'failed') throw outcome.failure
    if (outcome.kind === 'unlinked') {
      await goBack(outcome.blockNumber - 1)
      return 'behind'
    }
    return to === head.number ? 'level' : 'behind'
  }

  /** Of an empty index. What lies below the newest final block is never reorganised, so whoever reads it there may keep it. */
  function findStart(finalized: number | undefined): number {
    const { startBlock } = options
    const start = startBlock === 'latest' ? (finalized ?? 0) : startBlock
    board.change({ indexedFrom: start })
    return start
  }

  /** A head at or below the stored one: a node that lags, or a chain that became another or shorter one. */
  async function meetLowerHead(
    head: BlockRef,
    stored: BlockRef,
    state: WriterState,
    finalized: number | undefined
  ): Promise<Round> {
    const storedThere = await store.blockRef(head.number)
    if (storedThere !== undefined && storedThere.hash !== head.hash) {
      lowerHeadSinceMs = undefined
      await goBack(head.number)
      return 'behind'
    }
    if (head.number === stored.number) {
      lowerHeadSinceMs = undefined
      if (finalized !== undefined) await store.markFinal(finalized)
      board.change({ degraded: (await store.state()).degraded })
      return 'level'
    }
    lowerHeadSinceMs ??= performance.now()
    const waitedLongEnough = performance.now() - lowerHeadSinceMs >= lowerHeadGraceMs
    if (!waitedLongEnough || (await source.knowsBlock(stored.hash, signal))) {
      // A node that lags cannot say that a first backfill is complete: another one has named blocks above.
      return state.backfilled ? 'level' : 'waiting'
    }
    await confirmIdentity()
    if (state.finalized !== undefined && head.number < state.finalized) {
      throw new NodeContradictionError(
        `the node's head ${head.number} is below block ${state.finalized}, which was final; ` +
          'expected the node to catch up, or to show another block'
      )
    }
    logger.warn('the chain became shorter', { head: head.number, depth: stored.number - head.number })
    leaveHead()
    board.change({ rollingBackTo: storedThere?.number ?? -1 })
    if (storedThere === undefined) await store.rollbackAll()
    else await store.rollbackTo(storedThere)
    await tellRollback()
    lowerHeadSinceMs = undefined
    return 'behind'
  }

  /**
   * From here on until the next time that index and pool are level with the node, transactions may be in neither. Told
   * before anything is removed, so that nobody is shown the gap.
   */
  function leaveHead(): void {
    hasLooked = false
    tellMoving('backfilling')
    board.change({ poolSeenAtMs: undefined })
  }

  /** A chain that has stalled stays so until something has come of the next attempt. */
  function tellMoving(phase: 'backfilling' | 'following'): void {
    if (pauses.failures() === 0) board.change({ phase })
  }

  async function goBack(suspect: number): Promise<void> {
    leaveHead()
    const removed = await resolveReorg({
      ...{ source, store, suspect, logger, signal, confirmIdentity },
      onRollback: kept => board.change({ rollingBackTo: kept })
    })
    if (!removed) {
      // Most likely a reorg passed while the blocks were fetched, and back again if they did not fit to a stored one.
      if (fruitlessRounds++ < mostFruitlessRounds) return
      const problem = `block ${suspect}: the node names two different ones`
      const tries = fruitlessRounds === mostFruitlessRounds + 1 ? fruitlessRounds : 1
      throw new BlockFailure(suspect, tries, new NodeContradictionError(problem, { blockNumber: suspect }))
    }
    pauses.reset()
    fruitlessRounds = 0
    reorgsSinceLevel++
    await tellRollback()
  }

  async function tellRollback(): Promise<void> {
    const { head, indexedFrom, backfilled, degraded, finalized } = await store.state()
    board.change({
      rollingBackTo: undefined,
      indexedTo: head,
      indexedFrom: indexedFrom ?? lowestStart(options.startBlock),
      ...{ backfilled, degraded },
      // Of what was called final, what is gone: only what the node says from now on counts.
      finalized
    })
  }

  /** The index is level with the node: time for the pool, which must not hold up the next block. */
  async function settle(): Promise<void> {
    if (storeFailure !== undefined) throw storeFailure
    fruitlessRounds = 0
    reorgsSinceLevel = 0
    if (hasLooked) {
      pool.look().catch(error => {
        storeFailure = error
      })
    } else {
      await pool.lookAnew()
      await store.markSettled()
      hasLooked = true
    }
    if (!board.read().backfilled) {
      await store.markBackfilled()
      logger.info('the first backfill is complete', { indexedTo: board.read().indexedTo?.number ?? 0 })
    }
    board.change({ phase: 'following', backfilled: true, problem: undefined })
  }

  /** @returns how long to wait before the next round. */
  function takeFailure(error: unknown): number {
    // Whatever is wrong, the node may be another one by the next round.
    identityConfirmed = false
    const cause = error instanceof BlockFailure ? error.cause : error
    const blockNumber = error instanceof BlockFailure ? error.blockNumber : undefined
    const problem = describeProblem(cause, blockNumber)
    board.change({ phase: 'stalled', problem, rollingBackTo: undefined })
    const pauseMs = pauses.next(cause, error instanceof BlockFailure ? error.tries : undefined)
    const fields = { problem, attempt: pauses.failures(), waitMs: Math.round(pauseMs) }
    if (!(cause instanceof ChainDataError)) {
      logger.error('indexing is stalled', { ...fields, error: cause })
    } else if (pauses.isMilestone()) logger.warn('indexing is stalled', fields)
    return pauseMs
  }

  while (!signal.aborted) {
    let pauseMs: number
    let pause = wait
    try {
      const round = await runRound()
      if (round !== 'behind') pauses.reset()
      if (round === 'level') await settle()
      if (round === 'waiting') board.change({ problem: undefined, phase: 'backfilling' })
      const hurries = round === 'behind' && reorgsSinceLevel <= mostReorgsAtOnce
      pauseMs = hurries ? 0 : options.pollIntervalMs
      pause = source.waitForHead ?? wait
    } catch (error) {
      if (signal.aborted) break
      if (error instanceof StoreError) throw error
      pauseMs = takeFailure(error)
    }
    if (pauseMs > 0) await pause(pauseMs, signal)
  }
  await pool.look().catch(() => undefined)
}

function highest(...numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter(number => number !== undefined)
  return known.length === 0 ? undefined : Math.max(...known)
}
