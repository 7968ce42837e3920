import type { Address, ConfirmedTransaction, Hash, PendingTransaction } from '../model/evm.ts'
import type { PoolUpdate } from '../port/pool.ts'
import { hashLength } from '../record/encodeBlock.ts'
import { toHex } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { decodeConfirmed, decodePending } from '../record/record.ts'
import { firstTransactionId, toPosition } from '../record/transactionId.ts'
import { type PoolEntry, PoolMirror, type PresentTransaction } from './poolMirror.ts'
import { countsNonce, rememberedBlocks, SenderNonces } from './senders.ts'

/** Reads of an engine that the pool needs. */
export interface PoolRows {
  /** Stored entries with ids above `id`, ascending, in slices of bounded size; empty at the end. */
  entriesAfter(id: number): Promise<readonly StoredEntry[]>
  /** Stored entries with these ids. */
  entriesOf(ids: readonly number[]): Promise<readonly StoredEntry[]>
  /** Records with ids from `first` up to, and without, `end`, ascending, in slices of bounded size; empty at the end. */
  recordsBetween(
    first: number,
    end: number
  ): Promise<readonly { readonly id: number; readonly rec: Uint8Array }[]>
  /** Those of `hashes` that the newest blocks, up to `head`, hold. A transaction in an older block has left every pool. */
  confirmedOf(hashes: readonly Hash[], head: number): Promise<ReadonlySet<Hash>>
  /** First-seen seconds of those of `hashes` that left the pool lately. */
  firstSeenOf(hashes: readonly Hash[]): Promise<ReadonlyMap<Hash, number>>
}

/** Row of `pool`. */
export interface StoredEntry {
  readonly id: number
  readonly hash: Uint8Array
  readonly status: 0 | 1
  readonly seconds: number
  readonly rec: Uint8Array
}

/** An entry to be stored. */
interface AddedEntry {
  readonly id: number
  readonly transaction: PresentTransaction
  readonly firstSeenSeconds: number
}

/** Why an entry leaves: a block has it, as the transaction with this id; another one took its nonce; it left the node's pool. */
type EntryEnd =
  | { readonly reason: 'confirmed'; readonly id: number }
  | { readonly reason: 'replaced'; readonly replacedBy?: Hash }
  | { readonly reason: 'dropped' }

/** An entry that leaves. */
interface RemovedEntry {
  readonly id: number
  readonly hash: Hash
  readonly parties: readonly Address[]
  readonly end: EntryEnd
}

/** Changes of the stored pool, for one transaction of the engine. */
export interface PoolWrite {
  /** Entries that leave; their first-seen seconds are kept, with this height as that at which they left. */
  readonly removed: readonly RemovedEntry[]
  readonly head: number
  /** Entries whose status is another one now, as they are then. */
  readonly changed: readonly { readonly id: number; readonly transaction: PendingTransaction }[]
  readonly added: readonly AddedEntry[]
  /** First-seen seconds that are not kept any more: these entries have come back. */
  readonly returned: readonly Hash[]
  /** First-seen seconds of entries that left below this height are dropped. */
  readonly dropLeftBelow?: number
  /** Only so many first-seen seconds are kept, of the entries that left last; absent: not checked now, since that is a scan. */
  readonly maxFirstSeen?: number
}

export interface PoolOptions {
  /** How long, in blocks, an entry that left is remembered: as deep as reorgs go. */
  readonly keepFirstSeenBlocks: number
  /** Approximate maximum of remembered entries: pools are flooded at times while no block comes. Default 100,000. */
  readonly maxFirstSeen?: number
}

/**
 * The writer's side of the pool: `PoolMirror` decides, the engine reads and writes. An unchanged pool costs no transaction.
 *
 * Call `stored` when a write has been stored, and `forget` when a transaction failed: memory may be ahead of the store.
 */
export class Pool {
  readonly #rows: PoolRows
  readonly #options: Required<PoolOptions>
  #mirror: PoolMirror | undefined
  #nonces = new SenderNonces()
  /** Newest block that `#nonces` has taken in. */
  #readTo: number | undefined
  #lastId = 0
  #departures = 0

  constructor(rows: PoolRows, options: PoolOptions) {
    this.#rows = rows
    this.#options = { maxFirstSeen: 100_000, ...options }
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

  /**
   * Compares the stored pool with an update.
   * @param head - the newest indexed block, -1 when there is none.
   * @returns absent when nothing differs.
   */
  async update(update: PoolUpdate, head: number): Promise<PoolWrite | undefined> {
    const mirror = await this.#load()
    this.#readTo = Math.max(this.#readTo ?? -1, head - rememberedBlocks)
    await this.#readNonces(head)
    const unknown = mirror.unknown(update)
    const confirmed =
      unknown.length === 0 || head < 0 ? new Set() : await this.#rows.confirmedOf(unknown, head)
    const { added, changed, removed } = mirror.compare(update, head, {
      covers: (from, nonce) => this.#nonces.covers(from, nonce),
      isConfirmed: hash => confirmed.has(hash)
    })
    if (added.length + changed.length + removed.length === 0) return undefined
    const firstSeen =
      added.length === 0 ? new Map() : await this.#rows.firstSeenOf(added.map(({ hash }) => hash))
    const ends = removed.map(([hash, replacedBy]): [Hash, EntryEnd] => [
      hash,
      replacedBy === undefined ? { reason: 'dropped' } : { reason: 'replaced', replacedBy }
    ])
    return {
      ...this.#removal(mirror, new Map(ends), head),
      changed: await this.#readChanged(mirror, new Map(changed)),
      added: added.map((transaction, at) => ({
        id: this.#lastId + 1 + at,
        transaction,
        firstSeenSeconds: firstSeen.get(transaction.hash) ?? update.seenAtSeconds
      })),
      returned: [...firstSeen.keys()]
    }
  }

  /**
   * Finds the entries that new blocks confirm, those that they end because they confirm its sender's nonce or a later one, and
   * those that have waited for them in vain.
   * @param blocks - about to be stored.
   */
  async settle(blocks: PackedBlocks): Promise<PoolWrite> {
    const head = blocks.headers.at(-1)?.ref.number ?? -1
    const mirror = await this.#load()
    const dropLeftBelow = head - this.#options.keepFirstSeenBlocks
    if (mirror.size === 0) return { ...this.#removal(mirror, new Map(), head), dropLeftBelow }
    const nonces = new Map(await this.#readNonces((blocks.headers[0]?.ref.number ?? 0) - 1))
    for (const [from, nonce] of this.#nonces.note(transactionsOf(blocks))) {
      const earlier = nonces.get(from)
      if (earlier === undefined || earlier < nonce) nonces.set(from, nonce)
    }
    this.#readTo = head
    this.#nonces.dropOld(head)
    const confirmed = new Map<Hash, number>()
    let row = 0
    for (const hash of hashesOf(blocks)) confirmed.set(hash, blocks.ids[row++] ?? 0)
    const ended = [...mirror.endedBy(confirmed.keys(), nonces, head)]
    const unconfirmed = ended.filter(hash => !confirmed.has(hash))
    const rivals = unconfirmed.length === 0 ? new Map() : byNonce(blocks)
    const ends = ended.map((hash): [Hash, EntryEnd] => {
      const id = confirmed.get(hash)
      if (id !== undefined) return [hash, { reason: 'confirmed', id }]
      const { from, nonce } = mirror.get(hash) as PoolEntry
      const replacedBy = rivals.get(slotOf(from, nonce))
      if (replacedBy !== undefined) return [hash, { reason: 'replaced', replacedBy }]
      const isPassed = nonce <= (nonces.get(from) ?? -1n)
      return [hash, { reason: isPassed ? 'replaced' : 'dropped' }]
    })
    return { ...this.#removal(mirror, new Map(ends), head), dropLeftBelow }
  }

  /**
   * Finds the entries that blocks older than the index confirm: a node that lags may show them as pending. They are `dropped`,
   * because the log of changes does not have these blocks.
   * @param head - the newest indexed block.
   * @returns absent when there are none.
   */
  async settleOlder(blocks: PackedBlocks, head: number): Promise<PoolWrite | undefined> {
    const mirror = await this.#load()
    const ends = new Map<Hash, EntryEnd>()
    if (mirror.size > 0) {
      for (const hash of hashesOf(blocks)) if (mirror.get(hash)) ends.set(hash, { reason: 'dropped' })
    }
    return ends.size === 0 ? undefined : this.#removal(mirror, ends, head)
  }

  /** Reads entries as they are stored: another node may word one that is known otherwise. */
  async #readChanged(mirror: PoolMirror, changed: ReadonlyMap<Hash, 0 | 1>): Promise<PoolWrite['changed']> {
    if (changed.size === 0) return []
    const ids = [...changed.keys()].flatMap(hash => mirror.get(hash)?.id ?? [])
    return (await this.#rows.entriesOf(ids)).map(({ id, hash, seconds, rec }) => {
      const status = changed.get(toHex(hash)) ?? 0
      return { id, transaction: { ...decodePending(rec), status, firstSeenSeconds: seconds } }
    })
  }

  stored({ removed, changed, added }: PoolWrite): void {
    const mirror = this.#mirror
    if (mirror === undefined) return
    for (const { hash } of removed) mirror.remove(hash)
    for (const { transaction } of changed) mirror.setStatus(transaction.hash, transaction.status)
    for (const { id, transaction } of added) mirror.add(transaction.hash, toEntry(id, transaction))
    this.#lastId += added.length
    this.#departures += removed.length
    if (this.#isTimeToCount(0)) this.#departures = 0
  }

  #removal(mirror: PoolMirror, ends: ReadonlyMap<Hash, EntryEnd>, head: number): PoolWrite {
    const removed = [...ends].flatMap(([hash, end]): readonly RemovedEntry[] => {
      const entry = mirror.get(hash)
      return entry === undefined ? [] : [{ id: entry.id, hash, parties: [...namedBy(entry)], end }]
    })
    const { maxFirstSeen } = this.#options
    const bound = this.#isTimeToCount(removed.length) ? { maxFirstSeen } : {}
    return { ...{ removed, head, changed: [], added: [], returned: [] }, ...bound }
  }

  #isTimeToCount(departures: number): boolean {
    return this.#departures + departures >= this.#options.maxFirstSeen / 100
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
    for (let first = firstTransactionId(Math.max(0, after + 1)); first < end; ) {
      const rows = await this.#rows.recordsBetween(first, end)
      for (const { id, rec } of rows) found.push(decodeConfirmed(rec, toPosition(id)))
      first = (rows.at(-1)?.id ?? end) + 1
    }
    return found
  }

  async #load(): Promise<PoolMirror> {
    if (this.#mirror !== undefined) return this.#mirror
    const mirror = new PoolMirror()
    this.#lastId = 0
    // A slice at a time: records may hold much calldata, and none of it is kept.
    for (;;) {
      const rows = await this.#rows.entriesAfter(this.#lastId)
      for (const { id, hash, status, rec } of rows) {
        mirror.add(toHex(hash), toEntry(id, { ...decodePending(rec), status }))
      }
      const last = rows.at(-1)
      if (last === undefined) break
      this.#lastId = last.id
    }
    this.#mirror = mirror
    return mirror
  }
}

/** What is kept in memory: the rest may hold much calldata. */
function toEntry(id: number, { status, from, to, nonce }: PresentTransaction): PoolEntry {
  return { id, status, from, nonce, ...(to !== undefined && { to }) }
}

/** Hashes of the transactions of blocks, by sender and nonce. */
function byNonce(blocks: PackedBlocks): ReadonlyMap<string, Hash> {
  const hashes = new Map<string, Hash>()
  for (const { hash, from, nonce, type } of transactionsOf(blocks)) {
    if (countsNonce(type)) hashes.set(slotOf(from, nonce), hash)
  }
  return hashes
}

function slotOf(from: Address, nonce: bigint): string {
  return `${from} ${nonce}`
}

/** The addresses under which a pool transaction is found, each once. */
export function namedBy({
  from,
  to
}: {
  readonly from: Address
  readonly to?: Address
}): ReadonlySet<Address> {
  return new Set(to === undefined ? [from] : [from, to])
}

function* hashesOf({ hashes }: PackedBlocks): Generator<Hash> {
  for (let at = 0; at < hashes.length; at += hashLength) yield toHex(hashes.subarray(at, at + hashLength))
}

function* transactionsOf({ ids, records, recordEnds }: PackedBlocks): Generator<ConfirmedTransaction> {
  let start = 0
  for (const [row, id] of ids.entries()) {
    const end = recordEnds[row] ?? start
    yield decodeConfirmed(records.subarray(start, end), toPosition(id))
    start = end
  }
}
