import { crc32 } from 'node:zlib'
import { type Chunk, type ChunkPosition, checksumOf, sealChunk } from './chunk.ts'
import { type IdCoding, rowKey, separatorOf, toOffset } from './keys.ts'
import type { Section } from './sections.ts'
import { maxVarintLength, writeVarint } from './varint.ts'

/** A chunk ends before the row that would make its rows longer than this. Larger chunks take longer to read than they save. */
const maxRowBytes = 640
/** Bits of a group's first byte that say how many bytes it shares with the group before. */
const sharedBits = 5
export const maxShared = 2 ** sharedBits - 1
/** Largest number of rows that has room in a group's first byte. */
const maxShortCount = 7

/** What a run's manifest says of one section. */
export interface SectionSummary {
  readonly rows: number
  readonly chunks: number
  /** CRC-32 over the checksums of the chunks, in their order. */
  readonly checksum: number
}

/**
 * Writes the rows of one section, in the order of their keys, into chunks.
 *
 * The rows of a chunk: for each group one byte (how many bytes it shares with the group before, and the number of rows, 0 where
 * that follows as a varint), the length of the other bytes where groups differ in length, those bytes, then the rows. A row is a
 * varint (its id as an offset, less that of the row before it in the group), and its value (after its length where values differ
 * in length). A group with many rows goes on in the next chunk.
 */
export class SectionWriter {
  readonly #section: Section
  readonly #chainId: number
  readonly #run: number
  readonly #coding: IdCoding
  readonly #put: (chunk: Chunk) => void
  /** Groups of the chunk that are complete. */
  #groups = new Uint8Array(4 * maxRowBytes)
  #groupsLength = 0
  /** Rows of the group that is being written. */
  #rows = new Uint8Array(2 * maxRowBytes)
  #rowsLength = 0
  #rowCount = 0
  /** The last row: its group, whose first `#shared` bytes are those of the group before it in the chunk, its id and its offset. */
  #group: Uint8Array | undefined
  #shared = 0
  #id = -1
  #offset = 0
  #isFirstGroup = true
  #lower: Uint8Array = Buffer.alloc(0)
  #number = 0
  #total = 0
  #checksum = 0
  readonly #sums = Buffer.alloc(4)

  /** @param put - takes each chunk, in their order. */
  constructor(section: Section, chainId: number, run: number, coding: IdCoding, put: (chunk: Chunk) => void) {
    this.#section = section
    this.#chainId = chainId
    this.#run = run
    this.#coding = coding
    this.#put = put
  }

  /**
   * Writes a row whose key sorts after that of the row before.
   * @param group - the bytes of its group from `start` on.
   * @param value - the bytes of its value from `valueStart` on.
   */
  add(
    group: Uint8Array,
    start: number,
    length: number,
    id: number,
    value: Uint8Array,
    valueStart: number,
    valueLength: number
  ): void {
    const isNew = !this.#isGroup(group, start, length)
    if (this.#groupsLength + this.#rowsLength + valueLength > maxRowBytes && this.#rowCount > 0) {
      this.#endChunk(group, start, length, id)
      this.#begin(group, start, length, isNew)
    } else if (isNew) {
      this.#endGroup()
      this.#begin(group, start, length, true)
    }
    const offset = toOffset(this.#coding, id)
    this.#reserve(valueLength)
    const rows = this.#rows
    let at = writeVarint(rows, this.#rowsLength, this.#rowCount === 0 ? offset : offset - this.#offset)
    if (this.#section.valueLength === null) at = writeVarint(rows, at, valueLength)
    for (let i = 0; i < valueLength; i++) rows[at + i] = value[valueStart + i] ?? 0
    this.#rowsLength = at + valueLength
    this.#rowCount++
    this.#total++
    this.#id = id
    this.#offset = offset
  }

  /** Ends the section. */
  finish(): SectionSummary {
    if (this.#rowCount > 0) {
      this.#endGroup()
      this.#emit(Buffer.alloc(0))
    }
    return { rows: this.#total, chunks: this.#number, checksum: this.#checksum }
  }

  #isGroup(group: Uint8Array, start: number, length: number): boolean {
    const last = this.#group
    if (last?.length !== length) return false
    for (let i = length - 1; i >= 0; i--) if (last[i] !== group[start + i]) return false
    return true
  }

  #begin(group: Uint8Array, start: number, length: number, isNew: boolean): void {
    let shared = 0
    if (!this.#isFirstGroup && this.#group !== undefined) {
      const most = Math.min(this.#group.length, length, maxShared)
      while (shared < most && this.#group[shared] === group[start + shared]) shared++
    }
    this.#shared = shared
    if (!isNew) return
    if (this.#group?.length !== length) this.#group = new Uint8Array(length)
    for (let i = 0; i < length; i++) this.#group[i] = group[start + i] ?? 0
  }

  #endGroup(): void {
    if (this.#rowCount === 0 || this.#group === undefined) return
    const rest = this.#group.length - this.#shared
    const needed = this.#groupsLength + 3 * maxVarintLength + rest + this.#rowsLength
    if (needed > this.#groups.length) this.#groups = grown(this.#groups, needed)
    const groups = this.#groups
    let at = this.#groupsLength
    const isShort = this.#rowCount <= maxShortCount
    groups[at++] = this.#shared | (isShort ? this.#rowCount << sharedBits : 0)
    if (!isShort) at = writeVarint(groups, at, this.#rowCount)
    if (this.#section.groupLength === null) at = writeVarint(groups, at, rest)
    for (let i = this.#shared; i < this.#group.length; i++) groups[at++] = this.#group[i] ?? 0
    groups.set(this.#rows.subarray(0, this.#rowsLength), at)
    this.#groupsLength = at + this.#rowsLength
    this.#rowsLength = 0
    this.#rowCount = 0
    this.#isFirstGroup = false
  }

  /** Ends the chunk before a row. */
  #endChunk(group: Uint8Array, start: number, length: number, id: number): void {
    const last = rowKey(this.#group ?? group, this.#id)
    const first = rowKey(group.subarray(start, start + length), id)
    this.#endGroup()
    this.#emit(separatorOf(last, first))
  }

  #emit(upper: Uint8Array): void {
    const position: ChunkPosition = {
      run: this.#run,
      section: this.#section.number,
      number: this.#number++
    }
    const lower = this.#lower
    const bytes = sealChunk(
      this.#chainId,
      position,
      lower,
      upper,
      this.#groups.subarray(0, this.#groupsLength)
    )
    this.#sums.writeUInt32BE(checksumOf(bytes))
    this.#checksum = crc32(this.#sums, this.#checksum)
    this.#put({ ...position, lower, bytes })
    this.#lower = upper
    this.#groupsLength = 0
    this.#isFirstGroup = true
  }

  #reserve(valueLength: number): void {
    const needed = this.#rowsLength + 2 * maxVarintLength + valueLength
    if (needed > this.#rows.length) this.#rows = grown(this.#rows, needed)
  }
}

function grown(bytes: Uint8Array<ArrayBuffer>, needed: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(needed, 2 * bytes.length))
  larger.set(bytes)
  return larger
}
