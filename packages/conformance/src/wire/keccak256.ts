const laneMask = (1n << 64n) - 1n
const rateBytes = 136

const roundConstants = deriveRoundConstants()

/** Bits by which each lane is turned, by `x + 5 * y`. */
const turns = deriveTurns()

/**
 * Keccak-256 as Ethereum uses it: the padding is that of the submission to the SHA-3 contest, not that of the standard.
 *
 * @param text - ASCII.
 * @returns 32 bytes.
 * @see https://keccak.team/keccak_specs_summary.html
 */
export function keccak256(text: string): Uint8Array {
  const message = Buffer.from(text, 'latin1')
  const padded = Buffer.alloc((Math.floor(message.length / rateBytes) + 1) * rateBytes)
  message.copy(padded)
  padded[message.length] = 0x01
  padded[padded.length - 1] = (padded.at(-1) ?? 0) | 0x80
  let state: bigint[] = Array(25).fill(0n)
  for (let block = 0; block < padded.length; block += rateBytes) {
    for (let lane = 0; lane < rateBytes / 8; lane++) {
      state[lane] = (state[lane] ?? 0n) ^ padded.readBigUInt64LE(block + lane * 8)
    }
    for (const constant of roundConstants) state = round(state, constant)
  }
  const digest = Buffer.alloc(32)
  for (let lane = 0; lane < 4; lane++) digest.writeBigUInt64LE(state[lane] ?? 0n, lane * 8)
  return digest
}

function turn(lane: bigint, by: number): bigint {
  return ((lane << BigInt(by)) | (lane >> BigInt(64 - by))) & laneMask
}

/** Theta, rho and pi, chi, iota. */
function round(state: readonly bigint[], constant: bigint): bigint[] {
  const at = (x: number, y: number) => state[(x % 5) + 5 * (y % 5)] ?? 0n
  const columns = [0, 1, 2, 3, 4].map(x => at(x, 0) ^ at(x, 1) ^ at(x, 2) ^ at(x, 3) ^ at(x, 4))
  const column = (x: number) => columns[x % 5] ?? 0n
  const moved: bigint[] = Array(25).fill(0n)
  for (let y = 0; y < 5; y++) {
    for (let x = 0; x < 5; x++) {
      const mixed = at(x, y) ^ column(x + 4) ^ turn(column(x + 1), 1)
      moved[y + 5 * ((2 * x + 3 * y) % 5)] = turn(mixed, turns[x + 5 * y] ?? 0)
    }
  }
  const movedAt = (x: number, y: number) => moved[(x % 5) + 5 * y] ?? 0n
  const next = moved.map((lane, index) => {
    const [x, y] = [index % 5, Math.floor(index / 5)]
    return lane ^ (~movedAt(x + 1, y) & laneMask & movedAt(x + 2, y))
  })
  next[0] = (next[0] ?? 0n) ^ constant
  return next
}

function deriveTurns(): readonly number[] {
  const all: number[] = Array(25).fill(0)
  let [x, y] = [1, 0]
  for (let step = 0; step < 24; step++) {
    all[x + 5 * y] = (((step + 1) * (step + 2)) / 2) % 64
    ;[x, y] = [y, (2 * x + 3 * y) % 5]
  }
  return all
}

/** From the linear feedback register x^8 + x^6 + x^5 + x^4 + 1. */
function deriveRoundConstants(): readonly bigint[] {
  let register = 1
  return Array.from({ length: 24 }, () => {
    let constant = 0n
    for (let power = 0; power < 7; power++) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** power - 1)
      register <<= 1
      if (register > 0xff) register ^= 0x171
    }
    return constant
  })
}
