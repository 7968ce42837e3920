import type { Address, BlockRef, Hash } from '../model/evm.ts'
import { unlessDamaged } from '../platform/errors.ts'
import {
  addParties,
  addressesIn,
  encodeChanges,
  entryKinds,
  type LoggedBody,
  type LoggedChange,
  type LoggedPlace,
  partiesOf,
  readChanges
} from '../record/changeEntries.ts'
import type { BlocksWithRows } from '../record/deriveRows.ts'
import { toHex } from '../record/hexBytes.ts'
import { addressLength, hashLength } from '../record/RecordParts.ts'
import { hashOfRecord } from '../record/record.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { namedBy, type PoolRows, type PoolWrite } from './Pool.ts'
import { rowLists } from './sets.ts'

/** What is known of an entry without its bytes: row of `change_log`. */
interface LogFacts {
  readonly entry: number
  /** Number of the entry before it; 0 of the first one. */
  readonly previous: number
  /** One of `entryKinds`. */
  readonly kind: number
  /** The blocks that it appends or removes. */
  readonly first_block: number | null
  readonly last_block: number | null
}

/** An entry of the log. */
export interface LogRow extends LogFacts {
  readonly rec: Uint8Array
}

/** Changes of the stored log, for one transaction of the engine. */
export interface LogWrite {
  readonly rows: readonly LogRow[]
  /** Entries up to this one are deleted. */
  readonly dropUpTo: number
  /** Changes after this entry can be replayed. */
  readonly from: number
  /** The newest entry. */
  readonly to: number
}

/** Reads of an engine that the log needs. */
export interface LogRows {
  /** All entries, oldest first, with the number of their bytes. */
  facts(): Promise<readonly (LogFacts & { readonly size: number })[]>
  /** The bytes of these entries, in any order. @throws {IndexDamagedError} one is altered or missing. */
  bytesOf(entries: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>>
}

/** The state of an index that the log goes on from. */
export interface LogStart {
  readonly from: number
  readonly to: number
  readonly finalized?: number
}

export interface LogLayout {
  /** Of so many newest blocks changes are kept. */
  readonly changeLogBlocks: number
  /** Bytes of all entries, at most. */
  readonly changeLogBytes: number
}

/** Default of a server; docs/decisions/0098-changes-are-logged-by-commit.md says how the figures were found. */
export const defaultLogLayout: LogLayout = { changeLogBlocks: 10_000, changeLogBytes: 2 ** 28 }

/** What an entry takes besides its bytes, about. */
const rowBytes = 128
/**
 * Numbers of entries ascend by random steps: an entry that was lost with its machine is not taken for the one that was written in
 * its place. Steps so large last for some billions of entries.
 */
const largestStep = 2 ** 20
/** A reorg of more bytes is not told of: readers begin anew. */
const maxRollbackBytes = 2 ** 25
/** Parties of the changes of one entry, where blocks are called final long after. */
const finalBytes = 2 ** 20

/** Blocks of the chain that an entry appended. */
interface Stretch {
  readonly entry: number
  readonly first: number
  readonly last: number
}

interface State {
  facts: { readonly entry: number; readonly last: number | undefined; readonly size: number }[]
  /** The blocks of the chain that the log knows, oldest first, without a gap up to the head. */
  chain: Stretch[]
  from: number
  to: number
  bytes: number
  /** The reorg since which the index is not settled; absent: it is. */
  unsettledSince: number | undefined
  /** What reorgs removed since then and what has not come back, and who had it. */
  readonly removed: Map<Hash, readonly Address[]>
  finalized: number
  /** The stored entries are not what was written. That keeps no block from being stored: the log begins anew with the next write. */
  isDamaged: boolean
}

/**
 * The writer's side of the log of changes: makes the entries that an engine writes with the rows that they tell of. What an entry
 * tells is decided here, so that whoever reads it depends on no other entry.
 *
 * Call `forget` when a transaction failed: memory is ahead of the store.
 */
export class ChangeLog {
  readonly #rows: LogRows
  readonly #records: Pick<PoolRows, 'records'>
  readonly #start: () => Promise<LogStart>
  readonly #layout: LogLayout
  #state: State | undefined

  constructor(
    rows: LogRows,
    records: Pick<PoolRows, 'records'>,
    start: () => Promise<LogStart>,
    layout: LogLayout
  ) {
    this.#rows = rows
    this.#records = records
    this.#start = start
    this.#layout = layout
  }

  forget(): void {
    this.#state = undefined
  }

  /**
   * Blocks are appended.
   * @param head - of the node, as far as it is known: blocks far below it are not logged, and the log begins anew after them.
   */
  async append(
    blocks: BlocksWithRows,
    pool: PoolWrite,
    { finalized = -1, head }: { readonly finalized?: number; readonly head?: number }
  ): Promise<LogWrite> {
    const state = await this.#load()
    const [first, last] = [blocks.headers[0]?.ref.number ?? 0, blocks.headers.at(-1)?.ref.number ?? 0]
    const isFarBelow = last <= (head ?? last) - this.#layout.changeLogBlocks
    if (isFarBelow || state.isDamaged) return restart(state)
    const pending = new Map(
      pool.removed.flatMap(({ end, ...entry }) =>
        end.reason === 'confirmed' ? [[end.id, namedBy(entry)] as const] : []
      )
    )
    const changes: LoggedChange[] = []
    for (const { hash, parties, ...placed } of transactionsOf(blocks)) {
      const place = { ...placed, isFinal: placed.block.number <= finalized }
      const before = [...(takeRemoved(state, hash) ?? []), ...(pending.get(place.id) ?? [])]
      const [kept, fresh] = [{ ...place, kind: 'confirmed' } as const, { ...place, kind: 'added' } as const]
      changes.push(...changesFor(before, parties, kept, fresh, hash))
    }
    const older = await this.#final(state, Math.min(finalized, first - 1))
    if (older === undefined) return restart(state)
    const row = add(state, entryKinds.blocks, [...changes, ...endedBy(pool)], [first, last])
    state.finalized = Math.max(state.finalized, Math.min(finalized, last))
    return this.#trim(state, [...older, row])
  }

  /** The node calls stored blocks up to this one final. @returns absent: that changes nothing of a block that the log knows. */
  async final(number: number): Promise<LogWrite | undefined> {
    const state = await this.#load()
    if (state.isDamaged) return undefined
    const rows = await this.#final(state, number)
    if (rows === undefined) return restart(state)
    return rows.length === 0 ? undefined : this.#trim(state, rows)
  }

  async pool(pool: PoolWrite): Promise<LogWrite> {
    const state = await this.#load()
    if (state.isDamaged) return restart(state)
    const added = pool.added.flatMap(entry => {
      const before = takeRemoved(state, entry.hash) ?? []
      const [kept, fresh] = [
        { kind: 'unconfirmed', pending: entry },
        { kind: 'waiting', pending: entry }
      ] as const
      return [...changesFor(before, partiesOf(namedBy(entry)), kept, fresh, entry.hash)]
    })
    const changed = pool.changed.map(entry => {
      return { kind: 'updated', pending: entry, parties: partiesOf(namedBy(entry)) } as const
    })
    return this.#trim(state, [add(state, entryKinds.others, [...added, ...changed, ...endedBy(pool)])])
  }

  /** Blocks above `ancestor` up to `head` are removed. Called while they are still stored. */
  async rollback(ancestor: BlockRef, head: number): Promise<LogWrite> {
    const state = await this.#load()
    const first = ancestor.number + 1
    const isKnown = (state.chain[0]?.first ?? head + 1) <= first && !state.isDamaged
    const taken = isKnown ? await unlessDamaged(this.#taken(state, first, head)) : undefined
    if (taken === undefined) return restart(state)
    for (const { parties, record } of taken) state.removed.set(hashOfRecord(record), addressesIn(parties))
    return this.#trim(state, [add(state, entryKinds.rollback, taken, [first, head])])
  }

  /** The index is settled. */
  async settled(): Promise<LogWrite> {
    const state = await this.#load()
    if (state.isDamaged) return restart(state)
    const gone = [...state.removed].map(([hash, parties]) => {
      return { kind: 'reorged', hash, parties: partiesOf(parties) } as const
    })
    return this.#trim(state, [add(state, entryKinds.settled, gone)])
  }

  /** Something changes that the log does not tell: it begins anew, and positions before cannot be replayed. */
  async restart(): Promise<LogWrite> {
    return restart(await this.#load())
  }

  /** Adds what tells that stored blocks up to this one are final. @returns absent: what the log says of them is damaged. */
  async #final(state: State, number: number): Promise<readonly LogRow[] | undefined> {
    const first = Math.max(state.finalized + 1, state.chain[0]?.first ?? number + 1)
    if (number < first) return []
    const found = await unlessDamaged(this.#shown(state, first, number))
    if (found === undefined) return undefined
    state.finalized = number
    const entries: LoggedChange[][] = [[]]
    let bytes = 0
    for (const each of found) {
      entries.at(-1)?.push({ ...each, kind: 'final' })
      bytes += each.parties.length
      if (bytes >= entries.length * finalBytes) entries.push([])
    }
    const told = entries.filter(({ length }) => length > 0)
    return told.map(each => add(state, entryKinds.others, each))
  }

  /** Reads what the log says of the stored blocks of the chain from `first` to `last`. */
  async #shown({ chain }: State, first: number, last: number): Promise<readonly LoggedPlace[]> {
    const found: LoggedPlace[] = []
    for (const list of rowLists(chain.filter(each => each.last >= first && each.first <= last))) {
      const stored = await this.#rows.bytesOf(list.map(({ entry }) => entry))
      for (const { entry, ...stretch } of list) {
        const [from, to] = [Math.max(first, stretch.first), Math.min(last, stretch.last)]
        for (const change of readChanges(stored.get(entry) ?? noChanges)) {
          if (change.kind !== 'added' && change.kind !== 'confirmed') continue
          const { block, id, parties } = change
          if (block.number < from || block.number > to) continue
          addParties(found, { block, id, parties })
        }
      }
    }
    return found
  }

  /** @returns absent: they are too many, or not all of them are there. */
  async #taken(state: State, first: number, head: number) {
    const shown = await this.#shown(state, first, head)
    const records = new Map<number, Uint8Array>()
    let bytes = 0
    for await (const { id, rec } of this.#records.records(first, head)) {
      records.set(id, rec)
      bytes += rec.length
      if (bytes > maxRollbackBytes) return undefined
    }
    const taken = shown.flatMap(each => {
      const record = records.get(each.id)
      return record === undefined ? [] : [{ ...each, kind: 'taken' as const, record }]
    })
    return taken.length === shown.length && taken.length === records.size ? taken : undefined
  }

  /** Drops the oldest entries that are too many. @param rows - that are written now, which stay. */
  #trim(state: State, rows: readonly LogRow[]): LogWrite {
    const { changeLogBlocks, changeLogBytes } = this.#layout
    const { facts } = state
    const oldest = (state.chain.at(-1)?.last ?? -1) - changeLogBlocks
    let [count, left] = [0, state.bytes]
    for (const [at, { last, size }] of facts.slice(0, facts.length - rows.length).entries()) {
      const isOld = last !== undefined && last <= oldest
      if (isOld || left > changeLogBytes) count = at + 1
      else if (last !== undefined) break
      left -= size
    }
    const dropUpTo = facts[count - 1]?.entry ?? 0
    // What a reorg removed is not known any more after a restart.
    if (dropUpTo >= (state.unsettledSince ?? Number.POSITIVE_INFINITY)) return restart(state)
    for (const { size } of facts.splice(0, count)) state.bytes -= size
    state.chain = state.chain.filter(({ entry }) => entry > dropUpTo)
    state.from = Math.max(state.from, dropUpTo)
    return { rows, dropUpTo, from: state.from, to: state.to }
  }

  async #load(): Promise<State> {
    if (this.#state !== undefined) return this.#state
    const { from, to, finalized = -1 } = await this.#start()
    const state: State = {
      ...{ facts: [], chain: [], from, to: 0, bytes: 0, unsettledSince: undefined, removed: new Map() },
      ...{ finalized, isDamaged: false }
    }
    const isRead = await unlessDamaged(this.#readState(state))
    state.isDamaged = isRead === undefined || state.to !== to
    state.finalized = finalized
    state.to = to
    this.#state = state
    return state
  }

  async #readState(state: State): Promise<true> {
    const all = await this.#rows.facts()
    for (const { size, ...facts } of all) take(state, facts, size)
    const since = all.findIndex(({ entry }) => entry === state.unsettledSince)
    if (since === -1) return true
    const unsettled = all.slice(since)
    for (const list of rowLists(unsettled)) {
      const bytes = await this.#rows.bytesOf(list.map(({ entry }) => entry))
      for (const { entry } of list) {
        for (const change of readChanges(bytes.get(entry) ?? noChanges)) {
          if ('pending' in change) state.removed.delete(hashOfRecord(change.pending.rec))
          else if (change.kind === 'taken') {
            state.removed.set(hashOfRecord(change.record), addressesIn(change.parties))
          }
        }
      }
    }
    const removals = unsettled.filter(({ kind }) => kind === entryKinds.rollback)
    const first = Math.min(...removals.map(({ first_block }) => first_block ?? 0))
    const head = state.chain.at(-1)?.last ?? -1
    for await (const { rec } of this.#records.records(first, head)) state.removed.delete(hashOfRecord(rec))
    return true
  }
}

const noChanges = encodeChanges([])

/** Makes the next entry, and takes it into the state. */
function add(
  state: State,
  kind: number,
  changes: Iterable<LoggedChange>,
  [first_block, last_block]: readonly [number, number] | readonly [null, null] = [null, null]
): LogRow {
  const { to: previous } = state
  const entry = previous + 1 + Math.floor(Math.random() * largestStep)
  const rec = encodeChanges(changes)
  const facts = { entry, previous, kind, first_block, last_block }
  take(state, facts, rec.length)
  return { ...facts, rec }
}

function restart(state: State): LogWrite {
  const { to: dropUpTo } = state
  const row = add(state, entryKinds.restart, [])
  return { rows: [row], dropUpTo, from: row.entry, to: row.entry }
}

/** Takes the next entry into the state. */
function take(state: State, { entry, kind, first_block, last_block }: LogFacts, size: number): void {
  const [first, last] = [first_block ?? 0, last_block ?? 0]
  if (kind === entryKinds.blocks) state.chain.push({ entry, first, last })
  if (kind === entryKinds.rollback) {
    const kept = state.chain.filter(each => each.first < first)
    state.chain = kept.map(each => ({ ...each, last: Math.min(each.last, first - 1) }))
    state.unsettledSince ??= entry
    state.finalized = Math.min(state.finalized, first - 1)
  }
  if (kind === entryKinds.restart || kind === entryKinds.settled) {
    state.unsettledSince = undefined
    state.removed.clear()
  }
  if (kind === entryKinds.restart) {
    Object.assign(state, { facts: [], chain: [], bytes: 0, from: entry, isDamaged: false })
  }
  state.facts.push({ entry, last: kind === entryKinds.blocks ? last : undefined, size: size + rowBytes })
  state.bytes += size + rowBytes
  state.to = entry
}

function takeRemoved({ removed }: State, hash: Hash): readonly Address[] | undefined {
  const had = removed.get(hash)
  removed.delete(hash)
  return had
}

/**
 * The changes of a transaction: for the accounts that had it, for those that it is new to, and for those that have it no more.
 * @param after - who has it now.
 */
function* changesFor(
  before: readonly Address[],
  after: Uint8Array,
  kept: LoggedBody,
  fresh: LoggedBody,
  hash: Hash
): Generator<LoggedChange> {
  if (before.length === 0) {
    yield { ...fresh, parties: after }
    return
  }
  const had = new Set(before)
  const has = new Set(addressesIn(after))
  yield { ...kept, parties: partiesOf([...has].filter(each => had.has(each))) }
  yield { ...fresh, parties: partiesOf([...has].filter(each => !had.has(each))) }
  yield { kind: 'reorged', hash, parties: partiesOf([...had].filter(each => !has.has(each))) }
}

/** The entries of the pool that have left, and not because a block has them. */
function endedBy({ removed }: PoolWrite): readonly LoggedChange[] {
  return removed.flatMap(({ end, ...entry }) => {
    if (end.reason === 'confirmed') return []
    const { reason: kind, ...why } = end
    return [{ kind, hash: entry.hash, parties: partiesOf(namedBy(entry)), ...why }]
  })
}

function* transactionsOf({ headers, ids, hashes, partyIds, partyAddresses }: BlocksWithRows) {
  let [row, party] = [0, 0]
  for (const { ref: block } of headers) {
    const end = firstTransactionId(block.number + 1)
    for (; (ids[row] ?? end) < end; row++) {
      const [id, from] = [ids[row] ?? 0, party]
      while (partyIds[party] === id) party++
      const parties = partyAddresses.subarray(from * addressLength, party * addressLength)
      yield { block, id, parties, hash: toHex(hashes.subarray(row * hashLength, (row + 1) * hashLength)) }
    }
  }
}
