import { ChainDataError } from '../platform/errors.ts'
import { scrubText } from '../platform/scrubText.ts'

const longestProblem = 300

/** Why a chain does not move, in words fit for `SyncStatus.problem`: nodes put URLs and keys into their own errors. */
export function describeProblem(error: unknown): string {
  const text = error instanceof ChainDataError ? error.message : `internal error: ${String(error)}`
  return scrubText(text, longestProblem)
}
