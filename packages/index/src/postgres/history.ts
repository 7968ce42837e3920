import type { Address } from '../model/evm.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import type { AuditedChunk, MissingPart } from '../port/audit.ts'
import { decodeDetailed } from '../record/details.ts'
import { checkRecords, splitAltered } from '../record/recordSums.ts'
import { toPosition } from '../record/transactionId.ts'
import { missingRecord } from '../shared/rows.ts'
import type { ReadConnection, Row } from './connection.ts'
import { directoryRows, partDamage } from './keyParts.ts'
import type { IdRange, ReadStatements } from './read.ts'
import { partitionIds } from './schema.ts'

/** A stretch of a history as one statement gave it. */
export interface Stretch {
  readonly chunk: AuditedChunk
  /** How many rows of the address index it is of; not none. */
  readonly rows: number
  /** Id of the last of them. */
  readonly lastId: number
}

/** Answer of the database to the question for a stretch. */
interface Found {
  /** Absent: no row of the address index. */
  readonly stretch: Stretch | undefined
  /** First ids of the listed partitions that may have rows of the address; absent: not known. */
  readonly partitions?: readonly number[] | undefined
}

/** Asks for the newest `limit` rows of one address in a window. */
export type AskStretch = (window: IdWindow, limit: number) => Promise<Found>

/** Walks down one history, window by window. One pull at a time. */
export class HistoryCursor {
  readonly #windows: ReadWindows
  readonly #ask: AskStretch
  #end: number
  #foundInWindow = 0

  constructor(windows: ReadWindows, ask: AskStretch) {
    this.#windows = windows
    this.#ask = ask
    this.#end = windows.window?.end ?? 0
  }

  /** What comes next; of fewer rows than `wanted` only where the history ends, nothing when it has ended. */
  async pull(wanted: number): Promise<Stretch | undefined> {
    const stretches: Stretch[] = []
    let count = 0
    while (count < wanted) {
      const { window } = this.#windows
      if (window === undefined) break
      const asked = wanted - count
      const { stretch, partitions } = await this.#ask(below(window, this.#end), asked)
      if (partitions !== undefined) this.#windows.narrow(partitions)
      if (stretch !== undefined) stretches.push(stretch)
      const found = stretch?.rows ?? 0
      count += found
      this.#foundInWindow += found
      this.#end = stretch?.lastId ?? this.#end
      if (found === asked) continue
      this.#windows.advance(this.#foundInWindow, wanted - count)
      this.#foundInWindow = 0
      this.#end = this.#windows.window?.end ?? 0
    }
    return join(stretches)
  }
}

/** The part of a window with ids below `end`. */
function below({ from, ranges, isWide }: IdWindow, end: number): IdWindow {
  const left = ranges.filter(range => range.from < end)
  return { from, end, ranges: left.map(range => ({ ...range, end: Math.min(range.end, end) })), isWide }
}

function join(stretches: readonly Stretch[]): Stretch | undefined {
  const [first] = stretches
  const last = stretches.at(-1)
  if (first === undefined || last === undefined || stretches.length === 1) return first
  const chunks = stretches.map(({ chunk }) => chunk)
  return {
    chunk: {
      ids: chunks.flatMap(({ ids }) => ids),
      bytes: Buffer.concat(chunks.map(({ bytes }) => bytes)),
      missing: chunks.flatMap(({ missing }) => missing)
    },
    rows: stretches.reduce((sum, { rows }) => sum + rows, 0),
    lastId: last.lastId
  }
}

/** Ids of some partitions. */
export interface IdWindow extends IdRange {
  /** Those of its ids that are to be searched, newest first. */
  readonly ranges: readonly IdRange[]
  /** Spans many partitions, each of which is locked by who reads it. */
  readonly isWide: boolean
}

/** How the large tables are cut, as far as one connection has seen it. */
export interface Partitions {
  /** First id of each, ascending. */
  readonly starts: readonly number[]
  /** Where the newest one ends. */
  readonly end: number
}

/** A partition to be searched. */
interface Part extends IdRange {
  /** Its first id. */
  readonly start: number
}

/** Partitions that the first window spans: the newest one may just have been begun. */
const firstSpan = 2
const widestSpan = 16
/** Partitions that are searched at once where it is known that they have rows. */
const widestKnownSpan = 128
/** After a window in which so much was found, the next one spans one partition: that is quickest where records lie close. */
const manyFound = 1_024

/**
 * A history, cut into windows of whole partitions, newest first, so that a statement only opens those that it needs. As long
 * as little is found each window spans twice as many as the one before, up to a bound. Once it is known which partitions may have
 * rows, the others are left out, and a window spans as many as there are rows wanted.
 *
 * Without that knowledge the windows have no gap: a partition that is not known yet is in the window of its neighbour.
 */
export class ReadWindows {
  readonly #listed: IdRange | undefined
  /** What has not been searched, ascending. */
  #parts: readonly Part[]
  #span = firstSpan
  #isNarrow = false
  #window: IdWindow | undefined

  /**
   * @param end - only ids below it are wanted.
   * @param endOfNewest - nothing is expected at or above it: partitions are made ahead.
   * @param listed - the directory of addresses has the partitions that begin in there; absent: none.
   */
  constructor({ starts }: Partitions, end: number, endOfNewest: number, listed?: IdRange) {
    this.#listed = listed
    const wanted = starts.filter(start => start < Math.min(end, endOfNewest))
    // Nothing is stored below the first one, and nothing may be left out.
    const parts = wanted.map((start, i) => ({ start, from: i === 0 ? 0 : start, end: wanted[i + 1] ?? end }))
    this.#parts = parts.length > 0 || end <= 0 ? parts : [{ start: 0, from: 0, end }]
    this.#open()
  }

  /** Absent once everything has been searched. */
  get window(): IdWindow | undefined {
    return this.#window
  }

  /** Leaves out the listed partitions below the window that are not among these. */
  narrow(partitions: readonly number[]): void {
    const listed = this.#listed
    if (listed === undefined) return
    const known = new Set(partitions)
    this.#isNarrow = true
    this.#parts = this.#parts.filter(
      ({ start }) => start < listed.from || start >= listed.end || known.has(start)
    )
  }

  /** Goes on to the next one. @param found - how many records there were in this one. @param wanted - how many more are. */
  advance(found: number, wanted = Number.MAX_SAFE_INTEGER): void {
    if (found >= manyFound) this.#span = 1
    else if (this.#isNarrow) this.#span = Math.min(wanted, widestKnownSpan)
    else this.#span = Math.min(this.#span * 2, widestSpan)
    this.#open()
  }

  #open(): void {
    const parts = this.#parts.slice(-this.#span)
    this.#parts = this.#parts.slice(0, -this.#span)
    const [from, end] = [parts[0]?.from, parts.at(-1)?.end]
    const ranges = joinRanges(parts)
    const isWide = this.#span > firstSpan || ranges.length > 1
    this.#window = from === undefined || end === undefined ? undefined : { from, end, ranges, isWide }
  }
}

/** Neighbours become one. @returns newest first. */
function joinRanges(parts: readonly IdRange[]): readonly IdRange[] {
  const ranges: IdRange[] = []
  for (const { from, end } of parts.toReversed()) {
    const above = ranges.at(-1)
    if (above?.from === end) ranges[ranges.length - 1] = { from, end: above.end }
    else ranges.push({ from, end })
  }
  return ranges
}

/** Reads how the tables are cut. Partitions come and never go, so what was read stays true and may lack the newest. */
export async function readPartitions(
  connection: ReadConnection,
  statements: ReadStatements
): Promise<Partitions> {
  const rows = await connection.ask(statements.partitions, [])
  const bounds = rows.map(({ bound }) => partitionIds(String(bound))).sort((a, b) => a.from - b.from)
  return { starts: bounds.map(({ from }) => from), end: bounds.at(-1)?.end ?? 0 }
}

/** A record, and the id under which a row of the address index leads to it. */
export interface NamedRecord {
  readonly id: number
  readonly record: Uint8Array
}

/**
 * Finds the records that do not have an address byte for byte: about one of 300, since calldata is packed and authorities of
 * EIP-7702 are in none.
 * @param bytes - the records, concatenated. @param lengths - of each.
 */
function recordsWithout(
  address: Uint8Array,
  ids: readonly number[],
  bytes: Buffer,
  lengths: readonly number[]
): readonly NamedRecord[] {
  const without: NamedRecord[] = []
  let start = 0
  let found = -1
  for (let row = 0; row < ids.length; row++) {
    const end = start + (lengths[row] ?? 0)
    // Found already where an earlier record lacks it.
    if (found < start) found = bytes.indexOf(address, start)
    if (found < 0) found = bytes.length
    if (found + address.length > end) without.push({ id: ids[row] ?? 0, record: bytes.subarray(start, end) })
    start = end
  }
  return without
}

/**
 * Checks whether a transaction has an account among its parties, as far as its record says.
 */
export function mayBeParty(account: Address, { id, record }: NamedRecord): boolean {
  return decodeDetailed({ ids: [id], bytes: record }).every(({ transaction, details }) => {
    const { transfers, internal = [], operations } = details
    return [
      ...[transaction.from, transaction.to, transaction.contractAddress],
      ...[...transfers, ...internal].flatMap(({ from, to }) => [from, to]),
      ...operations.map(({ sender }) => sender)
    ].includes(account)
  })
}

/**
 * First ids of partitions, as the statement `records` gives them. Absent: it has not read the directory.
 * @throws {IndexDamagedError} rows of the directory are not those that were written.
 */
export function toPartitions(
  { count, partitions }: Row = {},
  asked: number,
  bucket: number
): readonly number[] | undefined {
  if (Number(count) >= asked) return undefined
  if (partitions === null) {
    throw new IndexDamagedError(
      partDamage({ keyed: directoryRows.id, part: bucket }),
      'the directory of addresses'
    )
  }
  return toNumbers(partitions)
}

/**
 * The answer to the statement `records`. Absent: no row of the address index.
 * @returns with the records that do not have the address byte for byte.
 * @throws {StoreError} a record is missing.
 */
export function toStretch(
  chainId: number,
  address: Uint8Array,
  { ids: idBytes, bytes, lengths: lengthBytes, missing }: Row = {}
): (Stretch & { readonly doubtful: readonly NamedRecord[] }) | undefined {
  const ids = toNumbers(idBytes)
  const lastId = ids.at(-1)
  if (lastId === undefined) return undefined
  if (missing !== null || !Buffer.isBuffer(bytes)) {
    throw missingRecord(Number(missing))
  }
  const lengths = toLengths(lengthBytes)
  checkRecords(chainId, ids, bytes, lengths)
  const doubtful = recordsWithout(address, ids, bytes, lengths)
  return { chunk: { ids, bytes, missing: [] }, rows: ids.length, lastId, doubtful }
}

/**
 * The answer to the statement `audited`. Absent: no row of the address index. A hash is found by an index over the records
 * themselves, so that it cannot be missing where its record is there.
 */
export function toAuditedStretch(
  chainId: number,
  { ids, bytes, lengths, withoutRecord, withoutBlock, inAlteredBlock }: Row = {}
): Stretch | undefined {
  const named = toNumbers(ids)
  const lastId = named.at(-1)
  if (lastId === undefined) return undefined
  const [recordless, blockless] = [new Set(toNumbers(withoutRecord)), new Set(toNumbers(withoutBlock))]
  const found = named.filter(id => !recordless.has(id))
  const records = Buffer.isBuffer(bytes) ? bytes : Buffer.alloc(0)
  const sound = splitAltered(chainId, found, records, toLengths(lengths))
  const altered = new Set(sound.altered)
  const inAltered = new Set(toNumbers(inAlteredBlock))
  const missing = named.flatMap((id): MissingPart[] =>
    (
      [
        [recordless, 'record'],
        [blockless, 'block'],
        [altered, 'alteredRecord'],
        [inAltered, 'alteredBlock']
      ] as const
    ).flatMap(([ids, part]) => (ids.has(id) ? [{ position: toPosition(id), part }] : []))
  )
  return {
    chunk: { ids: sound.ids, bytes: sound.bytes, missing },
    rows: named.length,
    lastId
  }
}

/** Lengths, 4 bytes each; none where the value is null. */
function toLengths(lengths: unknown): readonly number[] {
  if (!Buffer.isBuffer(lengths)) return []
  return Array.from({ length: lengths.length / 4 }, (_, place) => lengths.readUInt32BE(place * 4))
}

/** Ids, 8 bytes each; none where the value is null. Ids fit a number: two halves are quicker than a bigint. */
function toNumbers(ids: unknown): readonly number[] {
  if (!Buffer.isBuffer(ids)) return []
  const numbers = new Array<number>(ids.length / 8)
  for (let place = 0; place < numbers.length; place++) {
    numbers[place] = ids.readUInt32BE(place * 8) * 2 ** 32 + ids.readUInt32BE(place * 8 + 4)
  }
  return numbers
}
