import { ChunkRows, type GroupOffsets } from './ChunkRows.ts'
import type { OpenChunk } from './chunk.ts'
import { type ChunkReads, findChunks } from './chunkReads.ts'
import { compareKeys, keyBefore, rowKey, toBound, toId } from './keys.ts'
import type { Run } from './run.ts'
import type { Section } from './sections.ts'

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
