import { maxTransactionsPerBlock } from '../record/transactionId.ts'
import type { Chunk } from './chunk.ts'
import type { ChunkReads } from './chunkReads.ts'
import { Filter, sealFilter } from './filters.ts'
import type { IdCoding } from './keys.ts'
import type { Run } from './run.ts'
import { SectionScan } from './SectionScan.ts'
import { type SectionSummary, SectionWriter } from './SectionWriter.ts'
import { type Section, sections } from './sections.ts'

const accountLength = 20
const contractLength = 20
const noGroup = new Uint8Array(0)
/** Where the number of the contract is in a group of the token section, and its bytes. */
const contractAt = 20
const contractNumberLength = 4

/** Sections in the order in which a merge writes them: tokens need the numbers of the merged contracts. */
const order: readonly Section[] = [
  sections.contract,
  sections.token,
  sections.address,
  sections.hash,
  sections.event
]

/** Joins neighbouring runs into one, bit by bit. Reads each chunk of theirs once, and proves that none is missing. */
export class RunMerge {
  readonly #chainId: number
  readonly #sources: readonly Run[]
  readonly #number: number
  readonly #coding: IdCoding
  readonly #filter: Filter | undefined
  /** The account that the filter got last, once there is one. */
  readonly #account = new Uint8Array(accountLength)
  #hasAccount = false
  /** Summaries of the sections that are complete, in their order. */
  readonly #done: SectionSummary[] = []
  #put: (chunk: Chunk) => void = () => {}
  /** The section that is being written, and the sources that have more of it, in the order of their groups. */
  #current: { readonly writer: SectionWriter; readonly scans: Scan[] } | undefined
  #contracts: MergedContracts | undefined

  /**
   * @param sources - neighbours, oldest first.
   * @param filterBytes - size of the filter of the merged run; absent: it gets none.
   */
  constructor(chainId: number, sources: readonly Run[], number: number, filterBytes?: number) {
    this.#chainId = chainId
    this.#sources = sources
    this.#number = number
    this.#coding = {
      firstBlock: sources[0]?.firstBlock ?? 0,
      indexBits: Math.max(...sources.map(({ indexBits }) => indexBits))
    }
    this.#filter = filterBytes === undefined ? undefined : new Filter(new Uint8Array(filterBytes))
  }

  /**
   * Writes about so many rows.
   * @param reads - of the transaction in which this step is carried out.
   * @returns their chunks, and once it is complete, the merged run.
   * @throws {IndexDamagedError} a chunk of a source is missing or altered.
   */
  async step(reads: ChunkReads, rows: number): Promise<MergeStep> {
    const chunks: Chunk[] = []
    this.#put = chunk => chunks.push(chunk)
    for (let left = rows; left > 0; ) {
      const section = order[this.#done.length]
      if (section === undefined) return { chunks, merged: this.#mergedRun() }
      this.#current ??= await this.#begin(reads, section)
      const { writer, scans } = this.#current
      left -=
        section === sections.contract
          ? await this.#writeContracts(reads, writer)
          : await this.#merge(reads, writer, scans, left)
      if (scans.length > 0) continue
      this.#done.push(writer.finish())
      this.#current = undefined
    }
    return { chunks }
  }

  async #begin(
    reads: ChunkReads,
    section: Section
  ): Promise<{ readonly writer: SectionWriter; readonly scans: Scan[] }> {
    const put = (chunk: Chunk) => this.#put(chunk)
    const writer = new SectionWriter(section, this.#chainId, this.#number, this.#coding, put)
    const scans: Scan[] = []
    if (section === sections.contract) return { writer, scans }
    const contracts = section === sections.token ? await this.#readContracts(reads) : undefined
    for (const [source, run] of this.#sources.entries()) {
      const scan = new SectionScan(this.#chainId, section, run)
      const each: Scan = { scan, source, group: noGroup, contracts: contracts?.numbers[source] }
      if (await nextGroup(reads, each)) scans.push(each)
    }
    return { writer, scans: scans.sort(compareScans) }
  }

  /** Writes rows of all sources in the order of their keys. @returns how many. */
  async #merge(reads: ChunkReads, writer: SectionWriter, scans: Scan[], most: number): Promise<number> {
    let count = 0
    const section = order[this.#done.length]
    const isFiltered = section === sections.address || section === sections.token
    while (scans.length > 0 && count < most) {
      const each = scans[0] as Scan
      const { rows } = each.scan
      const { groupLength } = rows
      if (isFiltered) this.#addToFilter(each.group)
      while (rows.nextRow()) {
        writer.add(each.group, 0, groupLength, rows.id, rows.bytes, rows.value, rows.valueLength)
        count++
      }
      const has = nextGroup(reads, each)
      if (has === true || (has !== false && (await has))) sinkFirst(scans)
      else scans.shift()
    }
    return count
  }

  /** @param group - begins with an account. */
  #addToFilter(group: Uint8Array): void {
    if (this.#filter === undefined) return
    const account = this.#account
    let same = 0
    while (same < accountLength && account[same] === group[same]) same++
    if (same === accountLength && this.#hasAccount) return
    for (let i = same; i < accountLength; i++) account[i] = group[i] ?? 0
    this.#hasAccount = true
    this.#filter.add(account)
  }

  async #writeContracts(reads: ChunkReads, writer: SectionWriter): Promise<number> {
    const { addresses } = await this.#readContracts(reads)
    const id = this.#coding.firstBlock * maxTransactionsPerBlock
    const group = Buffer.allocUnsafe(4)
    const count = addresses.length / contractLength
    for (let number = 0; number < count; number++) {
      group.writeUInt32BE(number)
      writer.add(group, 0, group.length, id, addresses, number * contractLength, contractLength)
    }
    return count
  }

  async #readContracts(reads: ChunkReads): Promise<MergedContracts> {
    if (this.#contracts !== undefined) return this.#contracts
    const lists: Buffer[] = []
    for (const run of this.#sources) {
      const rows: Uint8Array[] = []
      const scan = new SectionScan(this.#chainId, sections.contract, run)
      while (await scan.nextGroup(reads)) {
        while (scan.rows.nextRow())
          rows.push(scan.rows.bytes.slice(scan.rows.value, scan.rows.value + contractLength))
      }
      lists.push(Buffer.concat(rows))
    }
    this.#contracts = mergeContracts(lists)
    return this.#contracts
  }

  #mergedRun(): Run {
    const summaries: SectionSummary[] = []
    for (const [i, { number }] of order.entries()) {
      summaries[number] = this.#done[i] ?? { rows: 0, chunks: 0, checksum: 0 }
    }
    summaries[sections.filter.number] = sealFilter(this.#chainId, this.#number, this.#filter, this.#put)
    const { lastBlock = 0, lastHash = noGroup } = this.#sources.at(-1) ?? {}
    return {
      ...this.#coding,
      ...{ number: this.#number, lastBlock, lastHash },
      transactions: this.#sources.reduce((sum, { transactions }) => sum + transactions, 0),
      sections: summaries
    }
  }
}

/** Result of a step of a merge. */
export interface MergeStep {
  readonly chunks: readonly Chunk[]
  /** Once all is written. */
  readonly merged?: Run
}

/** A source, at one of its groups. */
interface Scan {
  readonly scan: SectionScan
  /** Number of the source; older ones have lower numbers. */
  readonly source: number
  /** Bytes of the group, as far as `scan.rows.groupLength`; in the token section with the merged number of the contract. */
  group: Uint8Array
  /** In the token section, the merged number of each contract of the source. */
  readonly contracts: Uint32Array | undefined
}

/** The contracts of the merged run, and for each source the merged number of each of its contracts. */
interface MergedContracts {
  readonly addresses: Uint8Array
  readonly numbers: readonly Uint32Array[]
}

/** @param lists - addresses in their order, 20 bytes each. */
function mergeContracts(lists: readonly Buffer[]): MergedContracts {
  const numbers = lists.map(list => new Uint32Array(list.length / contractLength))
  const merged = Buffer.allocUnsafe(lists.reduce((sum, { length }) => sum + length, 0))
  const at = lists.map(() => 0)
  let count = 0
  for (;;) {
    let lowest = -1
    for (const [i, list] of lists.entries()) {
      if ((at[i] ?? 0) === list.length) continue
      if (lowest < 0 || compareAt(list, at[i] ?? 0, lists[lowest] ?? list, at[lowest] ?? 0) < 0) lowest = i
    }
    const list = lists[lowest]
    if (list === undefined) return { addresses: merged.subarray(0, count * contractLength), numbers }
    list.copy(merged, count * contractLength, at[lowest], (at[lowest] ?? 0) + contractLength)
    for (const [i, other] of lists.entries()) {
      const start = at[i] ?? 0
      if (start === other.length || compareAt(other, start, merged, count * contractLength) !== 0) continue
      const own = numbers[i]
      if (own !== undefined) own[start / contractLength] = count
      at[i] = start + contractLength
    }
    count++
  }
}

function compareAt(a: Buffer, startOfA: number, b: Buffer, startOfB: number): number {
  return a.compare(b, startOfB, startOfB + contractLength, startOfA, startOfA + contractLength)
}

/** Goes to the next group of a source, with the number that its contract has in the merged run. */
function nextGroup(reads: ChunkReads, each: Scan): boolean | Promise<boolean> {
  const has = each.scan.nextGroup(reads)
  if (has === true) takeGroup(each)
  if (typeof has === 'boolean') return has
  return has.then(isThere => {
    if (isThere) takeGroup(each)
    return isThere
  })
}

function takeGroup(each: Scan): void {
  const { scan, contracts } = each
  const { group, groupLength } = scan.rows
  if (contracts === undefined) {
    each.group = group
    return
  }
  // A copy: the next group of the source may share the number of the contract.
  if (each.group.length < groupLength) each.group = new Uint8Array(2 * groupLength)
  const copy = each.group
  for (let i = 0; i < groupLength; i++) copy[i] = group[i] ?? 0
  let number = 0
  for (let i = 0; i < contractNumberLength; i++) number = number * 256 + (group[contractAt + i] ?? 0)
  number = contracts[number] ?? 0
  for (let i = contractNumberLength - 1; i >= 0; i--, number >>>= 8) copy[contractAt + i] = number
}

/** Moves the first source after those whose groups come before its own. */
function sinkFirst(scans: Scan[]): void {
  const [first] = scans
  if (first === undefined) return
  let at = 1
  for (let next = scans[at]; next !== undefined && compareScans(next, first) < 0; next = scans[++at]) {
    scans[at - 1] = next
  }
  scans[at - 1] = first
}

/** Of equal groups that of the oldest run comes first: its ids are lower. */
function compareScans(a: Scan, b: Scan): number {
  return compareGroups(a, b) || a.source - b.source
}

function compareGroups(a: Scan, b: Scan): number {
  const [ofA, ofB] = [a.scan.rows.groupLength, b.scan.rows.groupLength]
  const length = Math.min(ofA, ofB)
  for (let i = 0; i < length; i++) {
    const order = (a.group[i] ?? 0) - (b.group[i] ?? 0)
    if (order !== 0) return order
  }
  return ofA - ofB
}
