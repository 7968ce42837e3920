const mask = (1n << 64n) - 1n

/** How far each lane is turned in the rho step, lane `x + 5y`. */
const turns = [
  0, 1, 62, 28, 27, 36, 44, 6, 55, 20, 3, 10, 43, 25, 39, 41, 45, 15, 21, 8, 18, 2, 61, 56, 14
] as const

const rounds = roundConstants()

/**
 * Keccak-256 of at most 135 bytes of ASCII, as hex: enough for the checksum of an address.
 *
 * @see https://keccak.team/keccak_specs_summary.html
 */
export function keccak256(text: string): string {
  const block = new Uint8Array(136)
  block.set(new TextEncoder().encode(text))
  block[text.length] = 0x01
  block[135] = (block[135] ?? 0) | 0x80
  const words = new DataView(block.buffer)
  let state = Array.from({ length: 25 }, (_, lane) => (lane < 17 ? words.getBigUint64(lane * 8, true) : 0n))
  for (const constant of rounds) state = permute(state, constant)
  return state.slice(0, 4).map(littleEndianHex).join('')
}

/** One round: theta, rho and pi, chi, iota. */
function permute(before: readonly bigint[], constant: bigint): bigint[] {
  const at = (lanes: readonly bigint[], x: number, y: number) => lanes[(x % 5) + 5 * (y % 5)] ?? 0n
  const columns = [0, 1, 2, 3, 4].map(x => [0, 1, 2, 3, 4].reduce((sum, y) => sum ^ at(before, x, y), 0n))
  const column = (x: number) => columns[x % 5] ?? 0n
  const moved = new Array<bigint>(25).fill(0n)
  for (let lane = 0; lane < 25; lane++) {
    const x = lane % 5
    const y = (lane - x) / 5
    const mixed = (before[lane] ?? 0n) ^ column(x + 4) ^ turn(column(x + 1), 1)
    moved[y + 5 * ((2 * x + 3 * y) % 5)] = turn(mixed, turns[lane] ?? 0)
  }
  return moved.map((value, lane) => {
    const x = lane % 5
    const y = (lane - x) / 5
    const next = value ^ (~at(moved, x + 1, y) & mask & at(moved, x + 2, y))
    return lane === 0 ? next ^ constant : next
  })
}

function turn(value: bigint, by: number): bigint {
  return ((value << BigInt(by)) | (value >> BigInt(64 - by))) & mask
}

/** The 24 constants of iota: bits of a linear shift register at the positions 2^j - 1. */
function roundConstants(): bigint[] {
  let register = 1
  return Array.from({ length: 24 }, () => {
    let constant = 0n
    for (let j = 0; j <= 6; j++) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** j - 1)
      register = register & 0x80 ? ((register << 1) ^ 0x171) & 0xff : register << 1
    }
    return constant
  })
}

function littleEndianHex(lane: bigint): string {
  const hex = lane.toString(16).padStart(16, '0')
  return hex.match(/../g)?.reverse().join('') ?? ''
}
