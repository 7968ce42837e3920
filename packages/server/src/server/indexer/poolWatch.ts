import type { BlockRef, PoolUpdate, StoreWriter } from '@chain-data/index'
import type { PoolView } from '../../evm/pool/pool.ts'
import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { IndexCounts } from './indexCounts.ts'
import { describeProblem, type StatusBoard } from './status.ts'

export interface PoolWatch {
  /**
   * Brings the stored pool up to date, unless the last poll was only just now; joins a poll that is under way.
   * Rejects when the store fails, never for the node's sake.
   */
  look(): Promise<void>
  /**
   * The same with a poll that begins after this call, however short ago the last one was. Until it has succeeded the pool
   * counts as unseen: an earlier poll may have seen that of another fork.
   */
  lookAnew(): Promise<void>
  /**
   * The pool was polled, but what had left it by then may be in a block that the index does not have yet. Until the index has
   * reached that block, a transaction may be in neither: the pool still counts as unseen.
   */
  isAhead(): boolean
}

/** Calls of a chain that the watch makes. */
export interface PoolSource {
  /** Polls the pool; `undefined` when the node shows none. */
  pool(signal?: AbortSignal): Promise<PoolView | undefined>
}

/** Share of the time that polls of the pool may take: the pools of large chains are heavy. */
const largestShare = 1 / 10
/** But never less often: what is pending has to be known well enough to be shown. */
const longestPauseMs = 10_000
const retryAfterFailureMs = 10_000
/** Until the pool is known, first pages are refused. */
const retryUnseenMs = 2_000
/**
 * A node that shows less of its pool than before may be another upstream for a moment; what it does not show would look as
 * if it were gone. After this time it is what there is.
 */
const disbeliefMs = 30_000

/** @param options.intervalMs - shortest time between the beginnings of two polls. */
export function createPoolWatch(options: {
  readonly source: PoolSource
  readonly store: StoreWriter
  readonly board: StatusBoard
  readonly counts: Pick<IndexCounts, 'polledPool'>
  readonly logger: Logger
  readonly intervalMs: number
  readonly signal: AbortSignal
}): PoolWatch {
  const { source, store, board, counts, logger, intervalMs, signal } = options
  let nextLookMs = 0
  let underWay: Promise<void> | undefined
  /** The most that the node is believed to show of its pool. */
  let believed: Extent = 'none'
  let showsLessSinceMs: number | undefined
  /** Height that the index has to reach before the polls since `lookAnew` count. */
  let aheadTo: number | undefined

  async function lookOnce(): Promise<void> {
    const startedMs = performance.now()
    if (startedMs < nextLookMs && aheadTo === undefined) return
    try {
      const view = await source.pool(signal)
      if (view !== undefined && (await isOutsideIndex(view.headAfter))) return
      if (believe(extentOf(view))) {
        const update = view === undefined ? await unknownPool() : toUpdate(view)
        await store.updatePool(update)
        counts.polledPool(update.present.length)
        board.change({ poolCovered: view?.complete === true && !view.leftOut })
        await noteSeen(update.headAfter)
      } else {
        board.change({ poolCovered: false })
      }
      const pauseMs = Math.min(longestPauseMs, (performance.now() - startedMs) / largestShare)
      nextLookMs = startedMs + Math.max(intervalMs, pauseMs)
    } catch (error) {
      if (signal.aborted) return
      const isTheNodes =
        error instanceof NodeUnavailableError ||
        error instanceof NodeContradictionError ||
        error instanceof NodeRpcError
      if (!isTheNodes) throw error
      const waitMs = board.read().poolSeenAtMs === undefined ? retryUnseenMs : retryAfterFailureMs
      nextLookMs = performance.now() + waitMs
      board.change({ poolCovered: false })
      logger.warn('the pool could not be read', { problem: describeProblem(error), waitMs })
    }
  }

  /**
   * The lowest height of several polls is enough, so that a chain may be quicker than the polls: what left the pool after that one
   * is stored as pending.
   */
  async function noteSeen(headAfter: number): Promise<void> {
    if (board.read().poolSeenAtMs === undefined) {
      aheadTo = Math.min(aheadTo ?? headAfter, headAfter)
      const { head } = await store.state()
      if ((head?.number ?? -1) < aheadTo) return
      aheadTo = undefined
    }
    board.change({ poolSeenAtMs: Date.now() })
  }

  /** Less than before is believed only once it has lasted. */
  function believe(extent: Extent): boolean {
    if (extents.indexOf(extent) < extents.indexOf(believed)) {
      showsLessSinceMs ??= performance.now()
      if (performance.now() - showsLessSinceMs < disbeliefMs) return false
      logger.warn('the node shows less of its pool than before', { problem: `${extent} of it` })
    }
    believed = extent
    showsLessSinceMs = undefined
    return true
  }

  /** @returns what the store takes; entries that left wait for the newest block that any node has named. */
  function toUpdate({ present, seenAtSeconds, headAfter }: PoolView): PoolUpdate {
    return { present, seenAtSeconds, headAfter: Math.max(headAfter.number, board.read().head ?? -1) }
  }

  /** Nobody knows any more what became of the entries that are stored. */
  async function unknownPool(): Promise<PoolUpdate> {
    const { head } = await store.state()
    return { present: [], seenAtSeconds: Math.floor(Date.now() / 1000), headAfter: head?.number ?? -1 }
  }

  /**
   * Reports whether a pool that was read at this block cannot be compared with the index. Below its first block, a node that lags
   * still shows transactions that blocks below the index have. Where the index has another block than the node, it has not met
   * a reorg yet: transactions that left the pool may be in a block that it does not have. The indexer polls anew once it has.
   */
  async function isOutsideIndex({ number, hash }: BlockRef): Promise<boolean> {
    const { head, indexedFrom = 0 } = await store.state()
    if (head !== undefined && number < indexedFrom) return true
    const stored = await store.blockRef(number)
    return stored !== undefined && stored.hash !== hash
  }

  function look(): Promise<void> {
    underWay ??= lookOnce().finally(() => {
      underWay = undefined
    })
    return underWay
  }

  return {
    look,
    async lookAnew() {
      await underWay
      // Set by a poll that began before this call and ended after the reorg was shown.
      board.change({ poolSeenAtMs: undefined })
      nextLookMs = 0
      aheadTo = undefined
      await look()
    },
    isAhead: () => aheadTo !== undefined
  }
}

/** From least to most: nothing, only some entries, the whole pool. */
const extents = ['none', 'part', 'whole'] as const
type Extent = (typeof extents)[number]

function extentOf(view: { readonly complete: boolean } | undefined): Extent {
  if (view === undefined) return 'none'
  return view.complete ? 'whole' : 'part'
}
