import type { BlockRef } from '../model/evm.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import {
  decodeBlocks,
  type EndedEntry,
  type EntryKind,
  encodeBlocks,
  encodePool,
  encodeRollback,
  type LoggedBlock,
  type RemovedTransaction
} from '../record/changeEntries.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import type { PoolRows, PoolWrite } from './Pool.ts'

/** What is known of an entry without its bytes. */
interface LogFacts {
  readonly entry: number
  readonly kind: EntryKind
  /** The blocks that it appends, removes or calls final. */
  readonly firstBlock?: number
  readonly lastBlock?: number
  /** Earliest of the entries that its changes are found by, besides its own bytes; absent: none. */
  readonly needs?: number
  readonly byteCount: number
}

/** An entry of the log. */
export interface LogRow extends Omit<LogFacts, 'byteCount'> {
  /** Number of the entry before it; 0 of the first one. */
  readonly previous: number
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
  /** All entries, oldest first. */
  facts(): Promise<readonly LogFacts[]>
  /** The bytes of these entries, which are there, in their order. */
  bytesOf(entries: readonly number[]): Promise<readonly Uint8Array[]>
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

/** Blocks of the chain that an entry appended. */
interface Stretch {
  readonly entry: number
  readonly first: number
  readonly last: number
}

interface State {
  facts: LogFacts[]
  /** The blocks of the chain that the log knows, oldest first, without a gap up to the head. */
  chain: Stretch[]
  from: number
  to: number
  bytes: number
  /** The reorg since which the index is not settled; absent: it is. */
  unsettledSince: number | undefined
  finalized: number | undefined
  /** The stored entries are not what was written: the log begins anew with the next write. */
  isDamaged: boolean
}

/**
 * The writer's side of the log of changes: makes the entries that an engine writes with the rows that they tell of.
 *
 * Call `stored` when a write has been stored, and `forget` when a transaction failed: memory may be ahead of the store.
 */
export class ChangeLog {
  readonly #rows: LogRows
  readonly #records: Pick<PoolRows, 'recordsBetween'>
  readonly #start: () => Promise<LogStart>
  readonly #layout: LogLayout
  #state: State | undefined

  constructor(
    rows: LogRows,
    records: Pick<PoolRows, 'recordsBetween'>,
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
   * @param blocks - with their parties in any order.
   * @param head - of the node, as far as it is known: blocks far below it are not logged, and the log begins anew after them.
   */
  async append(
    blocks: PackedBlocks,
    pool: PoolWrite,
    { finalized, head }: { readonly finalized?: number; readonly head?: number }
  ): Promise<LogWrite> {
    const state = await this.#load()
    const [first, last] = [blocks.headers[0]?.ref.number ?? 0, blocks.headers.at(-1)?.ref.number ?? 0]
    const isFarBelow = last <= (head ?? last) - this.#layout.changeLogBlocks
    if (isFarBelow || state.isDamaged) return this.#restart(state)
    const confirmed = pool.removed.flatMap(({ end }) => (end.reason === 'confirmed' ? end.id : []))
    const rec = encodeBlocks(blocks, confirmed, pool.removed.flatMap(endedOf))
    const row = this.#row(state, state.to, { kind: 'blocks', firstBlock: first, lastBlock: last, rec })
    const reached = Math.min(finalized ?? -1, last)
    const final = this.#final(state, row.entry, reached, state.chain[0]?.first ?? first, row)
    return this.#write(state, final === undefined ? [row] : [row, final], last)
  }

  /** The node calls stored blocks up to this one final. @returns absent: that is nothing new of a block that the log knows. */
  async final(number: number): Promise<LogWrite | undefined> {
    const state = await this.#load()
    const oldest = state.chain[0]?.first
    if (oldest === undefined || state.isDamaged) return undefined
    const row = this.#final(state, state.to, number, oldest)
    return row && this.#write(state, [row])
  }

  async pool({ removed, changed, added }: PoolWrite): Promise<LogWrite> {
    const state = await this.#load()
    if (state.isDamaged) return this.#restart(state)
    const rec = encodePool({
      added: added.map(({ transaction, firstSeenSeconds }) => ({ ...transaction, firstSeenSeconds })),
      changed: changed.map(({ transaction }) => transaction),
      ended: removed.flatMap(endedOf)
    })
    return this.#write(state, [this.#row(state, state.to, { kind: 'pool', rec })])
  }

  /** Blocks above `ancestor` up to `head` are removed. Called while they are still stored. */
  async rollback(ancestor: BlockRef, head: number): Promise<LogWrite> {
    const state = await this.#load()
    const first = ancestor.number + 1
    if ((state.chain[0]?.first ?? head + 1) > first || state.isDamaged) return this.#restart(state)
    const blocks = await this.#removed(state, first, head).catch((error: unknown) => {
      // What is damaged must not keep a reorg from being stored.
      if (error instanceof IndexDamagedError) return undefined
      throw error
    })
    if (blocks === undefined) return this.#restart(state)
    const rec = encodeRollback(blocks)
    const row = this.#row(state, state.to, { kind: 'rollback', firstBlock: first, lastBlock: head, rec })
    return this.#write(state, [row])
  }

  /** The index is settled. */
  async settled(): Promise<LogWrite> {
    const state = await this.#load()
    if (state.isDamaged) return this.#restart(state)
    return this.#write(state, [this.#row(state, state.to, { kind: 'settled', rec: new Uint8Array(0) })])
  }

  /** Something changes that the log does not tell: it begins anew, and positions before cannot be replayed. */
  async restart(): Promise<LogWrite> {
    return this.#restart(await this.#load())
  }

  stored({ rows, dropUpTo, from, to }: LogWrite): void {
    const state = this.#state
    if (state === undefined) return
    for (const row of rows) take(state, { ...row, byteCount: row.rec.length })
    const kept = dropUpTo === 0 ? 0 : state.facts.findIndex(({ entry }) => entry > dropUpTo)
    for (const { byteCount } of state.facts.splice(0, kept)) state.bytes -= byteCount + rowBytes
    while ((state.chain[0]?.entry ?? Number.POSITIVE_INFINITY) <= dropUpTo) state.chain.shift()
    state.from = from
    state.to = to
  }

  /** @param added - an entry that is written before it, in the same transaction. */
  #final(
    state: State,
    previous: number,
    number: number,
    oldest: number,
    added?: Pick<LogRow, 'entry' | 'firstBlock'>
  ): LogRow | undefined {
    const firstBlock = Math.max((state.finalized ?? -1) + 1, oldest)
    if (number < firstBlock) return undefined
    const isAdded = added !== undefined && firstBlock >= (added.firstBlock ?? 0)
    const entry = isAdded ? added.entry : state.chain.find(({ last }) => last >= firstBlock)?.entry
    const needs = Math.min(entry ?? previous, state.unsettledSince ?? Number.POSITIVE_INFINITY)
    const rec = new Uint8Array(0)
    return { ...this.#row(state, previous, { kind: 'final', firstBlock, lastBlock: number, rec }), needs }
  }

  /** @returns absent: they are too many, or not all of them are there. */
  async #removed(state: State, first: number, head: number) {
    const stretches = state.chain.filter(({ last }) => last >= first)
    const logged = new Map<number, LoggedBlock>()
    for (const bytes of await this.#rows.bytesOf(stretches.map(({ entry }) => entry))) {
      // Blocks that an earlier reorg removed from the newest ones are in entries of before, too: later entries come later.
      for (const block of decodeBlocks(bytes).blocks) logged.set(block.ref.number, block)
    }
    const records = new Map<number, Uint8Array>()
    let bytes = 0
    const end = firstTransactionId(head + 1)
    for (let from = firstTransactionId(first); from < end; ) {
      const rows = await this.#records.recordsBetween(from, end)
      for (const { id, rec } of rows) {
        records.set(id, rec)
        bytes += rec.length
      }
      if (bytes > maxRollbackBytes) return undefined
      from = (rows.at(-1)?.id ?? end) + 1
    }
    const blocks: LoggedBlock<RemovedTransaction>[] = []
    for (let number = first; number <= head; number++) {
      const block = logged.get(number)
      const transactions = block?.transactions.flatMap(each => {
        const record = records.get(each.id)
        return record === undefined ? [] : [{ ...each, record }]
      })
      if (block === undefined || transactions?.length !== block.transactions.length) return undefined
      blocks.push({ ref: block.ref, transactions })
    }
    return blocks
  }

  #row(state: State, previous: number, row: Omit<LogRow, 'entry' | 'previous' | 'needs'>): LogRow {
    const { unsettledSince: needs } = state
    const entry = previous + 1 + Math.floor(Math.random() * largestStep)
    return { ...row, entry, previous, ...(needs !== undefined && { needs }) }
  }

  #restart(state: State): LogWrite {
    const { needs: _, ...row } = this.#row(state, state.to, { kind: 'restart', rec: new Uint8Array(0) })
    return { rows: [row], dropUpTo: state.to, from: row.entry, to: row.entry }
  }

  /** @param head - newest block afterwards; absent: as it was. */
  #write(state: State, rows: readonly LogRow[], head = state.chain.at(-1)?.last ?? -1): LogWrite {
    const to = rows.at(-1)?.entry ?? state.to
    const added = rows.reduce((sum, { rec }) => sum + rec.length + rowBytes, 0)
    const dropped = this.#countDropped(state, head, state.bytes + added)
    if (dropped === 0) return { rows, dropUpTo: 0, from: state.from, to }
    const dropUpTo = state.facts[dropped - 1]?.entry ?? 0
    const kept = [...state.facts.slice(dropped), ...rows]
    const unknown = kept.findLast(({ needs }) => needs !== undefined && needs <= dropUpTo)
    return { rows, dropUpTo, from: Math.max(state.from, dropUpTo, unknown?.entry ?? 0), to }
  }

  /** Counts the oldest entries that are too many. */
  #countDropped({ facts }: State, head: number, bytes: number): number {
    const { changeLogBlocks, changeLogBytes } = this.#layout
    let count = 0
    let left = bytes
    for (const [at, { kind, lastBlock = 0, byteCount }] of facts.entries()) {
      const isOld = kind === 'blocks' && lastBlock <= head - changeLogBlocks
      if (kind === 'blocks' && !isOld && left <= changeLogBytes) break
      if (isOld || left > changeLogBytes) count = at + 1
      left -= byteCount + rowBytes
    }
    return count
  }

  async #load(): Promise<State> {
    if (this.#state !== undefined) return this.#state
    const { from, to, finalized } = await this.#start()
    const state: State = {
      ...{ facts: [], chain: [], from, to, bytes: 0, unsettledSince: undefined, finalized },
      isDamaged: false
    }
    try {
      for (const facts of await this.#rows.facts()) take(state, facts)
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      state.isDamaged = true
    }
    state.isDamaged ||= (state.facts.at(-1)?.entry ?? 0) !== to
    state.finalized = finalized
    this.#state = state
    return state
  }
}

/** Takes the next entry into the state, as it was stored. */
function take(state: State, facts: LogFacts): void {
  const { entry, kind, firstBlock = 0, lastBlock = 0, byteCount } = facts
  state.facts.push(facts)
  state.bytes += byteCount + rowBytes
  switch (kind) {
    case 'blocks':
      state.chain.push({ entry, first: firstBlock, last: lastBlock })
      return
    case 'rollback': {
      const kept = state.chain.filter(({ first }) => first < firstBlock)
      state.chain = kept.map(each => ({ ...each, last: Math.min(each.last, firstBlock - 1) }))
      state.unsettledSince ??= entry
      if (state.finalized !== undefined) state.finalized = Math.min(state.finalized, firstBlock - 1)
      return
    }
    case 'final':
      state.finalized = Math.max(state.finalized ?? -1, lastBlock)
      return
    case 'settled':
      state.unsettledSince = undefined
      return
    case 'restart':
      state.chain = []
      state.unsettledSince = undefined
      state.finalized = undefined
      state.isDamaged = false
      return
    case 'pool':
      return
  }
}

function endedOf({ hash, parties, end }: PoolWrite['removed'][number]): readonly EndedEntry[] {
  return end.reason === 'confirmed' ? [] : [{ hash, parties, ...end }]
}
