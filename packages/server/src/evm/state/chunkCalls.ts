import { chunk } from '../../platform/concurrency/permits.ts'
import { type ContractCall, entryBytes } from './contractCalls.ts'
import { maxInputBytes } from './sendCalls.ts'

/** With the canary a batch of 100. */
const maxCallsPerBatch = 99

export interface ChunkLimits {
  readonly calls: number
  /** For plain calls: all that they may burn together. Absent: they share one input. */
  readonly gas?: number
}

/**
 * Shares calls out to exchanges, in their order.
 * @param indexes - which of the calls.
 */
export function chunkCalls(
  calls: readonly ContractCall[],
  indexes: readonly number[],
  limits: ChunkLimits
): readonly (readonly number[])[] {
  const room = limits.gas ?? maxInputBytes
  const maxCalls = limits.gas === undefined ? limits.calls : Math.min(limits.calls, maxCallsPerBatch)
  const chunks: number[][] = []
  let used = 0
  for (const index of indexes) {
    const call = calls[index]
    if (call === undefined) continue
    const size = limits.gas === undefined ? entryBytes(call) : call.gas
    const last = chunks.at(-1)
    if (last === undefined || last.length >= maxCalls || used + size > room) {
      chunks.push([index])
      used = size
    } else {
      last.push(index)
      used += size
    }
  }
  return chunks
}

/**
 * Takes an exchange apart: first into about as many pieces as each has calls, then into single calls; so that one call that
 * spoils its exchange is alone in the third.
 * @param isPiece - it was part of a larger one.
 */
export function piecesOf(indexes: readonly number[], isPiece: boolean): readonly (readonly number[])[] {
  const each = isPiece ? 1 : Math.floor(Math.sqrt(indexes.length))
  return chunk(indexes, each)
}
