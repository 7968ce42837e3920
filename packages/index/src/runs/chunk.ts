import { crc32 } from 'node:zlib'
import { IndexDamagedError } from '../platform/errors.ts'

/** Position of a chunk: its run, the number of its section, and its number within the section. */
export interface ChunkPosition {
  readonly run: number
  readonly section: number
  readonly number: number
}

/** A chunk as it is stored. */
export interface Chunk extends ChunkPosition {
  /** Sorts after every key of the chunk before it, and not after its own; empty in the first chunk of a section. */
  readonly lower: Uint8Array
  readonly bytes: Uint8Array
}

/** A chunk whose checksum agrees. */
export interface OpenChunk extends ChunkPosition {
  readonly lower: Uint8Array
  /** Lower bound of the next chunk; empty in the last chunk of a section. */
  readonly upper: Uint8Array
  readonly bytes: Uint8Array
  /** Offsets at which its rows begin and end. */
  readonly start: number
  readonly end: number
}

/** Creates the error of a chunk that is missing or altered: rows of its keys are unknown. */
export function damagedChunk({ run, section, number }: ChunkPosition, detail: string): IndexDamagedError {
  return new IndexDamagedError({ part: 'chunk', run, section, chunk: number }, detail)
}

/** Bytes of the checksum at the end of a chunk. */
const sumLength = 4

/*
 * A chunk is: length of its lower bound (1 byte), the bound, length of its upper bound (1), the bound, rows (see ChunkRows), CRC-32
 * (4, highest byte first) over all bytes before. The CRC begins with a number that follows from the chain and the position: a chunk
 * under another key does not agree.
 */

/** Builds the bytes of a chunk. */
export function sealChunk(
  chainId: number,
  position: ChunkPosition,
  lower: Uint8Array,
  upper: Uint8Array,
  rows: Uint8Array
): Buffer {
  const start = 2 + lower.length + upper.length
  const bytes = Buffer.allocUnsafe(start + rows.length + sumLength)
  bytes[0] = lower.length
  bytes.set(lower, 1)
  bytes[1 + lower.length] = upper.length
  bytes.set(upper, 2 + lower.length)
  bytes.set(rows, start)
  const end = start + rows.length
  bytes.writeUInt32BE(crc32(bytes.subarray(0, end), seedOf(chainId, position)), end)
  return bytes
}

/**
 * Checks the checksum of a chunk.
 * @throws {IndexDamagedError} it differs.
 */
export function openChunk(chainId: number, position: ChunkPosition, bytes: Uint8Array): OpenChunk {
  const end = bytes.length - sumLength
  if (end < 2 || crc32(bytes.subarray(0, end), seedOf(chainId, position)) !== checksumOf(bytes)) {
    throw damagedChunk(position, 'its checksum differs')
  }
  const lowerEnd = 1 + (bytes[0] ?? 0)
  const start = lowerEnd + 1 + (bytes[lowerEnd] ?? 0)
  const { run, section, number } = position
  return {
    ...{ run, section, number, bytes, start, end },
    lower: bytes.subarray(1, lowerEnd),
    upper: bytes.subarray(lowerEnd + 1, start)
  }
}

/** Returns the checksum at the end of a chunk. */
export function checksumOf(bytes: Uint8Array): number {
  const at = bytes.length - sumLength
  return (
    (((bytes[at] ?? 0) << 24) |
      ((bytes[at + 1] ?? 0) << 16) |
      ((bytes[at + 2] ?? 0) << 8) |
      (bytes[at + 3] ?? 0)) >>>
    0
  )
}

function seedOf(chainId: number, { run, section, number }: ChunkPosition): number {
  // Multiplied by odd numbers, so that neighbours begin with different numbers. Runs and chains may exceed 32 bits.
  const upper = Math.imul(Math.floor(run / 2 ** 32), 0x27d4eb2f) ^ Math.floor(chainId / 2 ** 32)
  const lower = Math.imul(run, 0x9e3779b1) ^ Math.imul(number, 0x85ebca6b) ^ Math.imul(chainId, 0xc2b2ae35)
  return (upper ^ lower ^ Math.imul(section + 1, 0x165667b1)) >>> 0
}
