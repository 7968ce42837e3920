import { chunk } from '../../platform/concurrency/permits.ts'
import { type ContractCall, entryBytes } from './contractCalls.ts'
import { maxInputBytes } from './sendCalls.ts'

/** With the canary a batch of 100. */
const mostCallsPerBatch = 99

export interface ChunkLimits {
  readonly calls: number
  /** For calls that travel each for itself: all that they may burn together. Absent: they share one input. */
  readonly gas?: number
}

/**
 * Shares calls out to exchanges, in their order.
 * @param places - which of the calls.
 */
export function chunkPlaces(
  calls: readonly ContractCall[],
  places: readonly number[],
  limits: ChunkLimits
): readonly (readonly number[])[] {
  const room = limits.gas ?? maxInputBytes
  const mostCalls = limits.gas === undefined ? limits.calls : Math.min(limits.calls, mostCallsPerBatch)
  const chunks: number[][] = []
  let used = 0
  for (const place of places) {
    const call = calls[place]
    if (call === undefined) continue
    const size = limits.gas === undefined ? entryBytes(call) : call.gas
    const last = chunks.at(-1)
    if (last === undefined || last.length >= mostCalls || used + size > room) {
      chunks.push([place])
      used = size
    } else {
      last.push(place)
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
export function piecesOf(places: readonly number[], isPiece: boolean): readonly (readonly number[])[] {
  const each = isPiece ? 1 : Math.floor(Math.sqrt(places.length))
  return chunk(places, each)
}
