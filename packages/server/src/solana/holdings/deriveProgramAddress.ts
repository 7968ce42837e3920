import { createHash } from 'node:crypto'

const marker = new TextEncoder().encode('ProgramDerivedAddress')

/**
 * Derives the address that a Solana program signs for: the first hash of the seeds, the number from 255 down, and the program that is no point
 * of the curve, so that nobody has a key for it.
 *
 * @param seeds - of at most 32 bytes each.
 * @param program - 32 bytes.
 * @returns 32 bytes.
 * @see https://solana.com/docs/core/pda
 */
export function deriveProgramAddress(seeds: readonly Uint8Array[], program: Uint8Array): Uint8Array {
  for (let bump = 255; bump >= 0; bump--) {
    const hash = createHash('sha256')
    for (const part of [...seeds, Uint8Array.of(bump), program, marker]) hash.update(part)
    const address = hash.digest()
    if (!isOnCurve(address)) return address
  }
  throw new Error('every hash of these seeds is a point of the curve')
}

/** Prime of the field of Ed25519, and the constant of its curve (RFC 8032, section 5.1). */
const prime = 2n ** 255n - 19n
const curveD = 37095705934669439343138083508754565189542113879843219016388785533085940283555n

/**
 * Tells whether 32 bytes are a point of Ed25519 (RFC 8032, section 5.1.3): whether an x belongs to their y. With
 * x² = u / v there is one where u·v is a square.
 */
function isOnCurve(bytes: Uint8Array): boolean {
  const littleEndian = Buffer.from(bytes).reverse()
  const isOdd = (littleEndian[0] ?? 0) >= 0x80
  const y = BigInt(`0x${littleEndian.toString('hex')}`) & (2n ** 255n - 1n)
  if (y >= prime) return false
  const u = (y * y - 1n) % prime
  // x is 0, which has no odd spelling.
  if (u === 0n) return !isOdd
  const v = (curveD * y * y + 1n) % prime
  return isSquare((((u * v) % prime) + prime) % prime)
}

/** By Euler: a square to the power of (prime - 1) / 2, which is 2^254 - 10, is 1. */
function isSquare(value: bigint): boolean {
  const squared = (number: bigint, times: number) => {
    let power = number
    for (let time = 0; time < times; time++) power = (power * power) % prime
    return power
  }
  // Powers of 2^n - 1, for n from 1 to 250: twice as many by squaring n times and multiplying.
  const ones = (count: number): bigint => {
    if (count === 1) return value
    const half = ones(Math.floor(count / 2))
    const even = (squared(half, Math.floor(count / 2)) * half) % prime
    return count % 2 === 0 ? even : (squared(even, 1) * value) % prime
  }
  const squareOf = squared(value, 1)
  const sixth = (squared(squareOf, 1) * squareOf) % prime
  return (squared(ones(250), 4) * sixth) % prime === 1n
}
