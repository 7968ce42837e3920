import type { Hex } from '../../../model/evm.ts'
import { createKeccakState, permuteKeccak } from '../../../platform/permuteKeccak.ts'

const blockBytes = 136
const state = createKeccakState()
const block = Buffer.alloc(blockBytes)

/**
 * The first six bytes of the Keccak-256 hash of a value, as three numbers of 16 bits.
 * @param value - fewer than 136 bytes.
 * @see https://keccak.team/files/Keccak-reference-3.0.pdf
 */
export function keccakHead(value: Hex): readonly [number, number, number] {
  block.fill(0)
  const length = block.write(value.slice(2), 'hex')
  block[length] = 1
  block[blockBytes - 1] = (block[blockBytes - 1] ?? 0) | 0x80
  state.fill(0)
  for (let i = 0; i < blockBytes / 4; i++) state[i] = block.readInt32LE(4 * i)
  permuteKeccak(state)
  return headOfState()
}

/**
 * The same for a value that has been read already.
 * @param words - its bytes by fours, the first one lowest; 0 behind its end.
 * @param length - in bytes; a multiple of 4, fewer than 136.
 */
export function keccakHeadOf(words: Int32Array, length: number): readonly [number, number, number] {
  const count = length >> 2
  state.fill(0)
  for (let i = 0; i < count; i++) state[i] = words[i] ?? 0
  state[count] = 1
  const last = blockBytes / 4 - 1
  state[last] = (state[last] ?? 0) | (0x80 << 24)
  permuteKeccak(state)
  return headOfState()
}

function headOfState(): readonly [number, number, number] {
  const [first = 0, second = 0] = state
  return [swapped(first), swapped(first >>> 16), swapped(second)]
}

/** The lower two bytes of a word, read the other way round. */
function swapped(word: number): number {
  return ((word & 0xff) << 8) | ((word >>> 8) & 0xff)
}
