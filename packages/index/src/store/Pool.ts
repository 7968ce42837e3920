import type { Address, Hash } from '../model/evm.ts'
import type { PoolUpdate } from '../port/pool.ts'
import type { StoredPending } from '../record/changeEntries.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { decodePending, encodePending } from '../record/record.ts'
import { type PoolEntry, PoolMirror } from './poolMirror.ts'
import type { StoredRecord } from './records.ts'
import { readSent, rememberedBlocks, SenderNonces, type SentTransaction } from './senders.ts'

/** Reads of an engine that the pool needs. */
export interface PoolRows {
  /** Stored entries, by their ids ascending. */
  entries(): AsyncIterable<StoredEntry>
  /** Stored entries with these ids. */
  entriesOf(ids: readonly number[]): Promise<readonly StoredEntry[]>
  /** Records of the blocks from `first` to `last`, by their ids ascending. */
  records(first: number, last: number): AsyncIterable<StoredRecord>
  /** Those of `hashes` that the newest blocks, up to `head`, hold. A transaction in an older block has left every pool. */
  confirmedOf(hashes: readonly Hash[], head: number): Promise<ReadonlySet<Hash>>
  /** First-seen seconds of those of `hashes` that left the pool lately. */
  firstSeenOf(hashes: readonly Hash[]): Promise<ReadonlyMap<Hash, number>>
}

/** Row of `pool`. */
export interface StoredEntry extends StoredPending {
  readonly id: number
  readonly hash: Uint8Array
}

/** An entry to be stored. */
type WrittenEntry = PoolEntry & StoredPending

/** Why an entry leaves: a block has it, as the transaction with this id; another one took its nonce; it left the node's pool. */
type EntryEnd =
  | { readonly reason: 'confirmed'; readonly id: number }
  | { readonly reason: 'replaced'; readonly replacedBy?: Hash }
  | { readonly reason: 'dropped' }

/** Changes of the stored pool, for one transaction of the engine. */
export interface PoolWrite {
  /** Entries that leave; their first-seen seconds are kept, with this height as that at which they left. */
  readonly removed: readonly (PoolEntry & { readonly end: EntryEnd })[]
  readonly head: number
  /** Entries whose status is another one now, as they are then. */
  readonly changed: readonly WrittenEntry[]
  readonly added: readonly WrittenEntry[]
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
 * Call `forget` when a transaction failed: memory is ahead of the store.
 */
export class Pool {
  readonly #rows: PoolRows
  readonly #options: Required<PoolOptions>
  #mirror: PoolMirror | undefined
  #nonces = new SenderNonces()
  /** Newest block that `#nonces` has taken in. */
  #readTo = -1
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
    this.#readTo = -1
    this.#mirror?.forgetGone()
  }

  /**
   * Compares the stored pool with an update.
   * @param head - the newest indexed block, -1 when there is none.
   * @returns absent when nothing differs.
   */
  async update(update: PoolUpdate, head: number): Promise<PoolWrite | undefined> {
    const mirror = await this.#load()
    this.#nonces.note(await this.#readUnread(head), head)
    const unknown = mirror.unknown(update)
    const confirmed =
      unknown.length === 0 || head < 0 ? new Set() : await this.#rows.confirmedOf(unknown, head)
    const { added, changed, removed } = mirror.compare(update, head, {
      covers: (from, nonce) => this.#nonces.covers(from, nonce),
      isConfirmed: hash => confirmed.has(hash)
    })
    if (added.length + changed.length + removed.size === 0) return undefined
    const firstSeen =
      added.length === 0 ? new Map() : await this.#rows.firstSeenOf(added.map(({ hash }) => hash))
    const rows = changed.length === 0 ? [] : await this.#rows.entriesOf(changed.map(({ id }) => id))
    const recs = new Map(rows.map(({ id, rec }) => [id, rec]))
    const write = {
      ...this.#remove(mirror, removed.keys(), head, hash => {
        const replacedBy = removed.get(hash)
        return replacedBy === undefined ? { reason: 'dropped' } : { reason: 'replaced', replacedBy }
      }),
      // As they are stored: another node may word one that is known otherwise.
      changed: changed.flatMap(entry => {
        const rec = recs.get(entry.id)
        return rec === undefined ? [] : [{ ...entry, rec }]
      }),
      added: added.map(transaction => {
        const seconds = firstSeen.get(transaction.hash) ?? update.seenAtSeconds
        return { ...toEntry(++this.#lastId, seconds, transaction), rec: encodePending(transaction) }
      }),
      returned: [...firstSeen.keys()]
    }
    for (const { rec: _, ...entry } of [...write.changed, ...write.added]) mirror.set(entry)
    return write
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
    if (mirror.size === 0) return { ...unchanged, head, dropLeftBelow }
    const before = await this.#readUnread((blocks.headers[0]?.ref.number ?? 0) - 1)
    const sent = readSent({ ids: [...blocks.ids], bytes: blocks.records })
    const nonces = this.#nonces.note([...before, ...sent], head)
    this.#readTo = head
    const confirmed = new Map(sent.map(({ hash }, row) => [hash, blocks.ids[row] ?? 0]))
    const ended = mirror.endedBy(confirmed.keys(), nonces, head)
    const hasRivals = [...ended].some(hash => !confirmed.has(hash))
    const rivals = new Map(
      hasRivals ? sent.flatMap(each => (each.isCounted ? [[slotOf(each), each.hash] as const] : [])) : []
    )
    const write = this.#remove(mirror, ended, head, (hash, entry) => {
      const id = confirmed.get(hash)
      if (id !== undefined) return { reason: 'confirmed', id }
      const replacedBy = rivals.get(slotOf(entry))
      if (replacedBy !== undefined) return { reason: 'replaced', replacedBy }
      return { reason: entry.nonce <= (nonces.get(entry.from) ?? -1n) ? 'replaced' : 'dropped' }
    })
    return { ...write, dropLeftBelow }
  }

  /**
   * Finds the entries that blocks older than the index confirm: a node that lags may show them as pending. They are `dropped`,
   * because the log of changes does not have these blocks.
   * @param head - the newest indexed block.
   * @returns absent when there are none.
   */
  async settleOlder(blocks: PackedBlocks, head: number): Promise<PoolWrite | undefined> {
    const mirror = await this.#load()
    if (mirror.size === 0) return undefined
    const hashes = readSent({ ids: [...blocks.ids], bytes: blocks.records }).map(({ hash }) => hash)
    const write = this.#remove(mirror, hashes, head, () => ({ reason: 'dropped' }))
    return write.removed.length === 0 ? undefined : write
  }

  /** Removes those of these entries that there are. */
  #remove(
    mirror: PoolMirror,
    hashes: Iterable<Hash>,
    head: number,
    endOf: (hash: Hash, entry: PoolEntry) => EntryEnd
  ): PoolWrite {
    const removed = [...hashes].flatMap(hash => {
      const entry = mirror.get(hash)
      return entry === undefined ? [] : [{ ...entry, end: endOf(hash, entry) }]
    })
    for (const { hash } of removed) mirror.remove(hash)
    const { maxFirstSeen } = this.#options
    this.#departures += removed.length
    if (this.#departures < maxFirstSeen / 100) return { ...unchanged, head, removed }
    this.#departures = 0
    return { ...unchanged, head, removed, maxFirstSeen }
  }

  /** Reads who has sent the transactions of the newest blocks up to `head` that were not read yet. */
  async #readUnread(head: number): Promise<readonly SentTransaction[]> {
    const found: SentTransaction[] = []
    const first = Math.max(this.#readTo, head - rememberedBlocks, -1) + 1
    for await (const { id, rec } of this.#rows.records(first, head)) {
      found.push(...readSent({ ids: [id], bytes: rec }))
    }
    this.#readTo = Math.max(this.#readTo, head)
    return found
  }

  async #load(): Promise<PoolMirror> {
    if (this.#mirror !== undefined) return this.#mirror
    const mirror = new PoolMirror()
    this.#lastId = 0
    for await (const { id, status, seconds, rec } of this.#rows.entries()) {
      mirror.set(toEntry(id, seconds, { ...decodePending(rec), status }))
      this.#lastId = id
    }
    this.#mirror = mirror
    return mirror
  }
}

const unchanged = { removed: [], changed: [], added: [], returned: [] }

function toEntry(
  id: number,
  seconds: number,
  { hash, status, from, to, nonce }: Omit<PoolEntry, 'id' | 'seconds'>
): PoolEntry {
  return { id, hash, status, from, nonce, seconds, ...(to !== undefined && { to }) }
}

function slotOf({ from, nonce }: Pick<PoolEntry, 'from' | 'nonce'>): string {
  return `${from} ${nonce}`
}

/** The addresses under which a pool transaction is found, each once. */
export function namedBy({ from, to }: Pick<PoolEntry, 'from' | 'to'>): ReadonlySet<Address> {
  return new Set(to === undefined ? [from] : [from, to])
}
