import { crc32 } from 'node:zlib'
import { IndexDamagedError } from '../platform/errors.ts'
import type { IdCoding } from './keys.ts'
import type { SectionSummary } from './SectionWriter.ts'
import { sectionList } from './sections.ts'
import { maxVarintLength, VarintReader, writeVarint } from './varint.ts'

/** One run, as the manifest lists it: what is known of consecutive blocks. It never changes, and its number is never used again. */
export interface Run extends IdCoding {
  readonly number: number
  readonly firstBlock: number
  readonly lastBlock: number
  /** Hash of the last block: a row that is left of a chain that was reorganised has another one. */
  readonly lastHash: Uint8Array
  readonly transactions: number
  /** Bits that indexes in a block have in its ids. */
  readonly indexBits: number
  /** By the numbers of the sections. */
  readonly sections: readonly SectionSummary[]
}

const sumLength = 4
const hashLength = 32

/** Encodes the manifest's row of a run, with a CRC-32 that begins with the chain. */
export function encodeRun(chainId: number, run: Run): Buffer {
  const bytes = Buffer.allocUnsafe(
    hashLength + maxVarintLength * (5 + 2 * sectionList.length) + 4 * sectionList.length + sumLength
  )
  let at = 0
  const { number, firstBlock, lastBlock, lastHash, transactions, indexBits } = run
  for (const each of [number, firstBlock, lastBlock - firstBlock, transactions, indexBits]) {
    at = writeVarint(bytes, at, each)
  }
  bytes.set(lastHash, at)
  at += hashLength
  for (const { rows, chunks, checksum } of run.sections) {
    at = writeVarint(bytes, at, rows)
    at = writeVarint(bytes, at, chunks)
    at = bytes.writeUInt32BE(checksum, at)
  }
  at = bytes.writeUInt32BE(crc32(bytes.subarray(0, at), chainId >>> 0), at)
  return bytes.subarray(0, at)
}

/** @throws {IndexDamagedError} it is not what `encodeRun` wrote for this chain. */
export function decodeRun(chainId: number, bytes: Uint8Array): Run {
  const end = bytes.length - sumLength
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (end < 0 || crc32(bytes.subarray(0, end), chainId >>> 0) !== view.getUint32(end)) {
    throw new IndexDamagedError({ part: 'manifest' }, 'the checksum of a run differs')
  }
  const reader = new VarintReader()
  reader.bytes = bytes
  const [number, firstBlock, blocks] = [reader.next(), reader.next(), reader.next()]
  const [transactions, indexBits] = [reader.next(), reader.next()]
  const lastHash = bytes.slice(reader.at, reader.at + hashLength)
  reader.at += hashLength
  const summaries = sectionList.map(() => {
    const [rows, chunks] = [reader.next(), reader.next()]
    const checksum = view.getUint32(reader.at)
    reader.at += sumLength
    return { rows, chunks, checksum }
  })
  const lastBlock = firstBlock + blocks
  return { number, firstBlock, lastBlock, lastHash, transactions, indexBits, sections: summaries }
}
