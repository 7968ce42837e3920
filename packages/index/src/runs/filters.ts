import { type Chunk, type ChunkPosition, checksumOf, damagedChunk, openChunk, sealChunk } from './chunk.ts'
import type { ChunkReads } from './chunkReads.ts'
import type { Run } from './run.ts'
import type { SectionSummary } from './SectionWriter.ts'
import { sections } from './sections.ts'

const nothing = new Uint8Array(0)

/** Puts a filter into the only chunk of its section. @returns the summary of the section, which counts the bytes of the filter as rows. */
export function sealFilter(
  chainId: number,
  run: number,
  filter: Filter | undefined,
  put: (chunk: Chunk) => void
): SectionSummary {
  if (filter === undefined) return { rows: 0, chunks: 0, checksum: 0 }
  const position: ChunkPosition = { run, section: sections.filter.number, number: 0 }
  const bytes = sealChunk(chainId, position, nothing, nothing, filter.bytes)
  put({ ...position, lower: nothing, bytes })
  return { rows: filter.bytes.length, chunks: 1, checksum: checksumOf(bytes) }
}

/** A run, with its filter where it has one. */
export interface FilteredRun {
  readonly run: Run
  readonly filter: Filter | undefined
}

/**
 * Reads the filters of runs.
 * @param known - those that need not be read again. They are known by number and checksum: after a fail-over a number may come again.
 * @throws {IndexDamagedError} one is missing or altered.
 */
export async function readFilters(
  reads: ChunkReads,
  chainId: number,
  runs: readonly Run[],
  known: readonly FilteredRun[]
): Promise<readonly FilteredRun[]> {
  const byKey = new Map(known.map(each => [keyOf(each.run), each.filter]))
  const wanted = runs.filter(run => summaryOf(run).chunks > 0 && !byKey.has(keyOf(run)))
  const section = sections.filter.number
  const found = await reads.find(wanted.map(({ number }) => ({ run: number, section, key: nothing })))
  for (const [i, run] of wanted.entries()) {
    const position = { run: run.number, section, number: 0 }
    const chunk = found[i]
    if (chunk === undefined) throw damagedChunk(position, 'it is missing')
    const { bytes, start, end } = openChunk(chainId, position, chunk.bytes)
    if (checksumOf(bytes) !== summaryOf(run).checksum) throw damagedChunk(position, 'it is of another run')
    byKey.set(keyOf(run), new Filter(bytes.subarray(start, end)))
  }
  return runs.map(run => ({ run, filter: byKey.get(keyOf(run)) }))
}

/** Leaves out the runs whose filters say that no transaction has the account as a party. */
export function mayHave(runs: readonly FilteredRun[], address: Uint8Array): readonly Run[] {
  const left: Run[] = []
  for (const { run, filter } of runs) if (filter?.mayHave(address) ?? true) left.push(run)
  return left
}

function summaryOf(run: Run): SectionSummary {
  return run.sections[sections.filter.number] ?? { rows: 0, chunks: 0, checksum: 0 }
}

function keyOf(run: Run): string {
  return `${run.number} ${summaryOf(run).checksum}`
}

/** Bits for each account: one of about 120 accounts that are not in a run is not excluded by its filter. */
const bitsPerAccount = 10
const hashes = 7

/** Bloom filter of the accounts of one run: excludes an account that is in none of its transactions. */
export class Filter {
  readonly bytes: Uint8Array
  readonly #bits: number

  constructor(bytes: Uint8Array) {
    this.bytes = bytes
    this.#bits = bytes.length * 8
  }

  static forAccounts(count: number): Filter {
    return new Filter(new Uint8Array(Math.max(8, Math.ceil((count * bitsPerAccount) / 8))))
  }

  /** @param start - where the 20 bytes of the account begin. */
  add(address: Uint8Array, start = 0): void {
    let [hash, step] = [hashOf(address, start, 0x9e3779b1), hashOf(address, start, 0x85ebca6b) | 1]
    for (let i = 0; i < hashes; i++, hash = (hash + step) >>> 0) {
      const bit = hash % this.#bits
      this.bytes[bit >>> 3] = (this.bytes[bit >>> 3] ?? 0) | (1 << (bit & 7))
    }
  }

  /** @returns false: no transaction of the run has the account as a party. */
  mayHave(address: Uint8Array): boolean {
    let [hash, step] = [hashOf(address, 0, 0x9e3779b1), hashOf(address, 0, 0x85ebca6b) | 1]
    for (let i = 0; i < hashes; i++, hash = (hash + step) >>> 0) {
      const bit = hash % this.#bits
      if (((this.bytes[bit >>> 3] ?? 0) & (1 << (bit & 7))) === 0) return false
    }
    return true
  }
}

/** Mixes all 20 bytes: addresses with many equal bytes are common. */
function hashOf(bytes: Uint8Array, start: number, factor: number): number {
  let hash = factor
  for (let at = start; at < start + 20; at += 4) {
    const word =
      ((bytes[at] ?? 0) << 24) |
      ((bytes[at + 1] ?? 0) << 16) |
      ((bytes[at + 2] ?? 0) << 8) |
      (bytes[at + 3] ?? 0)
    hash = Math.imul(hash ^ word, factor)
    hash ^= hash >>> 15
  }
  return Math.imul(hash, 0xc2b2ae35) >>> 0
}
