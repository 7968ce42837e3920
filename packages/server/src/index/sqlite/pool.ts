import type { Hash } from '../../model/evm.ts'
import type { PoolUpdate } from '../port/pool.ts'
import { addressBytes, hashBytes, toHex } from '../record/hexBytes.ts'
import { decodePending, encodePending } from '../record/record.ts'
import { namedBy, type PoolChanges, PoolMirror, type PresentTransaction } from '../shared/poolMirror.ts'
import { ConfirmedNonces } from './confirmedNonces.ts'
import type { SqliteConnection } from './driver.ts'
import { createTransactionLookup, type TransactionLookup } from './read.ts'

const entriesAtOnce = 1_000
/** A transaction that was confirmed before these began has long left every pool. */
const newestEpochs = 4

/**
 * The writer's side of the pool: what `PoolMirror` says is written here. An unchanged pool costs no statement, and a changed
 * one the statements of its changes.
 *
 * After a failed transaction call `forget`: memory may be ahead of the file.
 */
export class PoolTable {
  readonly #connection: SqliteConnection
  readonly #keepFirstSeenBlocks: number
  readonly #mostFirstSeen: number
  readonly #statements: ReturnType<typeof prepare>
  readonly #lookUp: TransactionLookup
  #nonces: ConfirmedNonces
  #mirror: PoolMirror | undefined
  #departures = 0

  /**
   * @param keepFirstSeenBlocks - how long, in blocks, an entry that left is remembered: as deep as reorgs go.
   * @param mostFirstSeen - of about so many at most, those that left at the highest blocks: pools are flooded at times
   *   while no block comes.
   */
  constructor(connection: SqliteConnection, keepFirstSeenBlocks: number, mostFirstSeen = 100_000) {
    this.#connection = connection
    this.#keepFirstSeenBlocks = keepFirstSeenBlocks
    this.#mostFirstSeen = mostFirstSeen
    this.#statements = prepare(connection)
    this.#lookUp = createTransactionLookup(connection, newestEpochs)
    this.#nonces = new ConfirmedNonces(connection)
  }

  forget(): void {
    this.#mirror = undefined
    this.#nonces = new ConfirmedNonces(this.#connection)
  }

  /**
   * Compares with what is stored and remembers what has left; writes nothing. `head` is the newest indexed block, -1
   * when there is none.
   */
  compare(update: PoolUpdate, head: number): PoolChanges {
    const mirror = this.#load()
    if (this.#nonces.advance(head, { onlyRecent: true }).wentBack) mirror.forgetGone()
    return mirror.compare(update, head, {
      covers: (from, nonce) => this.#nonces.covers(from, nonce),
      isConfirmed: hash => this.#isConfirmed(hash)
    })
  }

  /** Writes what `compare` found. Runs inside the caller's transaction. */
  apply({ added, changed, removed, seenAtSeconds }: PoolChanges, head: number): void {
    const mirror = this.#load()
    for (const hash of removed) this.#remove(hash, head)
    for (const [hash, status] of changed) {
      const entry = mirror.get(hash)
      if (entry === undefined) continue
      this.#statements.update.run([status, entry.id])
      mirror.setStatus(hash, status)
    }
    let id = this.#statements.maxId.get([])?.id ?? 0
    for (const transaction of added) this.#insert(++id, transaction, seenAtSeconds)
    this.#boundFirstSeen()
  }

  /**
   * Takes out what new blocks confirm, what they end because they confirm its sender's nonce or a later one, and what
   * has waited for them in vain. Runs inside the caller's transaction, after the blocks are written; `head` is the last
   * of them.
   */
  settle(confirmed: Iterable<Hash>, head: number): void {
    const mirror = this.#load()
    this.#statements.deleteOldFirstSeen.run([head - this.#keepFirstSeenBlocks])
    if (mirror.size === 0) return
    const { nonces, wentBack } = this.#nonces.advance(head)
    if (wentBack) mirror.forgetGone()
    for (const hash of mirror.endedBy(confirmed, nonces, head)) this.#remove(hash, head)
    this.#boundFirstSeen()
  }

  #insert(id: number, transaction: PresentTransaction, seenAtSeconds: number): void {
    const { hash, status, from, to, nonce } = transaction
    const hashKey = hashBytes(hash)
    const firstSeen = this.#statements.firstSeen.get([hashKey])?.seconds
    if (firstSeen !== undefined) this.#statements.deleteFirstSeen.run([hashKey])
    const rec = encodePending(transaction)
    this.#statements.insert.run([id, hashKey, status, firstSeen ?? seenAtSeconds, rec])
    for (const address of namedBy(from, to)) {
      this.#statements.insertAddress.run([addressBytes(address), id])
    }
    this.#load().add(hash, { id, status, from, nonce })
  }

  /** Nothing happens when it is not stored. */
  #remove(hash: Hash, head: number): void {
    const mirror = this.#load()
    const entry = mirror.get(hash)
    const stored = entry === undefined ? undefined : this.#statements.entry.get([entry.id])
    if (entry === undefined || stored === undefined) return
    const { from, to } = decodePending(stored.rec)
    for (const address of namedBy(from, to)) {
      this.#statements.deleteAddress.run([addressBytes(address), entry.id])
    }
    this.#statements.keepFirstSeen.run([hashBytes(hash), stored.seconds, head])
    this.#departures++
    this.#statements.delete.run([entry.id])
    mirror.remove(hash)
  }

  #boundFirstSeen(): void {
    // Counting is a scan.
    if (this.#departures < this.#mostFirstSeen / 100) return
    this.#departures = 0
    const excess = (this.#statements.countFirstSeen.get([])?.n ?? 0) - this.#mostFirstSeen
    if (excess > 0) this.#statements.deleteOldestFirstSeen.run([excess])
  }

  /** Looks into the two newest epochs: a transaction confirmed before them has long left every pool. */
  #isConfirmed(hash: Hash): boolean {
    return this.#lookUp(hash) !== undefined
  }

  #load(): PoolMirror {
    if (this.#mirror !== undefined) return this.#mirror
    const mirror = new PoolMirror()
    // A slice at a time: records may hold much calldata, and none of it is kept.
    for (let after = -1; ; ) {
      const rows = this.#statements.entries.all([after])
      for (const { id, hash, status, rec } of rows) {
        const { from, nonce } = decodePending(rec)
        mirror.add(toHex(hash), { id, status, from, nonce })
      }
      const last = rows.at(-1)
      if (last === undefined) break
      after = last.id
    }
    this.#mirror = mirror
    return mirror
  }
}

function prepare(connection: SqliteConnection) {
  return {
    entries: connection.prepare<{ id: number; hash: Uint8Array; status: 0 | 1; rec: Uint8Array }>(
      `SELECT id, hash, status, rec FROM pool WHERE id > ? ORDER BY id LIMIT ${entriesAtOnce}`
    ),
    entry: connection.prepare<{ rec: Uint8Array; seconds: number }>(
      'SELECT rec, first_seen_seconds AS seconds FROM pool WHERE id = ?'
    ),
    maxId: connection.prepare<{ id: number | null }>('SELECT max(id) AS id FROM pool'),
    insert: connection.prepare(
      'INSERT INTO pool (id, hash, status, first_seen_seconds, rec) VALUES (?, ?, ?, ?, ?)'
    ),
    update: connection.prepare('UPDATE pool SET status = ? WHERE id = ?'),
    delete: connection.prepare('DELETE FROM pool WHERE id = ?'),
    insertAddress: connection.prepare('INSERT INTO pool_address VALUES (?, ?)'),
    deleteAddress: connection.prepare('DELETE FROM pool_address WHERE address = ? AND pool_id = ?'),
    firstSeen: connection.prepare<{ seconds: number }>(
      'SELECT first_seen_seconds AS seconds FROM first_seen WHERE hash = ?'
    ),
    keepFirstSeen: connection.prepare('INSERT OR REPLACE INTO first_seen VALUES (?, ?, ?)'),
    deleteFirstSeen: connection.prepare('DELETE FROM first_seen WHERE hash = ?'),
    deleteOldFirstSeen: connection.prepare('DELETE FROM first_seen WHERE left_at < ?'),
    countFirstSeen: connection.prepare<{ n: number }>('SELECT count(*) AS n FROM first_seen'),
    deleteOldestFirstSeen: connection.prepare(
      'DELETE FROM first_seen WHERE hash IN (SELECT hash FROM first_seen ORDER BY left_at, hash LIMIT ?)'
    )
  }
}
