import type { ContractCall } from './contractCall.ts'
import { entryBytes } from './encodeCalls.ts'
import { maxInputBytes } from './sendProgram.ts'
import type { WayName } from './wayMemory.ts'

/** With the canary a batch of 100. */
const maxCallsPerBatch = 99
/** Bounds what one batch may cost the node, and with it what it may answer: memory has to be paid for in gas. */
const maxGasPerBatch = 100_000_000

/**
 * Shares calls out to exchanges, in their order.
 * @param places - which of the calls.
 * @param most - calls per exchange.
 */
export function chunkPlaces(
  calls: readonly ContractCall[],
  places: readonly number[],
  way: WayName,
  most: number
): readonly (readonly number[])[] {
  const isPlain = way === 'plain'
  const room = isPlain ? maxGasPerBatch : maxInputBytes
  const mostCalls = isPlain ? Math.min(most, maxCallsPerBatch) : most
  const chunks: number[][] = []
  let used = 0
  for (const place of places) {
    const call = calls[place]
    if (call === undefined) continue
    const size = isPlain ? call.gas : entryBytes(call)
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
 * Takes an exchange apart into about as many pieces as each has calls, so that one call that spoils its exchange is alone
 * after two more exchanges.
 */
export function piecesOf(places: readonly number[]): readonly (readonly number[])[] {
  const count = places.length
  if (count <= 1) return [places]
  const each = Math.min(Math.ceil(Math.sqrt(count)), count - 1)
  return Array.from({ length: Math.ceil(count / each) }, (_, i) => places.slice(i * each, (i + 1) * each))
}
