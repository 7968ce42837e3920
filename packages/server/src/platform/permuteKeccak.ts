/*
 * Keccak-f[1600], for hashes of one short block: blooms and checksummed addresses need one for each of many thousand new
 * values, and the library's function for any length and form takes several times as long.
 */

const words = 50

/** The state of one hash: 25 lanes of 64 bits, each two words, the lower one first. */
export const createKeccakState = (): Int32Array => new Int32Array(words)

/** Where a lane goes in the step pi, as the place of its lower word, and how far rho turns it. */
const places = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1].map(
  lane => 2 * lane
)
const turns = [1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44]

/** Constants of the step iota, lower and upper word of each round in turn. */
const constants = Int32Array.from(
  [
    '0000000000000001 0000000000008082 800000000000808a 8000000080008000 000000000000808b 0000000080000001',
    '8000000080008081 8000000000008009 000000000000008a 0000000000000088 0000000080008009 000000008000000a',
    '000000008000808b 800000000000008b 8000000000008089 8000000000008003 8000000000008002 8000000000000080',
    '000000000000800a 800000008000000a 8000000080008081 8000000000008080 0000000080000001 8000000080008008'
  ]
    .flatMap(line => line.split(' '))
    .flatMap(lane => [Number.parseInt(lane.slice(8), 16) | 0, Number.parseInt(lane.slice(0, 8), 16) | 0])
)

const column = new Int32Array(10)

/**
 * All 24 rounds, in place.
 * @see https://keccak.team/files/Keccak-reference-3.0.pdf
 */
export function permuteKeccak(state: Int32Array): void {
  for (let round = 0; round < constants.length; round += 2) {
    theta(state)
    rhoAndPi(state)
    chi(state)
    state[0] = (state[0] ?? 0) ^ (constants[round] ?? 0)
    state[1] = (state[1] ?? 0) ^ (constants[round + 1] ?? 0)
  }
}

function theta(state: Int32Array): void {
  for (let i = 0; i < 10; i++)
    column[i] = at(state, i) ^ at(state, i + 10) ^ at(state, i + 20) ^ at(state, i + 30) ^ at(state, i + 40)
  for (let i = 0; i < 10; i += 2) {
    const before = (i + 8) % 10
    const after = (i + 2) % 10
    const low = column[after] ?? 0
    const high = column[after + 1] ?? 0
    const addLow = (column[before] ?? 0) ^ ((low << 1) | (high >>> 31))
    const addHigh = (column[before + 1] ?? 0) ^ ((high << 1) | (low >>> 31))
    for (let j = i; j < words; j += 10) {
      state[j] = at(state, j) ^ addLow
      state[j + 1] = at(state, j + 1) ^ addHigh
    }
  }
}

function rhoAndPi(state: Int32Array): void {
  let low = at(state, 2)
  let high = at(state, 3)
  for (let i = 0; i < 24; i++) {
    const turn = turns[i] ?? 0
    const place = places[i] ?? 0
    if (turn >= 32) [low, high] = [high, low]
    const by = turn & 31
    const newLow = (low << by) | (high >>> (32 - by))
    const newHigh = (high << by) | (low >>> (32 - by))
    low = at(state, place)
    high = at(state, place + 1)
    state[place] = newLow
    state[place + 1] = newHigh
  }
}

function chi(state: Int32Array): void {
  for (let row = 0; row < words; row += 10) {
    for (let half = row; half < row + 2; half++) {
      const a = at(state, half)
      const b = at(state, half + 2)
      const c = at(state, half + 4)
      const d = at(state, half + 6)
      const e = at(state, half + 8)
      state[half] = a ^ (~b & c)
      state[half + 2] = b ^ (~c & d)
      state[half + 4] = c ^ (~d & e)
      state[half + 6] = d ^ (~e & a)
      state[half + 8] = e ^ (~a & b)
    }
  }
}

function at(state: Int32Array, place: number): number {
  return state[place] ?? 0
}
