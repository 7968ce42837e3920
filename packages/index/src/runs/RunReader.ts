import { firstTransactionId } from '../record/transactionId.ts'
import { ChunkRows, type GroupOffsets } from './ChunkRows.ts'
import type { OpenChunk } from './chunk.ts'
import { type ChunkReads, findChunks } from './chunkReads.ts'
import { type FilteredRun, mayHave } from './filters.ts'
import { compareKeys, keyBefore, rowKey, toBound, toId } from './keys.ts'
import type { Run } from './run.ts'
import { type Section, sections } from './sections.ts'
import { type FoundToken, TokenScan } from './TokenScan.ts'

/** Tokens that are given at once, about. */
const tokensAtOnce = 500

/** Reads the runs of one chain, as one transaction sees them. */
export class RunReader {
  readonly #reads: ChunkReads
  readonly #chainId: number
  readonly #newestFirst: readonly FilteredRun[]

  /** @param newestFirst - all runs, or some of them. */
  constructor(reads: ChunkReads, chainId: number, newestFirst: readonly FilteredRun[]) {
    this.#reads = reads
    this.#chainId = chainId
    this.#newestFirst = newestFirst
  }

  /** Reads the transactions that an account is a party of, newest first. */
  history(address: Uint8Array, before?: number): GroupCursor {
    const older =
      before === undefined
        ? this.#newestFirst
        : this.#newestFirst.filter(({ run }) => firstTransactionId(run.firstBlock) < before)
    const runs = mayHave(older, address)
    return new GroupCursor(this.#reads, this.#chainId, sections.address, runs, address, before)
  }

  /**
   * Reads the transactions whose hashes begin like this one, newest first.
   * @param block - that they are in; absent: any.
   */
  hash(hash: Uint8Array, block?: number): GroupCursor {
    const { groupLength } = sections.hash
    const all = this.#newestFirst.map(({ run }) => run)
    const runs =
      block === undefined
        ? all
        : all.filter(({ firstBlock, lastBlock }) => firstBlock <= block && block <= lastBlock)
    return new GroupCursor(this.#reads, this.#chainId, sections.hash, runs, hash.subarray(0, groupLength))
  }

  /** Reads the first ids of the blocks with events of an account, ascending, run after run. */
  async *eventBlocks(address: Uint8Array, fromBlock: number): AsyncGenerator<readonly number[]> {
    for (const { run } of this.#newestFirst.toReversed()) {
      if (run.lastBlock < fromBlock) continue
      const cursor = new GroupCursor(this.#reads, this.#chainId, sections.event, [run], address)
      const { ids } = await cursor.next(Number.MAX_SAFE_INTEGER)
      if (ids.length > 0) yield ids.toReversed()
    }
  }

  /**
   * Reads the tokens that an account sent or received, each once; ordered by contract, standard and key of the ids.
   * @remarks Every run has its own ordered list, in which a token may appear again. All lists are read side by side; what sorts not
   *   after the last token of every list that goes on is complete.
   */
  async *tokens(owner: Uint8Array): AsyncGenerator<readonly FoundToken[]> {
    const lists = mayHave(this.#newestFirst, owner).map(run => ({
      scan: new TokenScan(this.#reads, this.#chainId, run, owner),
      tokens: [] as readonly FoundToken[]
    }))
    let complete: FoundToken[] = []
    for (let goesOn = true; goesOn; ) {
      for (const list of lists) {
        while (list.tokens.length === 0 && list.scan.goesOn) list.tokens = await list.scan.next()
      }
      const ends = lists.flatMap(({ scan, tokens }) => (scan.goesOn ? tokens.slice(-1) : []))
      const end = ends.sort(compareTokens)[0]
      for (const list of lists) {
        const count = end === undefined ? list.tokens.length : countUpTo(list.tokens, end)
        complete.push(...list.tokens.slice(0, count))
        list.tokens = list.tokens.slice(count)
      }
      goesOn = end !== undefined
      if (goesOn && complete.length < tokensAtOnce) continue
      const tokens = withoutRepeats(complete)
      complete = []
      if (tokens.length > 0) yield tokens
    }
  }
}

function countUpTo(tokens: readonly FoundToken[], end: FoundToken): number {
  const after = tokens.findIndex(token => compareTokens(token, end) > 0)
  return after < 0 ? tokens.length : after
}

/** Sorts tokens in place. @returns each once. */
function withoutRepeats(tokens: FoundToken[]): readonly FoundToken[] {
  let previous: FoundToken | undefined
  return tokens.sort(compareTokens).filter(token => {
    const isNew = previous === undefined || compareTokens(previous, token) !== 0
    previous = token
    return isNew
  })
}

function compareTokens(a: FoundToken, b: FoundToken): number {
  return (
    Buffer.compare(a.contract, b.contract) || a.standard - b.standard || Buffer.compare(a.tokenId, b.tokenId)
  )
}

/** One run, as far as its rows of the group have been read. */
interface RunState {
  readonly run: Run
  /** Key of the next chunk to read; absent: all rows have been read. */
  next: Uint8Array | undefined
  /** Rows that were read, oldest first, and how many of them have not been given yet. */
  rows: GroupOffsets
  left: number
}

const noRows: GroupOffsets = { count: 0, offsets: new Float64Array(0), roles: new Uint8Array(0) }

/** Transactions of a group, and their roles. */
export interface GroupRows {
  readonly ids: readonly number[]
  readonly roles: readonly number[]
}

/** Reads the rows of one group (an account, a token of an account) over all runs, newest first. */
export class GroupCursor {
  readonly #reads: ChunkReads
  readonly #chainId: number
  readonly #section: Section
  readonly #group: Uint8Array
  readonly #first: Uint8Array
  readonly #before: number
  readonly #states: RunState[]
  readonly #rows: ChunkRows
  #isFirst = true

  /**
   * @param runs - those that may have the group, newest first.
   * @param before - only rows with lower ids; absent: all.
   */
  constructor(
    reads: ChunkReads,
    chainId: number,
    section: Section,
    runs: readonly Run[],
    group: Uint8Array,
    before = Number.MAX_SAFE_INTEGER
  ) {
    this.#reads = reads
    this.#chainId = chainId
    this.#section = section
    this.#group = group
    this.#first = rowKey(group, 0)
    this.#before = before
    this.#rows = new ChunkRows(section)
    const last = rowKey(group, before - 1)
    this.#states = runs.map(run => ({ run, next: last, rows: noRows, left: 0 }))
  }

  /**
   * Reads the next rows, fewer than `count` only where there are no more.
   * @throws {IndexDamagedError} a chunk that has rows of the group, or would have them, is missing or altered.
   */
  async next(count: number): Promise<GroupRows> {
    const ids: number[] = []
    const roles: number[] = []
    while (this.#states.length > 0) {
      while (this.#states[0] !== undefined && ids.length < count) {
        const [state] = this.#states
        for (; state.left > 0 && ids.length < count; state.left--) {
          ids.push(toId(state.run, state.rows.offsets[state.left - 1] ?? 0))
          roles.push(state.rows.roles[state.left - 1] ?? 0)
        }
        if (state.left > 0 || state.next !== undefined) break
        this.#states.shift()
      }
      if (ids.length === count || this.#states.length === 0) break
      await this.#read()
    }
    return { ids, roles }
  }

  /** Reads the next chunk of the newest runs that have more. */
  async #read(): Promise<void> {
    const [first, later] = this.#reads.searchesAtOnce
    const most = this.#isFirst ? first : later
    this.#isFirst = false
    const asked: (RunState & { readonly next: Uint8Array })[] = []
    for (const state of this.#states) {
      if (state.next !== undefined && state.left === 0) asked.push(state as (typeof asked)[number])
      if (asked.length === most) break
    }
    const searches = asked.map(({ run, next }) => ({ run, key: next }))
    const chunks = await findChunks(this.#reads, this.#chainId, this.#section, searches)
    for (const [i, state] of asked.entries()) this.#take(state, chunks[i])
  }

  #take(state: RunState, chunk: OpenChunk | undefined): void {
    state.next = undefined
    if (chunk === undefined) return
    const rows = this.#rows
    rows.begin(chunk, state.run)
    if (rows.findGroup(this.#group)) {
      state.rows = rows.readGroup(toBound(state.run, this.#before))
      state.left = state.rows.count
    }
    // The group may begin in the chunk before.
    if (compareKeys(chunk.lower, this.#first) > 0) state.next = keyBefore(chunk.lower)
  }
}
