import { ConfigError, NodeUnavailableError } from '../platform/errors.ts'

/** How long an indexer waits after one failure after another. */
export interface RetryPauses {
  /** The pause before the next attempt, in milliseconds. */
  next(error: unknown): number
  /** Failures since the last success. */
  failures(): number
  /** The last failure is worth a line in the log: the 1st, 2nd, 4th, 8th... since the last success. */
  isMilestone(): boolean
  reset(): void
}

const unavailableLongestMs = 5_000
const contradictionLongestMs = 3_000
/** After so many failures in a row only a visit now and then, so that a block nobody can verify costs nothing. */
const patience = 10
const rareMs = 30_000
/** A wrong node stays wrong until somebody changes the configuration or the node. */
const wrongChainMs = 2_000

export function createRetryPauses(): RetryPauses {
  let failures = 0
  return {
    next(error) {
      failures++
      const grown = 100 * 2 ** Math.min(failures, 10)
      const jitter = 0.5 + Math.random() / 2
      if (error instanceof ConfigError) return wrongChainMs * jitter
      if (error instanceof NodeUnavailableError) return Math.min(unavailableLongestMs, grown) * jitter
      return failures > patience ? rareMs : Math.min(contradictionLongestMs, grown) * jitter
    },
    failures: () => failures,
    isMilestone: () => Number.isInteger(Math.log2(failures)),
    reset() {
      failures = 0
    }
  }
}
