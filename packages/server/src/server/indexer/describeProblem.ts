import { ChainDataError } from '../../platform/errors.ts'
import { scrubText } from '../../platform/scrubText.ts'

const longestProblem = 300

/**
 * Why a chain does not move, in words fit for `SyncStatus.problem`: nodes put URLs and keys into their own errors.
 * @param blockNumber - the block that could not be had; the text begins with it.
 */
export function describeProblem(error: unknown, blockNumber?: number): string {
  const text = error instanceof ChainDataError ? error.message : `internal error: ${String(error)}`
  const place = blockNumber === undefined ? '' : `block ${blockNumber}: `
  return scrubText(text.startsWith(place) ? text : place + text, longestProblem)
}
