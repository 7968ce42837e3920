import type { Address, ConfirmedTransaction, Hash } from '../../model/evm.ts'
import type { PoolUpdate } from '../port/pool.ts'
import { addressLength, hashLength } from '../record/encodeBlock.ts'
import { addressBytes, hashBytes, toHex } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { decodeConfirmed, decodePending, encodePending } from '../record/record.ts'
import { firstTransactionId, toPosition } from '../record/transactionId.ts'
import {
  isUnchanged,
  namedBy,
  type PoolChanges,
  PoolMirror,
  type PresentTransaction
} from '../shared/poolMirror.ts'
import { rememberedBlocks, SenderNonces } from '../shared/senders.ts'
import { CopyBuffer } from './copyBuffer.ts'
import { bigintsLiteral, bytesArrayLiteral, hashKeyNumber } from './literals.ts'
import type { WriterSession } from './session.ts'

const rowsAtOnce = 2_000

export interface PoolTableOptions {
  /** How long, in blocks, an entry that left is remembered: as deep as reorgs go. */
  readonly keepFirstSeenBlocks: number
  /** Of about so many at most, those that left at the highest blocks: pools are flooded at times while no block comes. */
  readonly mostFirstSeen?: number
  /** Transactions confirmed before this block have left every pool. */
  recentFrom(head: number): number
}

/** What a commit does to the pool. */
export interface Settlement {
  /** For the transaction of the blocks. */
  readonly statements: readonly string[]
  /** To be called once that is stored. */
  done(): void
}

/**
 * The writer's side of the pool: what `PoolMirror` says is written here. An unchanged pool costs no transaction.
 *
 * After a failed commit or rollback call `forget`: memory may be ahead of the store.
 */
export class PoolTable {
  readonly #session: WriterSession
  readonly #options: Required<PoolTableOptions>
  #mirror: PoolMirror | undefined
  #nonces = new SenderNonces()
  /** Newest block that `#nonces` has taken in. */
  #readTo: number | undefined
  #lastId = 0
  #departures = 0

  constructor(session: WriterSession, options: PoolTableOptions) {
    this.#session = session
    this.#options = { mostFirstSeen: 100_000, ...options }
  }

  forget(): void {
    this.#mirror = undefined
    this.forgetBlocks()
  }

  /** Blocks were removed: what was read of them counts no more. */
  forgetBlocks(): void {
    this.#nonces = new SenderNonces()
    this.#readTo = undefined
    this.#mirror?.forgetGone()
  }

  /** Makes the stored pool equal to `update`; writes nothing when it is. `head` is the newest indexed block, or -1. */
  async update(update: PoolUpdate, head: number): Promise<void> {
    const mirror = await this.#load()
    this.#readTo = Math.max(this.#readTo ?? -1, head - rememberedBlocks)
    await this.#readNonces(head)
    const confirmed = await this.#confirmedOf(mirror.unknown(update), head)
    const changes = mirror.compare(update, head, {
      covers: (from, nonce) => this.#nonces.covers(from, nonce),
      isConfirmed: hash => confirmed.has(hash)
    })
    if (isUnchanged(changes)) return
    try {
      await this.#apply(mirror, changes, head)
    } catch (error) {
      this.forget()
      throw error
    }
  }

  /**
   * Takes out what new blocks confirm, what they end because they confirm its sender's nonce or a later one, and what has
   * waited for them in vain. Reads, but does not write.
   */
  async settle(blocks: PackedBlocks): Promise<Settlement> {
    const head = blocks.headers.at(-1)?.ref.number ?? -1
    const dropOld = `DELETE FROM first_seen WHERE left_at < ${head - this.#options.keepFirstSeenBlocks}`
    const mirror = await this.#load()
    if (mirror.size === 0) return { statements: [dropOld], done: () => {} }
    const nonces = new Map(await this.#readNonces((blocks.headers[0]?.ref.number ?? 0) - 1))
    for (const [from, nonce] of this.#nonces.note(transactionsOf(blocks))) {
      const earlier = nonces.get(from)
      if (earlier === undefined || earlier < nonce) nonces.set(from, nonce)
    }
    this.#readTo = head
    this.#nonces.dropOld(head)
    const ended = [...mirror.endedBy(hashesOf(blocks), nonces, head)]
    return {
      statements: [dropOld, ...this.#removal(mirror, ended, head)],
      done: () => this.#forgetRemoved(mirror, ended)
    }
  }

  async #apply(mirror: PoolMirror, changes: PoolChanges, head: number): Promise<void> {
    const { added, changed, removed, seenAtSeconds } = changes
    const hashes = added.map(({ hash }) => hashBytes(hash))
    const seen = await this.#session.read<{ hash: Buffer; seconds: number }>(
      'SELECT hash, first_seen_seconds AS seconds FROM first_seen WHERE hash = ANY ($1)',
      [hashes]
    )
    const secondsOf = new Map(seen.map(({ hash, seconds }) => [toHex(hash), seconds]))
    const rows = added.map((transaction, place) => ({
      id: this.#lastId + 1 + place,
      transaction,
      seconds: secondsOf.get(transaction.hash) ?? seenAtSeconds
    }))
    const idsWith = (wanted: 0 | 1) =>
      changed.flatMap(([hash, status]) => (status === wanted ? (mirror.get(hash)?.id ?? []) : []))
    const update = (status: 0 | 1) =>
      `UPDATE pool SET status = ${status} WHERE id = ANY (${bigintsLiteral(idsWith(status))})`
    await this.#session.write(
      [
        ...this.#removal(mirror, removed, head),
        ...(changed.length === 0 ? [] : [update(0), update(1)]),
        ...(rows.length === 0
          ? []
          : [
              'COPY pool FROM STDIN (FORMAT binary)',
              'COPY pool_address FROM STDIN (FORMAT binary)',
              `DELETE FROM first_seen WHERE hash = ANY (${bytesArrayLiteral(hashes)})`
            ])
      ],
      rows.length === 0 ? [] : [copyEntries(rows), copyAddresses(rows)]
    )
    this.#forgetRemoved(mirror, removed)
    for (const [hash, status] of changed) mirror.setStatus(hash, status)
    for (const { id, transaction } of rows) mirror.add(transaction.hash, { ...transaction, id })
    this.#lastId += rows.length
  }

  /** Statements that take entries out and remember when they were first seen. */
  #removal(mirror: PoolMirror, hashes: readonly Hash[], head: number): readonly string[] {
    const ids = hashes.flatMap(hash => mirror.get(hash)?.id ?? [])
    if (ids.length === 0) return []
    return [
      `WITH gone AS (DELETE FROM pool WHERE id = ANY (${bigintsLiteral(ids)}) RETURNING hash, first_seen_seconds)
         INSERT INTO first_seen SELECT hash, first_seen_seconds, ${head} FROM gone
         ON CONFLICT (hash) DO UPDATE
         SET first_seen_seconds = excluded.first_seen_seconds, left_at = excluded.left_at`,
      `DELETE FROM pool_address WHERE pool_id = ANY (${bigintsLiteral(ids)})`,
      ...this.#boundFirstSeen(ids.length)
    ]
  }

  #boundFirstSeen(departures: number): readonly string[] {
    const { mostFirstSeen } = this.#options
    // Counting is a scan.
    if (this.#departures + departures < mostFirstSeen / 100) return []
    return [
      `DELETE FROM first_seen WHERE hash IN
         (SELECT hash FROM first_seen ORDER BY left_at DESC, hash DESC OFFSET ${mostFirstSeen})`
    ]
  }

  #forgetRemoved(mirror: PoolMirror, hashes: readonly Hash[]): void {
    for (const hash of hashes) mirror.remove(hash)
    this.#departures += hashes.length
    if (this.#departures >= this.#options.mostFirstSeen / 100) this.#departures = 0
  }

  /** Takes in the blocks up to `head` that were not read yet. @returns the highest nonce of each of their senders. */
  async #readNonces(head: number): Promise<ReadonlyMap<Address, bigint>> {
    const readTo = this.#readTo ?? head - rememberedBlocks
    const transactions = await this.#confirmedBetween(readTo, head)
    this.#readTo = Math.max(readTo, head)
    const nonces = this.#nonces.note(transactions)
    this.#nonces.dropOld(head)
    return nonces
  }

  async #confirmedBetween(after: number, head: number): Promise<readonly ConfirmedTransaction[]> {
    const found: ConfirmedTransaction[] = []
    const end = firstTransactionId(head + 1)
    for (let from = firstTransactionId(Math.max(0, after + 1)); from < end; ) {
      const rows = await this.#session.read<{ id: number; rec: Buffer }>(
        `SELECT id, rec FROM tx WHERE id >= $1 AND id < $2 ORDER BY id LIMIT ${rowsAtOnce}`,
        [from, end]
      )
      for (const { id, rec } of rows) found.push(decodeConfirmed(rec, toPosition(id)))
      from = (rows.at(-1)?.id ?? end) + 1
    }
    return found
  }

  /** Which of these the newest part of the index holds. The index keeps a part of each hash; the record says whether it is it. */
  async #confirmedOf(hashes: readonly Hash[], head: number): Promise<ReadonlySet<Hash>> {
    if (hashes.length === 0 || head < 0) return new Set()
    const rows = await this.#session.read<{ hash: Buffer }>(
      `SELECT substring(rec from 2 for 32) AS hash FROM tx
       WHERE hash_key(rec) = ANY ($1::bigint[]) AND id >= $2`,
      [hashes.map(hashKeyNumber), firstTransactionId(this.#options.recentFrom(head))]
    )
    return new Set(rows.map(({ hash }) => toHex(hash)))
  }

  async #load(): Promise<PoolMirror> {
    if (this.#mirror !== undefined) return this.#mirror
    const mirror = new PoolMirror()
    this.#lastId = 0
    // A slice at a time: records may hold much calldata, and none of it is kept.
    for (;;) {
      const rows = await this.#session.read<{ id: number; hash: Buffer; status: 0 | 1; rec: Buffer }>(
        `SELECT id, hash, status, rec FROM pool WHERE id > $1 ORDER BY id LIMIT ${rowsAtOnce}`,
        [this.#lastId]
      )
      for (const { id, hash, status, rec } of rows) {
        const { from, nonce } = decodePending(rec)
        mirror.add(toHex(hash), { id, status, from, nonce })
      }
      const last = rows.at(-1)
      if (last === undefined) break
      this.#lastId = last.id
    }
    this.#mirror = mirror
    return mirror
  }
}

interface NewEntry {
  readonly id: number
  readonly transaction: PresentTransaction
  readonly seconds: number
}

function copyEntries(entries: readonly NewEntry[]): Buffer {
  const records = entries.map(({ transaction }) => encodePending(transaction))
  const size = records.reduce((sum, { length }) => sum + length, 0)
  const rows = new CopyBuffer(size + entries.length * (2 + 5 * 4 + 8 + hashLength + 2 + 8))
  for (const [place, { id, transaction, seconds }] of entries.entries()) {
    rows.begin(5)
    rows.bigint(id)
    rows.bytes(hashBytes(transaction.hash))
    rows.smallint(transaction.status)
    rows.bigint(seconds)
    rows.bytes(records[place] ?? Buffer.alloc(0))
  }
  return rows.finish()
}

function copyAddresses(entries: readonly NewEntry[]): Buffer {
  const named = entries.flatMap(({ id, transaction: { from, to } }) =>
    [...namedBy(from, to)].map(address => ({ id, address }))
  )
  const rows = new CopyBuffer(named.length * (2 + 2 * 4 + addressLength + 8))
  for (const { id, address } of named) {
    rows.begin(2)
    rows.bytes(addressBytes(address))
    rows.bigint(id)
  }
  return rows.finish()
}

function* hashesOf({ hashes }: PackedBlocks): Generator<Hash> {
  for (let at = 0; at < hashes.length; at += hashLength) yield toHex(hashes.subarray(at, at + hashLength))
}

function* transactionsOf({ ids, records, recordEnds }: PackedBlocks): Generator<ConfirmedTransaction> {
  let start = 0
  for (const [place, id] of ids.entries()) {
    const end = recordEnds[place] ?? start
    yield decodeConfirmed(records.subarray(start, end), toPosition(id))
    start = end
  }
}
