import { StoreLostError, StoreUnavailableError } from '@chain-data/index'
import { backOffMs, jittered } from '../../platform/concurrency/pause.ts'
import { ConfigError, NodeUnavailableError } from '../../platform/errors.ts'

/** Pauses of an indexer after failures in a row. */
export interface RetryPauses {
  /**
   * The pause before the next attempt, in milliseconds.
   * @param blockTries - how often one block was asked for in vain; absent when the failure is not about one block.
   */
  next(error: unknown, blockTries?: number): number
  /** Failures since the last success. */
  failures(): number
  /** The last failure is worth a line in the log: the 1st, 2nd, 4th, 8th... since the last success. */
  isMilestone(): boolean
  reset(): void
}

const unavailable = { firstMs: 200, maxMs: 5_000 }
const contradiction = { firstMs: 200, maxMs: 3_000 }
/** Tries in a row after which pauses are long, so that a block that cannot be verified costs nothing. */
const patience = 10
const rareMs = 30_000
/** A wrong node stays wrong until an operator changes the configuration or the node. */
const wrongChainMs = 2_000
/** A check of a lost store costs nothing, and an operator who puts it back waits for it. */
const lostStoreMs = 1_000

export function createRetryPauses(): RetryPauses {
  let failures = 0
  let tries = 0
  return {
    next(error, blockTries) {
      failures++
      if (error instanceof ConfigError) return jittered(wrongChainMs)
      if (error instanceof StoreLostError) return lostStoreMs
      // A node that names its head, but cannot give one block, is not away: the block is the trouble.
      const isAway = error instanceof NodeUnavailableError && blockTries === undefined
      if (isAway || error instanceof StoreUnavailableError) {
        return jittered(backOffMs(unavailable, failures))
      }
      tries += blockTries ?? 1
      return tries >= patience ? rareMs : jittered(backOffMs(contradiction, failures))
    },
    failures: () => failures,
    isMilestone: () => Number.isInteger(Math.log2(failures)),
    reset() {
      failures = 0
      tries = 0
    }
  }
}
