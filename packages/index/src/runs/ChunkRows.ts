import type { OpenChunk } from './chunk.ts'
import { type IdCoding, toId } from './keys.ts'
import { maxShared } from './SectionWriter.ts'
import type { Section } from './sections.ts'
import { VarintReader } from './varint.ts'

const noBytes = new Uint8Array(0)

/** The first rows of a group: their ids as offsets in their run, ascending, and their roles. */
export interface GroupOffsets {
  readonly count: number
  readonly offsets: Float64Array
  /** 0 in sections without roles. */
  readonly roles: Uint8Array
}

/**
 * Reads the rows of one chunk, whose checksum agreed, in their order: `begin`, then `nextGroup` until it returns false, and
 * `nextRow` for the rows of a group. Rows that were not read are passed over. The object can be reused.
 */
export class ChunkRows {
  readonly #section: Section
  readonly #reader = new VarintReader()
  #coding: IdCoding = { firstBlock: 0, indexBits: 0 }
  #end = 0
  #left = 0
  #offset = 0
  #own: Uint8Array = noBytes
  /** The group: its bytes, as far as `groupLength`. */
  group: Uint8Array = noBytes
  groupLength = 0
  /** Rows of the group in this chunk. */
  count = 0
  /** The row. */
  id = 0
  /** Where the value of the row begins in the bytes of the chunk, and how long it is. */
  value = 0
  valueLength = 0

  constructor(section: Section) {
    this.#section = section
  }

  get bytes(): Uint8Array {
    return this.#reader.bytes
  }

  begin({ bytes, start, end }: OpenChunk, coding: IdCoding): void {
    this.#reader.bytes = bytes
    this.#reader.at = start
    this.#end = end
    this.#coding = coding
    this.#left = 0
    this.groupLength = 0
  }

  /** Goes to the next group. @returns false: there is none. */
  nextGroup(): boolean {
    while (this.#left > 0) this.#skipRow()
    const reader = this.#reader
    if (reader.at >= this.#end) return false
    const shared = this.#readHead()
    const length = this.#length(shared)
    this.#takeGroup(shared, length)
    return true
  }

  /**
   * Goes to a group, from the beginning of the chunk on.
   * @returns false: the chunk does not have it.
   */
  findGroup(wanted: Uint8Array): boolean {
    /** How many bytes of the group before agree with the wanted one, which sorts after it. */
    let matched = 0
    for (;;) {
      while (this.#left > 0) this.#skipRow()
      const reader = this.#reader
      if (reader.at >= this.#end) return false
      const shared = this.#readHead()
      const length = this.#length(shared)
      const start = reader.at
      // It shares fewer bytes with the one before than the wanted one does: it sorts after both.
      if (shared < matched && shared < maxShared) return false
      let same = Math.min(shared, matched)
      if (shared <= matched) {
        while (same < wanted.length && same < shared + length) {
          const at = same < shared ? wanted[same] : reader.bytes[start + same - shared]
          if (at !== wanted[same]) break
          same++
        }
        if (same === wanted.length && shared + length === wanted.length) {
          // The group is known: its bytes need not be copied.
          this.group = wanted
          this.groupLength = wanted.length
          reader.at = start + length
          return true
        }
        const order = (reader.bytes[start + same - shared] ?? 0) - (wanted[same] ?? 0)
        if (same === wanted.length || (same < shared + length && order > 0)) return false
        matched = same
      }
      reader.at = start + length
    }
  }

  /** Goes to the next row of the group. @returns false: there is none. */
  nextRow(): boolean {
    if (this.#left === 0) return false
    this.#skipRow()
    this.id = toId(this.#coding, this.#offset)
    return true
  }

  /**
   * Reads the rows of the group up to an offset. Their ids stay offsets: of many rows few are wanted.
   * @param before - the first offset that is not wanted.
   */
  readGroup(before: number): GroupOffsets {
    const { valueLength } = this.#section
    const reader = this.#reader
    const offsets = new Float64Array(this.#left)
    const roles = new Uint8Array(this.#left)
    let count = 0
    for (let offset = 0; this.#left > 0; this.#left--, count++) {
      offset += reader.next()
      if (offset >= before) break
      offsets[count] = offset
      if (valueLength === 1) roles[count] = reader.byte()
    }
    return { count, offsets, roles }
  }

  #readHead(): number {
    const head = this.#reader.byte()
    this.count = head >>> 5 || this.#reader.next()
    this.#left = this.count
    this.#offset = 0
    return head & maxShared
  }

  #length(shared: number): number {
    const { groupLength } = this.#section
    return groupLength === null ? this.#reader.next() : groupLength - shared
  }

  #takeGroup(shared: number, length: number): void {
    const { bytes, at } = this.#reader
    if (this.#own.length < shared + length || this.group !== this.#own) {
      const larger = new Uint8Array(Math.max(96, 2 * (shared + length)))
      larger.set(this.group.subarray(0, shared))
      this.#own = larger
      this.group = larger
    }
    for (let i = 0; i < length; i++) this.group[shared + i] = bytes[at + i] ?? 0
    this.groupLength = shared + length
    this.#reader.at = at + length
  }

  #skipRow(): void {
    const reader = this.#reader
    this.#offset += reader.next()
    this.valueLength = this.#section.valueLength ?? reader.next()
    this.value = reader.at
    reader.at += this.valueLength
    this.#left--
  }
}
