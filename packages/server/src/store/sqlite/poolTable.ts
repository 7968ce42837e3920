import type { Address, Hash, PendingTransaction } from '../../model/evm.ts'
import { decodePending, encodePending, type PendingRecord } from '../record.ts'
import type { PoolUpdate } from '../store.ts'
import { ConfirmedNonces } from './confirmedNonces.ts'
import type { SqliteConnection } from './driver.ts'
import { addressBytes, hashBytes, toHex } from './hexBytes.ts'
import { SenderQueues } from './senderQueues.ts'
import { createTransactionLookup, type TransactionLookup } from './transactionLookup.ts'

/** What the writer must know of a stored entry to see whether an update or a block changes it. */
interface PoolEntry {
  readonly id: number
  readonly status: 0 | 1
  readonly from: Address
  readonly nonce: bigint
}

type PresentTransaction = Omit<PendingTransaction, 'firstSeenSeconds'>

/** How the stored pool differs from an update. */
export interface PoolChanges {
  readonly added: readonly PresentTransaction[]
  /** Entries whose status is another one now. */
  readonly changed: readonly (readonly [Hash, 0 | 1])[]
  readonly removed: readonly Hash[]
  /** First-seen second of what is new. */
  readonly seenAtSeconds: number
}

/** Nothing differs, so that no write is needed. */
export function isUnchanged({ added, changed, removed }: PoolChanges): boolean {
  return added.length === 0 && changed.length === 0 && removed.length === 0
}

const entriesAtOnce = 1_000

/**
 * The writer's side of the pool. Keeps hash, status, sender and nonce of all entries in memory, so that an unchanged
 * pool costs no statement, and a changed one the statements of its changes. At most one entry of a sender has a nonce.
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
  #entries: Map<Hash, PoolEntry> | undefined
  #queues = new SenderQueues()
  /**
   * Have left the node's pool and may be in a block up to this height. Not stored: after a restart or a reorg the height
   * of an earlier look says nothing any more, the next look names another.
   */
  #gone = new Map<Hash, number>()
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
    this.#lookUp = createTransactionLookup(connection)
    this.#nonces = new ConfirmedNonces(connection)
  }

  forget(): void {
    this.#entries = undefined
    this.#nonces = new ConfirmedNonces(this.#connection)
  }

  /**
   * Compares with what is stored and remembers what has left; writes nothing. `head` is the newest indexed block, -1
   * when there is none.
   */
  compare(update: PoolUpdate, head: number): PoolChanges {
    const entries = this.#load()
    if (this.#nonces.advance(head, { onlyRecent: true }).wentBack) this.#gone.clear()
    const present = onePerHash(update.present)
    const { added, replaced } = this.#takeNew(present)
    const changed: (readonly [Hash, 0 | 1])[] = []
    const removed: Hash[] = [...replaced]
    const gone = new Map<Hash, number>()
    for (const [hash, entry] of entries) {
      if (replaced.has(hash)) continue
      const shown = present.get(hash)
      if (shown !== undefined) {
        if (shown.status !== entry.status) changed.push([hash, shown.status])
        continue
      }
      // The first look that missed it says by which block it must have been mined, if it was.
      const goneAt = Math.min(this.#gone.get(hash) ?? Number.MAX_SAFE_INTEGER, update.headAfter)
      if (head >= goneAt) removed.push(hash)
      else gone.set(hash, goneAt)
    }
    this.#gone = gone
    return { added, changed, removed, seenAtSeconds: update.seenAtSeconds }
  }

  /** Writes what `compare` found. Runs inside the caller's transaction. */
  apply({ added, changed, removed, seenAtSeconds }: PoolChanges, head: number): void {
    const entries = this.#load()
    for (const hash of removed) this.#remove(hash, head)
    for (const [hash, status] of changed) {
      const entry = entries.get(hash)
      if (entry === undefined) continue
      this.#statements.update.run([status, entry.id])
      entries.set(hash, { ...entry, status })
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
    const entries = this.#load()
    this.#statements.deleteOldFirstSeen.run([head - this.#keepFirstSeenBlocks])
    if (entries.size === 0) return
    const { nonces, wentBack } = this.#nonces.advance(head)
    if (wentBack) this.#gone.clear()
    for (const hash of confirmed) this.#remove(hash, head)
    for (const [from, nonce] of nonces) {
      for (const hash of this.#queues.upTo(from, nonce)) this.#remove(hash, head)
    }
    for (const [hash, goneAt] of this.#gone) {
      if (goneAt <= head) this.#remove(hash, head)
    }
    this.#boundFirstSeen()
  }

  /** What is not stored yet and neither confirmed nor ended by a block; and the stored ones whose nonces it takes. */
  #takeNew(present: ReadonlyMap<Hash, PresentTransaction>): {
    readonly added: readonly PresentTransaction[]
    readonly replaced: ReadonlySet<Hash>
  } {
    const entries = this.#load()
    const byNonce = new Map<string, PresentTransaction>()
    for (const [hash, transaction] of present) {
      const { from, nonce } = transaction
      if (entries.has(hash) || this.#nonces.covers(from, nonce) || this.#isConfirmed(hash)) continue
      const key = `${from} ${nonce}`
      const rival = byNonce.get(key)
      if (rival === undefined || outbids(transaction, rival)) byNonce.set(key, transaction)
    }
    const added: PresentTransaction[] = []
    const replaced = new Set<Hash>()
    for (const transaction of byNonce.values()) {
      const stored = this.#queues.at(transaction.from, transaction.nonce)
      const rival = stored === undefined ? undefined : present.get(stored)
      if (rival !== undefined && !outbids(transaction, rival)) continue
      if (stored !== undefined) replaced.add(stored)
      added.push(transaction)
    }
    return { added, replaced }
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
    this.#load().set(hash, { id, status, from, nonce })
    this.#queues.add(from, { nonce, hash })
  }

  /** Nothing happens when it is not stored. */
  #remove(hash: Hash, head: number): void {
    const entries = this.#load()
    const entry = entries.get(hash)
    const stored = entry === undefined ? undefined : this.#statements.entry.get([entry.id])
    if (entry === undefined || stored === undefined) return
    const { from, to } = decodePending(stored.rec)
    for (const address of namedBy(from, to)) {
      this.#statements.deleteAddress.run([addressBytes(address), entry.id])
    }
    this.#statements.keepFirstSeen.run([hashBytes(hash), stored.seconds, head])
    this.#departures++
    this.#statements.delete.run([entry.id])
    entries.delete(hash)
    this.#gone.delete(hash)
    this.#queues.remove(from, { nonce: entry.nonce, hash })
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
    return this.#statements.newestEpochs.all([]).some(({ id }) => this.#lookUp(id, hash) !== undefined)
  }

  #load(): Map<Hash, PoolEntry> {
    if (this.#entries !== undefined) return this.#entries
    const entries = new Map<Hash, PoolEntry>()
    this.#queues = new SenderQueues()
    this.#gone = new Map()
    // A slice at a time: records may hold much calldata, and none of it is kept.
    for (let after = -1; ; ) {
      const rows = this.#statements.entries.all([after])
      for (const { id, hash, status, rec } of rows) {
        const { from, nonce } = decodePending(rec)
        entries.set(toHex(hash), { id, status, from, nonce })
        this.#queues.add(from, { nonce, hash: toHex(hash) })
      }
      const last = rows.at(-1)
      if (last === undefined) break
      after = last.id
    }
    this.#entries = entries
    return entries
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
    ),
    newestEpochs: connection.prepare<{ id: number }>('SELECT id FROM epoch ORDER BY id DESC LIMIT 2')
  }
}

/** The addresses under which a pool transaction is found, each once. */
function namedBy(from: Address, to: Address | undefined): ReadonlySet<Address> {
  return new Set(to === undefined ? [from] : [from, to])
}

/** Nodes have listed one transaction as both pending and queued; it is then as good as pending. */
function onePerHash(present: readonly PresentTransaction[]): Map<Hash, PresentTransaction> {
  const byHash = new Map<Hash, PresentTransaction>()
  for (const transaction of present) {
    const known = byHash.get(transaction.hash)
    if (known === undefined || known.status < transaction.status) byHash.set(transaction.hash, transaction)
  }
  return byHash
}

/**
 * Which of two transactions with one sender and nonce is the replacement: nodes take one only for a higher price. The
 * hash settles what the price does not.
 */
function outbids(a: PendingRecord, b: PendingRecord): boolean {
  const [capA, capB] = [a.maxFeePerGas ?? a.gasPrice ?? 0n, b.maxFeePerGas ?? b.gasPrice ?? 0n]
  if (capA !== capB) return capA > capB
  const [tipA, tipB] = [a.maxPriorityFeePerGas ?? capA, b.maxPriorityFeePerGas ?? capB]
  return tipA === tipB ? a.hash > b.hash : tipA > tipB
}
