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
}

/** Looking at the pool may take this share of the time: the pools of large chains are heavy. */
const largestShare = 1 / 10
/** But never less often: what is pending has to be known well enough to be shown. */
const longestPauseMs = 10_000
const retryAfterFailureMs = 10_000

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

  async function lookOnce(): Promise<void> {
    const startedMs = performance.now()
    if (startedMs < nextLookMs) return
    try {
      const view = await source.pool(signal)
      if (view === undefined) {
        board.change({ poolCovered: false })
      } else {
        const { complete, ...update } = view
        await store.updatePool(update)
        board.change({ poolCovered: complete, poolSeenAtMs: Date.now() })
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
      nextLookMs = performance.now() + retryAfterFailureMs
      board.change({ poolCovered: false })
      logger.warn('the pool could not be read', {
        problem: describeProblem(error),
        waitMs: retryAfterFailureMs
      })
    }
  }

  return {
    look() {
      underWay ??= lookOnce().finally(() => {
        underWay = undefined
      })
      return underWay
    }
  }
}
