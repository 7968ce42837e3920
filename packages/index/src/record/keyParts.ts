import { crc32 } from 'node:zlib'

/** Parts that keys are divided into, by their first 12 bits. */
export const partCount = 4096

/** Returns the part of a key. */
export function partOf(key: Uint8Array): number {
  return ((key[0] ?? 0) << 4) | ((key[1] ?? 0) >> 4)
}

/** Returns the bytes with which the keys of a part begin; of the part after the last one, bytes that sort after every key. */
export function startOfPart(part: number): Uint8Array {
  return part >= partCount ? Buffer.alloc(33, 0xff) : Buffer.of(part >> 4, (part & 15) << 4)
}

/** Computes the checksum of a key and its number. */
export function sumOfKey(key: Uint8Array, number: number): number {
  return crc32(key, number >>> 0)
}
