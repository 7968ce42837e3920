import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { StoreWriter } from '../store/store.ts'
import type { ChainSource } from './chainSource.ts'
import type { StatusBoard } from './statusBoard.ts'

export interface PoolWatch {
  /** Brings the stored pool up to date, unless the last look was only just now. Never throws for the node's sake. */
  look(signal: AbortSignal): Promise<void>
}

/** Looking at the pool may take this share of the time: the pools of large chains are heavy. */
const largestShare = 1 / 10
const retryAfterFailureMs = 10_000

/** @param options.intervalMs - shortest time between two looks. */
export function createPoolWatch(options: {
  readonly source: ChainSource
  readonly store: StoreWriter
  readonly board: StatusBoard
  readonly logger: Logger
  readonly intervalMs: number
}): PoolWatch {
  const { source, store, board, logger, intervalMs } = options
  let nextLookMs = 0
  return {
    async look(signal) {
      const startedMs = performance.now()
      if (startedMs < nextLookMs) return
      try {
        const view = await source.pool(signal)
        if (view !== undefined) {
          const { complete, ...update } = view
          await store.updatePool(update)
          board.change({ poolCovered: complete, poolSeenAtMs: Date.now() })
        } else {
          board.change({ poolCovered: false })
        }
        const tookMs = performance.now() - startedMs
        nextLookMs = startedMs + Math.max(intervalMs, tookMs / largestShare)
      } catch (error) {
        const isTheNodes =
          error instanceof NodeUnavailableError ||
          error instanceof NodeContradictionError ||
          error instanceof NodeRpcError
        if (!isTheNodes) throw error
        nextLookMs = performance.now() + retryAfterFailureMs
        board.change({ poolCovered: false })
        logger.warn('the pool could not be read', { problem: error.message, waitMs: retryAfterFailureMs })
      }
    }
  }
}
