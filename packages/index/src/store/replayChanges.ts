import type { Address, BlockRef, Hash } from '../model/evm.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import {
  type AccountChange,
  type ChangeBounds,
  type ChangePage,
  type ChangePosition,
  ChangesExpiredError,
  type ChangesOptions
} from '../port/changes.ts'
import type { FilteredStretch } from '../record/ChangeFilter.ts'
import {
  type BlocksEntry,
  decodeBlocks,
  decodePool,
  decodeRollback,
  type EndedEntry,
  type LoggedTransaction,
  partyKeys
} from '../record/changeEntries.ts'
import { decodeConfirmed, hashOfRecord } from '../record/record.ts'
import { toPosition } from '../record/transactionId.ts'
import type { LogRow } from './ChangeLog.ts'
import { namedBy } from './Pool.ts'

/** Reads of one snapshot that a replay needs. */
export interface ReplayedRows {
  /** The next `entriesAtOnce` entries from this number on, oldest first; fewer at the end. */
  rowsFrom(entry: number): Promise<readonly LogRow[]>
  /** What is known of the next two entries from this number on without their bytes. */
  factsFrom(entry: number): Promise<readonly Omit<LogRow, 'rec'>[]>
  /** Entries from `from` on and before `before` that appended any of the blocks `first` to `last`, newest first. */
  appended(first: number, last: number, from: number, before: number): Promise<readonly LogRow[]>
  /** Entries after this one that removed a block at or below `block`; the oldest of them. */
  removal(after: number, block: number): Promise<LogRow | undefined>
  /** Records of the index. Ids without a record are left out. */
  recordsOf(ids: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>>
  /** The indexed block at a height. */
  blockRef(number: number): Promise<BlockRef | undefined>
}

/** The number after that of every change of an entry. */
const wholeEntry = 2 ** 32
/** One transaction has at most so many changes in one entry: for those that it had before, that are new, that it has no more. */
const changesEach = 4
const [forKept, forNew, forGone] = [0, 1, 2]
/** Blocks whose transactions are called final at once. */
const finalAtOnce = 64
/** Entries of a slice: those of a long catch-up are large. */
export const entriesAtOnce = 16

/** The position after a whole entry. */
export function afterEntry(entry: number): ChangePosition {
  return { entry, index: wholeEntry }
}

/**
 * Replays the log, in the same way whenever and wherever it is read: as to what an entry says, nothing but the log and the records
 * of the blocks that it names counts.
 */
export async function* replayChanges(
  rows: ReplayedRows,
  bounds: ChangeBounds,
  after: ChangePosition,
  options: ChangesOptions = {}
): AsyncGenerator<ChangePage> {
  const begin = await findBegin(rows, bounds, after)
  if (begin === undefined) return
  const newest = bounds.newest.entry
  const replay = new Replay(rows, options.watched)
  const readPart = createPartReader(rows, bounds, replay, options)
  let previous: number | undefined
  /** Where the last rows ended, if stretches were skipped after them. */
  let beforeSkipped: { readonly next: number; readonly previous: number | undefined } | undefined
  for (let next = begin; ; ) {
    const { quiet, slice } = await readPart(next)
    if (quiet !== undefined) {
      beforeSkipped ??= { next, previous }
      previous = quiet.last
      next = quiet.last + 1
      if (quiet.last > after.entry) yield { changes: [], position: afterEntry(quiet.last) }
      continue
    }
    const isLinked = previous === undefined || previous === (slice[0]?.previous ?? newest)
    if (!isLinked && beforeSkipped !== undefined) {
      // The filter knows entries that the store has lost since, as after a fail-over.
      options.filter?.forget()
      ;({ next, previous } = beforeSkipped)
      beforeSkipped = undefined
      continue
    }
    beforeSkipped = undefined
    for (const row of slice) {
      if (previous !== undefined && row.previous !== previous) throw lostEntry(row.previous)
      previous = row.entry
      const isPartly = row.entry === after.entry && after.index < wholeEntry
      const isShown = row.entry > after.entry || isPartly
      const changes = await replay.take(row, isShown)
      if (!isShown) continue
      const left = isPartly ? changes.filter(({ position }) => position.index > after.index) : changes
      yield { changes: left, position: afterEntry(row.entry) }
    }
    const last = slice.at(-1)
    if (last === undefined) break
    next = last.entry + 1
  }
  if (previous !== undefined && previous < newest) throw lostEntry(newest)
}

/** @throws {ChangesExpiredError} the log does not have the position, or not all after it. */
export async function requireKept(
  rows: Pick<ReplayedRows, 'factsFrom'>,
  bounds: ChangeBounds,
  after: ChangePosition
): Promise<void> {
  await findBegin(rows, bounds, after)
}

/** Reads the next entries; or a stretch of them that is of no account that is watched, which is not read where the filter knows it. */
function createPartReader(
  rows: ReplayedRows,
  { log, oldest, newest }: ChangeBounds,
  replay: Replay,
  { watched, filter }: ChangesOptions
): (next: number) => Promise<{ readonly quiet?: FilteredStretch; readonly slice: readonly LogRow[] }> {
  if (watched === undefined || filter === undefined)
    return async next => ({ slice: await rows.rowsFrom(next) })
  filter.use(log, oldest.entry)
  const isNamed = filter.matchOf(watched)
  const findQuiet = (next: number) => {
    const stretch = replay.hasRemoved ? undefined : filter.at(next)
    if (stretch === undefined || stretch.last > newest.entry || stretch.hasReorg) return undefined
    return isNamed(stretch) ? undefined : stretch
  }
  return async next => {
    const quiet = findQuiet(next)
    if (quiet !== undefined) return { quiet, slice: [] }
    const slice = await rows.rowsFrom(next)
    // The last entries will be part of a longer stretch.
    if (filter.at(next) !== undefined || slice.length < entriesAtOnce) return { slice }
    const unknown = slice.slice(0, filter.countUnknown(slice))
    const keys: number[] = []
    for (const row of unknown)
      for await (const { kind, rec } of sourcesOf(rows, row)) keys.push(...partyKeys(kind, rec))
    filter.learn(unknown, keys)
    const found = findQuiet(next)
    return found === undefined ? { slice } : { quiet: found, slice: [] }
  }
}

/** The entries that name the accounts of the changes of an entry; those of removed transactions excepted. */
async function* sourcesOf(rows: ReplayedRows, row: LogRow): AsyncGenerator<LogRow> {
  if (row.kind !== 'final') yield row
  else for await (const { appended } of appendedParts(rows, row)) yield* appended
}

/** The blocks that an entry calls final, some at a time, with the entries that appended them, newest first. */
async function* appendedParts(
  rows: ReplayedRows,
  { entry, needs = 0, firstBlock = 0, lastBlock = 0 }: LogRow
): AsyncGenerator<{ readonly first: number; readonly last: number; readonly appended: readonly LogRow[] }> {
  for (let first = firstBlock; first <= lastBlock; first += finalAtOnce) {
    const last = Math.min(lastBlock, first + finalAtOnce - 1)
    yield { first, last, appended: await rows.appended(first, last, needs, entry) }
  }
}

/**
 * @returns the entry that the reading begins with, which may be one before the position; absent: there is nothing after it.
 * @throws {ChangesExpiredError} the log does not have the position, or not all after it.
 */
async function findBegin(
  rows: Pick<ReplayedRows, 'factsFrom'>,
  { oldest, newest }: ChangeBounds,
  after: ChangePosition
): Promise<number | undefined> {
  if (after.entry < oldest.entry || after.entry > newest.entry) throw expired(after)
  const slice = await rows.factsFrom(after.entry)
  const own = slice.find(({ entry }) => entry === after.entry)
  const isWhole = after.index >= wholeEntry
  const following = own === undefined ? slice[0] : slice[1]
  // The entry itself may be gone, the one after it names it.
  const isKnown = own !== undefined || following?.previous === after.entry || after.entry === newest.entry
  if (!isKnown || (own === undefined && !isWhole)) throw expired(after)
  const first = isWhole ? following : own
  return first && Math.min(first.needs ?? first.entry, first.entry)
}

function expired({ entry, index }: ChangePosition): ChangesExpiredError {
  return new ChangesExpiredError('changes after this position cannot be replayed: read the histories again', {
    entry,
    index
  })
}

function lostEntry(entry: number): IndexDamagedError {
  return new IndexDamagedError({ part: 'change' }, `entry ${entry} is missing`)
}

/** Derives changes, entry after entry. */
class Replay {
  readonly #rows: ReplayedRows
  readonly #watched: ChangesOptions['watched']
  /** Transactions of blocks that a reorg removed, which are in no block and not in the pool since, and their parties. */
  readonly #removed = new Map<Hash, readonly Address[]>()
  readonly #decoded = new Map<number, BlocksEntry>()
  #removal: { readonly entry: number; readonly records: ReadonlyMap<number, Uint8Array> } | undefined

  constructor(rows: ReplayedRows, watched: ChangesOptions['watched']) {
    this.#rows = rows
    this.#watched = watched
  }

  /** Transactions that a reorg removed are told of by later entries, whatever these name. */
  get hasRemoved(): boolean {
    return this.#removed.size > 0
  }

  /** @param isShown - false: only what later entries depend on is read. */
  async take(row: LogRow, isShown: boolean): Promise<readonly AccountChange[]> {
    switch (row.kind) {
      case 'blocks':
        return isShown || this.#removed.size > 0 ? this.#blocks(row) : []
      case 'rollback':
        for (const { transactions } of decodeRollback(row.rec)) {
          for (const { parties, record } of transactions) this.#removed.set(hashOfRecord(record), parties)
        }
        return []
      case 'pool':
        return this.#pool(row)
      case 'settled': {
        const left = [...this.#removed].map(([hash, parties], at) =>
          this.#change(row, at, forGone, hash, parties, { kind: 'removed', reason: 'reorged' })
        )
        this.#removed.clear()
        return left.flat()
      }
      case 'final':
        return isShown ? this.#final(row) : []
      case 'restart':
        this.#removed.clear()
        return []
    }
  }

  async #blocks(row: LogRow): Promise<readonly AccountChange[]> {
    const { blocks, confirmed, ended } = decodeBlocks(row.rec)
    const changes: AccountChange[] = []
    let at = 0
    for (const { ref, transactions } of blocks) {
      // Which of the transactions a reorg had removed, their hashes tell.
      const wanted =
        this.#removed.size > 0 ? transactions : transactions.filter(each => this.#isWatched(each))
      const records = await this.#readRecords(row, ref, wanted)
      for (const transaction of transactions) {
        const record = records.get(transaction.id)
        if (record !== undefined) {
          changes.push(...this.#mined(row, at, ref, transaction, record, confirmed.has(transaction.id)))
        }
        at++
      }
    }
    return [...changes, ...this.#ended(row, at, ended)]
  }

  #mined(
    row: LogRow,
    at: number,
    block: BlockRef,
    { id, parties }: LoggedTransaction,
    record: Uint8Array,
    wasPending: boolean
  ): readonly AccountChange[] {
    const hash = hashOfRecord(record)
    const removed = this.#removed.get(hash)
    this.#removed.delete(hash)
    const pending = wasPending ? [...namedBy(decodeConfirmed(record, toPosition(id)))] : []
    const before = new Set([...(removed ?? []), ...pending])
    const shown = { status: 'confirmed', chunk: { ids: [id], bytes: record } } as const
    const [kept, added, gone] = split(before, parties)
    return [
      ...this.#change(row, at, forKept, hash, kept, { kind: 'confirmed', record: shown, block }),
      ...this.#change(row, at, forNew, hash, added, { kind: 'added', record: shown, block }),
      ...this.#change(row, at, forGone, hash, gone, { kind: 'removed', reason: 'reorged' })
    ]
  }

  #pool(row: LogRow): readonly AccountChange[] {
    const { added, changed, ended } = decodePool(row.rec)
    const changes: AccountChange[] = []
    let at = 0
    for (const transaction of added) {
      const { hash } = transaction
      const record = { status: 'pending', transaction } as const
      const [kept, others, gone] = split(new Set(this.#removed.get(hash)), [...namedBy(transaction)])
      this.#removed.delete(hash)
      changes.push(
        ...this.#change(row, at, forKept, hash, kept, { kind: 'unconfirmed', record }),
        ...this.#change(row, at, forNew, hash, others, { kind: 'added', record }),
        ...this.#change(row, at++, forGone, hash, gone, { kind: 'removed', reason: 'reorged' })
      )
    }
    for (const transaction of changed) {
      const record = { status: 'pending', transaction } as const
      const parties = [...namedBy(transaction)]
      changes.push(
        ...this.#change(row, at++, forKept, transaction.hash, parties, { kind: 'updated', record })
      )
    }
    return [...changes, ...this.#ended(row, at, ended)]
  }

  #ended(row: LogRow, first: number, ended: readonly EndedEntry[]): readonly AccountChange[] {
    return ended.flatMap(({ hash, parties, ...why }, at) =>
      this.#change(row, first + at, forGone, hash, parties, { kind: 'removed', ...why })
    )
  }

  async #final(row: LogRow): Promise<readonly AccountChange[]> {
    const { entry } = row
    const changes: AccountChange[] = []
    let at = 0
    for await (const { first, last, appended: entries } of appendedParts(this.#rows, row)) {
      const left = new Set(Array.from({ length: last - first + 1 }, (_, place) => first + place))
      const found: { readonly row: LogRow; readonly block: BlocksEntry['blocks'][number] }[] = []
      // Newest first: what a reorg removed before is in older entries.
      for (const appended of entries) {
        for (const block of this.#decode(appended).blocks) {
          if (left.delete(block.ref.number)) found.push({ row: appended, block })
        }
      }
      found.sort((a, b) => a.block.ref.number - b.block.ref.number)
      for (const { row: appended, block } of found) {
        const wanted = block.transactions.filter(each => this.#isWatched(each))
        const records = await this.#readRecords(appended, block.ref, wanted, entry)
        for (const { id, parties } of block.transactions) {
          const record = records.get(id)
          if (record !== undefined) {
            const change = { kind: 'final', block: block.ref } as const
            changes.push(...this.#change(row, at, forKept, hashOfRecord(record), parties, change))
          }
          at++
        }
      }
    }
    return changes
  }

  /** Reads records of a block that `row` appended: those of the index, or what a reorg kept of them when it removed the block. */
  async #readRecords(
    row: LogRow,
    block: BlockRef,
    transactions: readonly LoggedTransaction[],
    after = row.entry
  ): Promise<ReadonlyMap<number, Uint8Array>> {
    if (transactions.length === 0) return new Map()
    const ids = transactions.map(({ id }) => id)
    const removal = await this.#rows.removal(after, block.number)
    const isStored = removal === undefined && (await this.#rows.blockRef(block.number))?.hash === block.hash
    const records = removal === undefined ? await this.#rows.recordsOf(ids) : this.#readRemoval(removal)
    const wanted = ids.flatMap((id): readonly [number, Uint8Array][] => {
      const record = records.get(id)
      return record === undefined ? [] : [[id, record]]
    })
    if ((isStored || removal !== undefined) && wanted.length === ids.length) return new Map(wanted)
    // The entry that tells of its removal is lost.
    throw new IndexDamagedError({ part: 'change' }, `block ${block.number} is not the one that was appended`)
  }

  #readRemoval({ entry, rec }: LogRow): ReadonlyMap<number, Uint8Array> {
    if (this.#removal?.entry === entry) return this.#removal.records
    const transactions = decodeRollback(rec).flatMap(block => block.transactions)
    const records = new Map(transactions.map(({ id, record }) => [id, record]))
    this.#removal = { entry, records }
    return records
  }

  /** Entries of many blocks are asked for again, slice after slice. */
  #decode({ entry, rec }: LogRow): BlocksEntry {
    const known = this.#decoded.get(entry)
    if (known !== undefined) return known
    const decoded = decodeBlocks(rec)
    if (this.#decoded.size >= finalAtOnce) this.#decoded.clear()
    this.#decoded.set(entry, decoded)
    return decoded
  }

  #isWatched({ parties }: LoggedTransaction): boolean {
    const accounts = this.#watched
    return accounts === undefined || parties.some(address => accounts.has(address))
  }

  /**
   * @param at - which of the transactions of the entry it is, whoever watches.
   * @returns none, where none of the parties is watched.
   */
  #change(
    { entry }: LogRow,
    at: number,
    order: number,
    hash: Hash,
    parties: readonly Address[],
    change: DistributedOmit<AccountChange, 'position' | 'parties' | 'hash'>
  ): readonly AccountChange[] {
    const accounts = this.#watched
    const seen = accounts === undefined ? parties : parties.filter(address => accounts.has(address))
    if (seen.length === 0) return []
    return [{ ...change, position: { entry, index: at * changesEach + order + 1 }, parties: seen, hash }]
  }
}

type DistributedOmit<T, Keys extends PropertyKey> = T extends unknown ? Omit<T, Keys> : never

/** @returns those of `before` that stay, those that come, and those that do not stay. */
function split(
  before: ReadonlySet<Address>,
  after: readonly Address[]
): readonly [kept: readonly Address[], added: readonly Address[], gone: readonly Address[]] {
  const stays = new Set(after)
  return [
    after.filter(address => before.has(address)),
    after.filter(address => !before.has(address)),
    [...before].filter(address => !stays.has(address))
  ]
}
