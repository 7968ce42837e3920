import type { Hex } from '../../../model/evm.ts'
import { isAbsent, readBytes } from '../../../nodes/evm/rawFields.ts'
import { keccakHead } from './keccakHead.ts'

/** 2048 bits, as bytes, the most significant first. */
export type Bloom = Uint8Array

const bloomBytes = 256
/** What most receipts say, since most transactions log nothing. */
const emptyText = `0x${'00'.repeat(bloomBytes)}`

/** Three bits of a bloom, from 0 to 2047. */
type Positions = readonly [number, number, number]

/**
 * A memo of a pure function, hence shared by all callers: the same tokens and event signatures come back in block
 * after block, and hashing is what a bloom costs. When full it begins anew, since keeping the order of use costs
 * more than it saves.
 */
const knownPositions = new Map<Hex, Positions>()
const mostKnown = 16_384

/** A bloom with nothing in it. */
export function createBloom(): Bloom {
  return new Uint8Array(bloomBytes)
}

/**
 * Puts the address or a topic of a log into a bloom: each sets the three bits that the first three pairs of bytes of
 * its hash name.
 * @param value - 20 or 32 bytes, lower case.
 * @see Ethereum Yellow Paper, section 4.3.1 (M3:2048)
 */
export function addToBloom(bloom: Bloom, value: Hex): void {
  let positions = knownPositions.get(value)
  if (positions === undefined) {
    const [first, second, third] = keccakHead(value)
    positions = [first & 2047, second & 2047, third & 2047]
    if (knownPositions.size >= mostKnown) knownPositions.clear()
    knownPositions.set(value, positions)
  }
  setBit(bloom, positions[0])
  setBit(bloom, positions[1])
  setBit(bloom, positions[2])
}

function setBit(bloom: Bloom, position: number): void {
  const byte = bloomBytes - 1 - (position >> 3)
  bloom[byte] = (bloom[byte] ?? 0) | (1 << (position & 7))
}

/** Puts everything that is in `other` into `bloom`. */
export function mergeBloom(bloom: Bloom, other: Bloom): void {
  for (let i = 0; i < bloomBytes; i++) bloom[i] = (bloom[i] ?? 0) | (other[i] ?? 0)
}

/** Whether both have exactly the same bits. */
export function sameBloom(a: Bloom, b: Bloom): boolean {
  return Buffer.compare(a, b) === 0
}

/** Whether nothing is in it. */
export function isEmptyBloom(bloom: Bloom): boolean {
  return bloom.every(byte => byte === 0)
}

/**
 * A bloom as a node writes it. Any number of zeros stands for the empty one: some nodes write `0x0`.
 * @returns `undefined` where the node has none; `0x` counts as none.
 * @throws {NodeContradictionError} when it is not hex.
 */
export function readBloom(value: unknown, what: string): Bloom | undefined {
  if (isAbsent(value) || value === '0x') return undefined
  if (value === emptyText) return createBloom()
  if (typeof value === 'string' && /^0x0+$/i.test(value)) return createBloom()
  return Buffer.from(readBytes(value, what).slice(2), 'hex')
}
