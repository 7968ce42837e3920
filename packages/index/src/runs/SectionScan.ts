import { crc32 } from 'node:zlib'
import { ChunkRows } from './ChunkRows.ts'
import { checksumOf, damagedChunk, type OpenChunk, openChunk } from './chunk.ts'
import type { ChunkReads } from './chunkReads.ts'
import { compareKeys } from './keys.ts'
import type { Run } from './run.ts'
import type { Section } from './sections.ts'

/** Chunks that are read of a run at once. */
const chunksAtOnce = 32

/**
 * Reads all rows of one section of a run in order, and proves on the way that no chunk is missing, and at the end that they are
 * those that the manifest lists.
 */
export class SectionScan {
  readonly rows: ChunkRows
  readonly run: Run
  readonly #chainId: number
  readonly #section: Section
  #chunks: OpenChunk[] = []
  #next: Uint8Array | undefined = new Uint8Array(0)
  #number = 0
  #checksum = 0
  readonly #sums = Buffer.alloc(4)

  constructor(chainId: number, section: Section, run: Run) {
    this.#chainId = chainId
    this.#section = section
    this.run = run
    this.rows = new ChunkRows(section)
    if ((run.sections[section.number]?.chunks ?? 0) === 0) this.#next = undefined
  }

  /** Goes to the next group in this chunk or in the next ones. @returns false: there is none. */
  nextGroup(reads: ChunkReads): boolean | Promise<boolean> {
    if (this.rows.nextGroup()) return true
    const chunk = this.#chunks.shift()
    if (chunk === undefined) return this.#next === undefined ? false : this.#read(reads)
    this.rows.begin(chunk, this.run)
    return this.rows.nextGroup()
  }

  async #read(reads: ChunkReads): Promise<boolean> {
    const from = this.#next ?? new Uint8Array(0)
    const found = await reads.scan(this.run.number, this.#section.number, from, chunksAtOnce)
    if (found.length === 0) throw this.#damaged('it is missing')
    let expected: Uint8Array | undefined = from
    for (const { number, bytes } of found) {
      if (number !== this.#number) throw this.#damaged('it is missing')
      const chunk = openChunk(this.#chainId, this.#position(), bytes)
      if (expected === undefined || compareKeys(chunk.lower, expected) !== 0) {
        throw this.#damaged('its bounds differ from those of the chunk before')
      }
      expected = chunk.upper.length > 0 ? chunk.upper : undefined
      this.#sums.writeUInt32BE(checksumOf(bytes))
      this.#checksum = crc32(this.#sums, this.#checksum)
      this.#chunks.push(chunk)
      this.#number++
    }
    this.#next = expected
    const summary = this.run.sections[this.#section.number]
    if (expected === undefined && summary?.checksum !== this.#checksum) {
      throw this.#damaged('the chunks are not those of the manifest')
    }
    return this.nextGroup(reads)
  }

  #position() {
    return { run: this.run.number, section: this.#section.number, number: this.#number }
  }

  #damaged(detail: string) {
    return damagedChunk(this.#position(), detail)
  }
}
