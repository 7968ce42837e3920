import type { Address, Hash, PendingTransaction } from '../../model/evm.ts'
import { decodePending, encodePending } from '../record.ts'
import type { PoolUpdate } from '../store.ts'
import type { SqliteConnection } from './driver.ts'
import { addressBytes, hashBytes, toHex } from './hexBytes.ts'
import { createTransactionLookup, type TransactionLookup } from './transactionLookup.ts'

/** What the writer must know of a stored entry to see whether an update changes it. */
interface PoolEntry {
  readonly id: number
  readonly status: 0 | 1
  /** Has left the node's pool; may still be in a block up to this height. */
  readonly goneAt?: number
}

type PresentTransaction = Omit<PendingTransaction, 'firstSeenSeconds'>

/** How the stored pool differs from an update. Empty lists: nothing to write. */
export interface PoolChanges {
  readonly added: readonly PresentTransaction[]
  readonly changed: readonly (readonly [Hash, PoolEntry])[]
  readonly removed: readonly Hash[]
  /** First-seen second of what is new. */
  readonly seenAtSeconds: number
}

/** Nothing differs, so that no write is needed. */
export function isUnchanged({ added, changed, removed }: PoolChanges): boolean {
  return added.length === 0 && changed.length === 0 && removed.length === 0
}

/**
 * The writer's side of the pool. Keeps hashes and states of all entries in memory, so that an unchanged pool costs
 * no statement. After a failed transaction call `forget`: memory may be ahead of the file.
 */
export class PoolTable {
  readonly #keepFirstSeenBlocks: number
  readonly #statements: ReturnType<typeof prepare>
  readonly #lookUp: TransactionLookup
  #entries: Map<Hash, PoolEntry> | undefined

  /** @param keepFirstSeenBlocks - how long, in blocks, an entry that left is remembered: as deep as reorgs go. */
  constructor(connection: SqliteConnection, keepFirstSeenBlocks: number) {
    this.#keepFirstSeenBlocks = keepFirstSeenBlocks
    this.#statements = prepare(connection)
    this.#lookUp = createTransactionLookup(connection)
  }

  forget(): void {
    this.#entries = undefined
  }

  /** Compares with what is stored; reads only. `head` is the newest indexed block, -1 when there is none. */
  compare(update: PoolUpdate, head: number): PoolChanges {
    const entries = this.#load()
    const present = onePerHash(update.present)
    const added: PresentTransaction[] = []
    const changed: (readonly [Hash, PoolEntry])[] = []
    const removed: Hash[] = []
    for (const [hash, transaction] of present) {
      const entry = entries.get(hash)
      if (entry === undefined) {
        if (!this.#isConfirmed(hash)) added.push(transaction)
      } else if (entry.status !== transaction.status || entry.goneAt !== undefined) {
        changed.push([hash, { id: entry.id, status: transaction.status }])
      }
    }
    for (const [hash, entry] of entries) {
      if (present.has(hash)) continue
      // The first look that missed it says by which block it must have been mined, if it was.
      const goneAt = Math.min(entry.goneAt ?? Number.MAX_SAFE_INTEGER, update.headAfter)
      if (head >= goneAt) removed.push(hash)
      else if (goneAt !== entry.goneAt) changed.push([hash, { ...entry, goneAt }])
    }
    return { added, changed, removed, seenAtSeconds: update.seenAtSeconds }
  }

  /** Writes what `compare` found. Runs inside the caller's transaction. */
  apply({ added, changed, removed, seenAtSeconds }: PoolChanges, head: number): void {
    const entries = this.#load()
    for (const hash of removed) this.#remove(hash, head)
    for (const [hash, entry] of changed) {
      this.#statements.update.run([entry.status, entry.goneAt ?? null, entry.id])
      entries.set(hash, entry)
    }
    let id = this.#statements.maxId.get([])?.id ?? 0
    for (const transaction of added) this.#insert(++id, transaction, seenAtSeconds)
  }

  /**
   * Takes out what new blocks confirm and what has waited for them in vain. Runs inside the caller's transaction,
   * after the blocks are written; `head` is the last of them.
   */
  settle(confirmed: Iterable<Hash>, head: number): void {
    const entries = this.#load()
    this.#statements.deleteOldFirstSeen.run([head - this.#keepFirstSeenBlocks])
    if (entries.size === 0) return
    for (const hash of confirmed) {
      if (entries.has(hash)) this.#remove(hash, head)
    }
    for (const [hash, { goneAt }] of [...entries]) {
      if (goneAt !== undefined && goneAt <= head) this.#remove(hash, head)
    }
  }

  #insert(id: number, transaction: PresentTransaction, seenAtSeconds: number): void {
    const { hash, status, from, to } = transaction
    const hashKey = hashBytes(hash)
    const firstSeen = this.#statements.firstSeen.get([hashKey])?.seconds
    if (firstSeen !== undefined) this.#statements.deleteFirstSeen.run([hashKey])
    const rec = encodePending(transaction)
    this.#statements.insert.run([id, hashKey, status, firstSeen ?? seenAtSeconds, rec])
    for (const address of namedBy(from, to)) {
      this.#statements.insertAddress.run([addressBytes(address), id])
    }
    this.#load().set(hash, { id, status })
  }

  #remove(hash: Hash, head: number): void {
    const id = this.#load().get(hash)?.id
    const stored = id === undefined ? undefined : this.#statements.entry.get([id])
    if (id === undefined || stored === undefined) return
    const { from, to } = decodePending(stored.rec)
    for (const address of namedBy(from, to)) {
      this.#statements.deleteAddress.run([addressBytes(address), id])
    }
    this.#statements.keepFirstSeen.run([hashBytes(hash), stored.seconds, head])
    this.#statements.delete.run([id])
    this.#load().delete(hash)
  }

  /** Looks into the two newest epochs: a transaction confirmed before them has long left every pool. */
  #isConfirmed(hash: Hash): boolean {
    return this.#statements.newestEpochs.all([]).some(({ id }) => this.#lookUp(id, hash) !== undefined)
  }

  #load(): Map<Hash, PoolEntry> {
    if (this.#entries !== undefined) return this.#entries
    const entries = new Map<Hash, PoolEntry>()
    for (const { id, hash, status, goneAt } of this.#statements.entries.all([])) {
      entries.set(toHex(hash), { id, status, ...(goneAt !== null && { goneAt }) })
    }
    this.#entries = entries
    return entries
  }
}

function prepare(connection: SqliteConnection) {
  return {
    entries: connection.prepare<{ id: number; hash: Uint8Array; status: 0 | 1; goneAt: number | null }>(
      'SELECT id, hash, status, gone_at AS goneAt FROM pool'
    ),
    entry: connection.prepare<{ rec: Uint8Array; seconds: number }>(
      'SELECT rec, first_seen_seconds AS seconds FROM pool WHERE id = ?'
    ),
    maxId: connection.prepare<{ id: number | null }>('SELECT max(id) AS id FROM pool'),
    insert: connection.prepare(
      'INSERT INTO pool (id, hash, status, first_seen_seconds, rec) VALUES (?, ?, ?, ?, ?)'
    ),
    update: connection.prepare('UPDATE pool SET status = ?, gone_at = ? WHERE id = ?'),
    delete: connection.prepare('DELETE FROM pool WHERE id = ?'),
    insertAddress: connection.prepare('INSERT INTO pool_address VALUES (?, ?)'),
    deleteAddress: connection.prepare('DELETE FROM pool_address WHERE address = ? AND pool_id = ?'),
    firstSeen: connection.prepare<{ seconds: number }>(
      'SELECT first_seen_seconds AS seconds FROM first_seen WHERE hash = ?'
    ),
    keepFirstSeen: connection.prepare('INSERT OR REPLACE INTO first_seen VALUES (?, ?, ?)'),
    deleteFirstSeen: connection.prepare('DELETE FROM first_seen WHERE hash = ?'),
    deleteOldFirstSeen: connection.prepare('DELETE FROM first_seen WHERE left_at < ?'),
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
