import { createKeccakState, permuteKeccak } from './permuteKeccak.gen.ts'

/** Bytes that one permutation takes. */
const rate = 136
const words = createKeccakState()
const state = new Uint8Array(words.buffer)

/**
 * Returns the Keccak-256 hash of bytes of any length.
 * @see https://keccak.team/files/Keccak-reference-3.0.pdf
 */
export function keccak256(bytes: Uint8Array): Uint8Array {
  words.fill(0)
  let from = 0
  for (; from + rate <= bytes.length; from += rate) {
    for (let i = 0; i < rate; i++) state[i] = (state[i] ?? 0) ^ (bytes[from + i] ?? 0)
    permuteKeccak(words)
  }
  const rest = bytes.length - from
  for (let i = 0; i < rest; i++) state[i] = (state[i] ?? 0) ^ (bytes[from + i] ?? 0)
  state[rest] = (state[rest] ?? 0) ^ 1
  state[rate - 1] = (state[rate - 1] ?? 0) ^ 0x80
  permuteKeccak(words)
  return state.slice(0, 32)
}
