import type { Address, Hash, PendingTransaction } from '../model/evm.ts'
import type { PoolUpdate } from '../port/pool.ts'
import type { PendingRecord } from '../record/record.ts'

/** Part of a stored entry that is kept in memory: the rest may hold much calldata. */
export interface PoolEntry {
  /** Its row. */
  readonly id: number
  readonly hash: Hash
  readonly status: 0 | 1
  readonly from: Address
  readonly to?: Address
  readonly nonce: bigint
  /** When it was first seen. */
  readonly seconds: number
}

export type PresentTransaction = Omit<PendingTransaction, 'firstSeenSeconds'>

/** How the stored pool differs from an update. */
export interface PoolChanges {
  readonly added: readonly PresentTransaction[]
  /** Entries whose status is another one now, as they are then. */
  readonly changed: readonly PoolEntry[]
  /** And by which of the added ones each is replaced; absent: it has left the pool. */
  readonly removed: ReadonlyMap<Hash, Hash | undefined>
}

/** Asks the index about transactions that are not in the stored pool. */
export interface ConfirmedView {
  /** A block has this nonce of the sender, or a higher one. */
  covers(from: Address, nonce: bigint): boolean
  isConfirmed(hash: Hash): boolean
}

/**
 * The rules of the pool, over all stored entries, in memory: the changes that a poll or a block makes are found without a statement. At
 * most one entry of a sender has a nonce.
 */
export class PoolMirror {
  readonly #entries = new Map<Hash, PoolEntry>()
  readonly #bySender = new Map<Address, Map<bigint, Hash>>()
  /**
   * Have left the node's pool and may be in a block up to this height. Not stored: after a restart or a reorg the height
   * of an earlier poll is no longer valid; the next poll sets another.
   */
  #gone = new Map<Hash, number>()

  get size(): number {
    return this.#entries.size
  }

  get(hash: Hash): PoolEntry | undefined {
    return this.#entries.get(hash)
  }

  /** Puts an entry in the place of the one with its hash, if there is one. */
  set(entry: PoolEntry): void {
    const { hash, from, nonce } = entry
    this.#entries.set(hash, entry)
    const own = this.#bySender.get(from) ?? new Map()
    this.#bySender.set(from, own.set(nonce, hash))
  }

  /** Nothing happens when it is not there. */
  remove(hash: Hash): void {
    const entry = this.#entries.get(hash)
    if (entry === undefined) return
    this.#entries.delete(hash)
    this.#gone.delete(hash)
    const own = this.#bySender.get(entry.from)
    if (own?.get(entry.nonce) === hash) own.delete(entry.nonce)
    if (own?.size === 0) this.#bySender.delete(entry.from)
  }

  /** Forgets, after blocks were removed, by which block an entry that has left may have been mined. */
  forgetGone(): void {
    this.#gone.clear()
  }

  /** The hashes of an update of which `compare` asks whether they are confirmed: the new ones. */
  unknown({ present }: PoolUpdate): readonly Hash[] {
    return [...new Set(present.map(({ hash }) => hash))].filter(hash => !this.#entries.has(hash))
  }

  /**
   * Compares with an update and remembers what has left; changes no entry. `head` is the newest indexed block, -1 when
   * there is none.
   */
  compare(update: PoolUpdate, head: number, index: ConfirmedView): PoolChanges {
    const present = onePerHash(update.present)
    const { added, replaced } = this.#takeNew(present, index)
    const changed: PoolEntry[] = []
    const removed = new Map<Hash, Hash | undefined>(replaced)
    const gone = new Map<Hash, number>()
    for (const [hash, entry] of this.#entries) {
      if (replaced.has(hash)) continue
      const shown = present.get(hash)
      if (shown !== undefined) {
        if (shown.status !== entry.status) changed.push({ ...entry, status: shown.status })
        continue
      }
      // The first poll that missed it gives the block by which it must have been mined, if it was.
      const goneAt = Math.min(this.#gone.get(hash) ?? Number.MAX_SAFE_INTEGER, update.headAfter)
      if (head >= goneAt) removed.set(hash, undefined)
      else gone.set(hash, goneAt)
    }
    this.#gone = gone
    return { added, changed, removed }
  }

  /**
   * The entries that blocks up to `head` end: those that they confirm, those whose sender's nonce they confirm or pass,
   * and those that have waited for them in vain. Changes nothing.
   * @param nonces - the highest nonce of each sender in these blocks.
   */
  endedBy(confirmed: Iterable<Hash>, nonces: ReadonlyMap<Address, bigint>, head: number): ReadonlySet<Hash> {
    const ended = new Set<Hash>()
    for (const hash of confirmed) if (this.#entries.has(hash)) ended.add(hash)
    for (const [from, nonce] of nonces) {
      for (const [own, hash] of this.#bySender.get(from) ?? []) if (own <= nonce) ended.add(hash)
    }
    for (const [hash, goneAt] of this.#gone) if (goneAt <= head) ended.add(hash)
    return ended
  }

  /** What is not stored yet and neither confirmed nor ended by a block; and the stored ones whose nonces it takes, with what does. */
  #takeNew(
    present: ReadonlyMap<Hash, PresentTransaction>,
    index: ConfirmedView
  ): { readonly added: readonly PresentTransaction[]; readonly replaced: ReadonlyMap<Hash, Hash> } {
    const byNonce = new Map<string, PresentTransaction>()
    for (const [hash, transaction] of present) {
      const { from, nonce } = transaction
      if (this.#entries.has(hash) || index.covers(from, nonce) || index.isConfirmed(hash)) continue
      const key = `${from} ${nonce}`
      const rival = byNonce.get(key)
      if (rival === undefined || outbids(transaction, rival)) byNonce.set(key, transaction)
    }
    const added: PresentTransaction[] = []
    const replaced = new Map<Hash, Hash>()
    for (const transaction of byNonce.values()) {
      const stored = this.#bySender.get(transaction.from)?.get(transaction.nonce)
      const rival = stored === undefined ? undefined : present.get(stored)
      if (rival !== undefined && !outbids(transaction, rival)) continue
      if (stored !== undefined) replaced.set(stored, transaction.hash)
      added.push(transaction)
    }
    return { added, replaced }
  }
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
