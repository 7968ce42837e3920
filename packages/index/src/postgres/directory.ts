import { addressLength } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { countRows, directoryRows, forgetSums, writtenSum } from './keyParts.ts'
import { bigintsLiteral, bytesArrayLiteral } from './literals.ts'
import type { BlockRange, Partitions } from './partitions.ts'
import { walkingIndexes } from './rollback.ts'
import type { WriterSession } from './session.ts'

/*
 * The directory of addresses: which partitions have rows of an address. A row has the next three bytes of all addresses of one
 * partition that begin with the same two. Two addresses may share all five: then a read searches one partition for nothing.
 *
 * Rows with the same two first bytes are a bucket. They are counted (`keyParts.ts`), so that every read of a bucket shows whether one
 * is missing or altered.
 */

/** First two bytes of an address, as a number. */
export function directoryBucket(address: Uint8Array): number {
  return (address[0] ?? 0) * 256 + (address[1] ?? 0)
}

/** The next three. */
export function directoryPrint(address: Uint8Array): Uint8Array {
  return address.subarray(2, 5)
}

const buckets = 65_536
/** A bucket with more addresses, which only chosen ones fill, has none of them: its addresses may be in the partition. */
const maxPrints = 800
/** Bounds of the work that follows a commit. */
export interface ListingLayout {
  /** Transactions of a full partition whose addresses one statement adds to the directory, about. */
  readonly listedAtOnce: number
  /** Statement follows statement for so long. */
  readonly listingMs: number
}

/**
 * Returns an SQL expression: the partitions that may have rows of the address with this bucket and print, 8 bytes each; null
 * where the rows of the bucket are not those that were written.
 */
export function partitionsOf(schema: string, bucket: string, print: string): string {
  return `(SELECT CASE
      WHEN coalesce(bit_xor(${directoryRows.hash}), 0) = ${writtenSum(directoryRows, `${schema}.`, bucket)}
      THEN coalesce(string_agg(int8send(partition), '') FILTER (WHERE prints IS NULL OR position(${print} IN prints) > 0), '')
    END FROM ${schema}.directory WHERE bucket = ${bucket})`
}

/**
 * Adds the addresses of one block that is put in place of another: it may have other ones, and its partition may be listed
 * already. Where it is not, these rows are written anew once it is.
 */
export function listBlockStatements(
  { partyAddresses, partyIds }: PackedBlocks,
  partition: BlockRange | undefined
): readonly string[] {
  if (partition === undefined || partyIds.length === 0) return []
  const known = new Map<string, readonly [number, Uint8Array]>()
  for (let row = 0; row < partyIds.length; row++) {
    const address = partyAddresses.subarray(row * addressLength, (row + 1) * addressLength)
    const print = directoryPrint(address)
    const bucket = directoryBucket(address)
    known.set(`${bucket} ${print}`, [bucket, print])
  }
  const listed = [...known.values()]
  const id = firstTransactionId(partition.first)
  const listedBuckets = bigintsLiteral(listed.map(([bucket]) => bucket))
  return walkingIndexes(
    putStatements(
      id,
      `SELECT added.bucket, coalesce(directory.prints, '') || added.prints AS prints FROM (
        SELECT bucket, string_agg(print, '') AS prints FROM unnest(${listedBuckets},
          ${bytesArrayLiteral(listed.map(([, print]) => print))}) AS party (bucket, print) GROUP BY bucket
      ) added LEFT JOIN directory ON directory.bucket = added.bucket AND partition = ${id}
      WHERE partition IS NULL OR position(added.prints IN directory.prints) = 0`,
      `bucket = ANY (${listedBuckets})`
    )
  )
}

/**
 * Puts rows of one partition in, and changes the sums of their buckets: what they had there before is taken out, and what they have
 * afterwards put in. One statement each, because the parts of one see each other's writes on Citus.
 * @param rows - SQL for buckets and prints. @param among - SQL that holds for the buckets that they may be of.
 */
function putStatements(id: number, rows: string, among: string): string[] {
  const toggle = countRows(directoryRows, `directory WHERE ${among} AND partition = ${id}`)
  const put = `INSERT INTO directory SELECT bucket, ${id}, prints FROM (${rows}) put
    ON CONFLICT (bucket, partition) DO UPDATE SET prints = excluded.prints`
  return [toggle, put, toggle]
}

/** What a rollback does to the directory: partitions from `range` on are not complete any more. */
export function unlistStatements(range: BlockRange | undefined): readonly string[] {
  if (range === undefined) return []
  const isLeft = `directory_from < ${range.first}`
  return [
    `UPDATE meta SET directory_from = CASE WHEN ${isLeft} THEN directory_from END,
       directory_end = CASE WHEN ${isLeft} THEN ${range.first} END WHERE directory_end > ${range.first}`
  ]
}

interface Listing {
  readonly range: BlockRange
  /** Of the index when it began. */
  readonly rollbacks: number
  readonly bucketsAtOnce: number
  /** Buckets below are listed. */
  next: number
}

interface ListedColumns {
  readonly rollbacks: number
  readonly from: number | null
  readonly head: number | null
  readonly directory_from: number | null
  readonly directory_end: number | null
}

/** Lists the addresses of partitions once they are full, a bounded piece at a time. Used by the writer alone. */
export class DirectoryWriter {
  readonly #session: WriterSession
  readonly #partitions: Partitions
  readonly #layout: ListingLayout
  #listing: Listing | undefined
  /** Until the index has this head, no other partition can be full. */
  #nextHead = -1

  constructor(session: WriterSession, partitions: Partitions, layout: ListingLayout) {
    this.#session = session
    this.#partitions = partitions
    this.#layout = layout
  }

  /** Begins again with what is stored: the index was rolled back. */
  forget(): void {
    this.#listing = undefined
    this.#nextHead = -1
  }

  /** Goes on for a moment. @param head - newest stored block; absent: older blocks were added. */
  async work(head?: number): Promise<void> {
    if (head !== undefined && head < this.#nextHead) return
    const startedMs = performance.now()
    do {
      this.#listing ??= await this.#nextListing()
      if (this.#listing === undefined) {
        // Until the newest partition is full, too.
        this.#nextHead = head === undefined ? -1 : (this.#partitions.holding(head + 1)?.end ?? 0) - 1
        return
      }
      await this.#listPiece(this.#listing)
    } while (performance.now() - startedMs < this.#layout.listingMs)
  }

  /** Makes the rows of a bucket anew, from the address index. */
  async restore(bucket: number): Promise<void> {
    this.forget()
    const [meta] = await this.#session.read<ListedColumns>('SELECT directory_from, directory_end FROM meta')
    const { directory_from: from, directory_end: end } = meta ?? {}
    const listed = this.#partitions.ranges.filter(
      ({ first }) => from != null && end != null && first >= from && first < end
    )
    const statements = [
      `DELETE FROM directory WHERE bucket = ${bucket}`,
      forgetSums(directoryRows, bucket),
      ...walkingIndexes(listed.flatMap(range => listStatements(range, bucket, bucket + 1)))
    ]
    await this.#session.write(statements, [], { isLong: true })
  }

  /** The partitions that are listed have no gap: it grows upwards first, and then downwards. */
  async #nextListing(): Promise<Listing | undefined> {
    const [meta] = await this.#session.read<ListedColumns>(
      'SELECT rollbacks, indexed_from AS "from", head, directory_from, directory_end FROM meta'
    )
    const { rollbacks = 0, from, head, directory_from: listedFrom, directory_end: listedEnd } = meta ?? {}
    if (from == null || head == null) return undefined
    const full = this.#partitions.ranges.filter(({ first, end }) => first >= from && end <= head + 1)
    const range =
      listedFrom == null || listedEnd == null
        ? full.at(-1)
        : (full.find(({ first }) => first === listedEnd) ?? full.find(({ end }) => end === listedFrom))
    if (range === undefined) return undefined
    const [amount] = await this.#session.read<{ transactions: number }>(
      'SELECT coalesce(sum(tx_count), 0)::bigint AS transactions FROM block WHERE number >= $1 AND number < $2',
      [range.first, range.end]
    )
    const pieces = Math.min(buckets, Math.ceil((amount?.transactions ?? 0) / this.#layout.listedAtOnce))
    return { range, rollbacks, bucketsAtOnce: Math.ceil(buckets / Math.max(1, pieces)), next: 0 }
  }

  async #listPiece(listing: Listing): Promise<void> {
    const { range, rollbacks, bucketsAtOnce, next } = listing
    const end = Math.min(buckets, next + bucketsAtOnce)
    const statements = walkingIndexes(listStatements(range, next, end))
    // In the same transaction, so that no reader takes a part for all of it.
    const marked = end < buckets ? [] : [markStatement(range, rollbacks)]
    try {
      await this.#session.write([...statements, ...marked])
      listing.next = end
      if (end === buckets) this.#listing = undefined
    } catch (error) {
      this.#listing = undefined
      throw error
    }
  }
}

function listStatements({ first, end }: BlockRange, fromBucket: number, endBucket: number): string[] {
  const from = `'\\x${hex(fromBucket)}'::bytea`
  const to = endBucket < buckets ? `AND address < '\\x${hex(endBucket)}'::bytea` : ''
  const [firstId, endId] = [firstTransactionId(first), firstTransactionId(end)]
  return putStatements(
    firstId,
    `SELECT bucket, CASE WHEN count(*) <= ${maxPrints} THEN string_agg(print, '') END AS prints FROM (
      SELECT DISTINCT get_byte(address, 0) * 256 + get_byte(address, 1) AS bucket, substring(address FROM 3 FOR 3) AS print
      FROM address_tx WHERE address >= ${from} ${to} AND tx_id >= ${firstId} AND tx_id < ${endId}
    ) party GROUP BY bucket`,
    // One by one: an index scan of the range would read these buckets of all partitions.
    `bucket = ANY (ARRAY(SELECT generate_series(${fromBucket}, ${endBucket - 1})))`
  )
}

/** Nothing where the index was rolled back meanwhile: then the partition is listed anew. */
function markStatement({ first, end }: BlockRange, rollbacks: number): string {
  return `UPDATE meta SET directory_from = least(directory_from, ${first}), directory_end = greatest(directory_end, ${end})
    WHERE rollbacks = ${rollbacks}`
}

function hex(bucket: number): string {
  return bucket.toString(16).padStart(4, '0')
}
