import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { StoreWriter } from '../store/store.ts'
import type { ChainSource } from './chainSource.ts'
import { describeProblem } from './describeProblem.ts'
import type { StatusBoard } from './statusBoard.ts'

export interface PoolWatch {
  /**
   * Brings the stored pool up to date, unless the last look was only just now; joins a look that is under way.
   * Rejects when the store fails, never for the node's sake.
   */
  look(): Promise<void>
  /** The same, but the look begins after this call, however short ago the last one was. */
  lookAnew(): Promise<void>
}

/** Looking at the pool may take this share of the time: the pools of large chains are heavy. */
const largestShare = 1 / 10
/** But never less often: what is pending has to be known well enough to be shown. */
const longestPauseMs = 10_000
const retryAfterFailureMs = 10_000
/** Until the pool is known, first pages are refused. */
const retryUnseenMs = 2_000

/** @param options.intervalMs - shortest time between the beginnings of two looks. */
export function createPoolWatch(options: {
  readonly source: ChainSource
  readonly store: StoreWriter
  readonly board: StatusBoard
  readonly logger: Logger
  readonly intervalMs: number
  readonly signal: AbortSignal
}): PoolWatch {
  const { source, store, board, logger, intervalMs, signal } = options
  let nextLookMs = 0
  let underWay: Promise<void> | undefined
  /** Once the node has shown a pool, not showing it any more is a failure. */
  let hasShown = false
  /** And after a whole one, a part of one (from another upstream, say) would look as if the rest were gone. */
  let hasShownWhole = false

  async function lookOnce(): Promise<void> {
    const startedMs = performance.now()
    if (startedMs < nextLookMs) return
    try {
      const view = await source.pool(signal)
      // Whoever notices the reorg looks anew.
      if (view !== undefined && (await isOnAnotherPath(view.headAfter))) return
      if (view !== undefined && (view.complete || !hasShownWhole)) {
        const { complete, ...update } = view
        await store.updatePool(update)
        hasShown = true
        hasShownWhole = complete
        board.change({ poolCovered: complete, poolSeenAtMs: Date.now() })
      } else if (hasShown) {
        board.change({ poolCovered: false })
      } else {
        // Nobody knows any more what became of the entries that an earlier run has left.
        const { head } = await store.state()
        const seenAtSeconds = Math.floor(Date.now() / 1000)
        await store.updatePool({ present: [], seenAtSeconds, headAfter: head?.number ?? -1 })
        board.change({ poolCovered: false, poolSeenAtMs: Date.now() })
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
   * Whether the index has another block at this height than the node: a reorg that it has not met yet. What has left the
   * pool may be in the node's block then, so that heights say nothing of whether the index has it.
   */
  async function isOnAnotherPath(height: number): Promise<boolean> {
    const stored = await store.blockRef(height)
    return stored !== undefined && (await source.blockRef(height, signal))?.hash !== stored.hash
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
      nextLookMs = 0
      await look()
    }
  }
}
