import type { BlockRef } from '../model/evm.ts'
import { type Damage, StoreError } from '../platform/errors.ts'
import type { PoolUpdate } from '../port/pool.ts'
import type { WriterReport } from '../port/status.ts'
import type { ReplaceOutcome, StoreWriter, WriterState } from '../port/writer.ts'
import { type BlocksWithRows, withRows } from '../record/deriveRows.ts'
import type { BlockHeader } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { ChangeLog, type LogLayout } from './ChangeLog.ts'
import { checkBlocks } from './coverage.ts'
import { createIdleWork, type IdleWork } from './idleWork.ts'
import { Pool, type PoolWrite } from './Pool.ts'
import type { PoolChange, RunEngine } from './RunEngine.ts'

/** How the writer keeps what is remembered for a while, and when it does work that can wait. */
export interface WriterLayout extends LogLayout {
  /** Blocks for which an entry that left the pool is remembered: as deep as reorgs go. */
  readonly keepFirstSeenBlocks: number
  /** After so long without new blocks; null: never. */
  readonly mergeAfterMs: number | null
}

/**
 * Rows that are appended for each piece of work, where it cannot wait. Each row is copied about once a level, and there are few levels:
 * merging does not fall behind.
 */
const rowsPerPiece = 2_500

/**
 * The writer of both engines. Calls are carried out one after the other, in the order in which they came. What it keeps in
 * memory of the store (pool, log) is forgotten when a call fails.
 */
export class IndexWriter implements StoreWriter {
  readonly #engine: RunEngine
  readonly #pool: Pool
  readonly #log: ChangeLog
  readonly #idle: IdleWork
  /** Why work in a pause failed; thrown by the next commit. */
  #failure: unknown
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(engine: RunEngine, layout: WriterLayout) {
    this.#engine = engine
    this.#pool = new Pool(engine.pool, layout)
    const start = async () => {
      const { changes, marks } = await engine.meta()
      return { ...changes, ...marks }
    }
    this.#log = new ChangeLog(engine.log, engine.pool, start, layout)
    this.#idle = createIdleWork(
      () => this.#work(),
      layout.mergeAfterMs,
      error => {
        this.#failure = error
      }
    )
    this.#idle.postpone()
  }

  state(): Promise<WriterState> {
    return this.#inTurn(async () => {
      const { indexedFrom, marks, head } = await this.#engine.meta()
      return {
        ...(head !== undefined && { head }),
        ...(indexedFrom !== undefined && { indexedFrom }),
        ...marks
      }
    })
  }

  async commitBlocks(
    blocks: PackedBlocks,
    named: { readonly finalized?: number; readonly head?: number } = {}
  ): Promise<void> {
    const stored = await this.#inTurn(async () => {
      if (blocks.headers.length === 0) return
      this.#throwFailure()
      checkBlocks(blocks.headers, (await this.#engine.meta()).head)
      const rows = withRows(blocks)
      await this.#append(rows, named)
      return rows
    })
    await this.#afterCommit(stored)
  }

  async prependBlocks(blocks: PackedBlocks): Promise<void> {
    const stored = await this.#inTurn(async () => {
      const last = blocks.headers.at(-1)?.ref
      if (last === undefined) return
      this.#throwFailure()
      checkBlocks(blocks.headers, undefined)
      await this.#requireParent(last)
      const rows = withRows(blocks)
      await this.#prepend(rows)
      return rows
    })
    await this.#afterCommit(stored)
  }

  blockRef(number: number): Promise<BlockRef | undefined> {
    return this.#inTurn(() => this.#engine.blockRef(number))
  }

  replaceBlock(block: PackedBlocks): Promise<ReplaceOutcome> {
    return this.#inTurn(async () => {
      const [header] = block.headers
      if (header === undefined) throw new StoreError('there is no block to replace one by')
      const { number, hash } = header.ref
      const stored = await this.#engine.blockRef(number)
      if (stored === undefined) return 'gone'
      if (stored.hash !== hash) return 'other'
      if (!header.isTraced && (await this.#coversTraces(number))) {
        throw new StoreError(
          `block ${number} was indexed with its traces; expected them in the block that replaces it`,
          { blockNumber: number }
        )
      }
      await this.#requireNamed(header)
      await this.#engine.replace(block)
      return 'replaced'
    })
  }

  dropPool(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#engine.dropPool(await this.#log.restart())
      this.#pool.forget()
    })
  }

  dropChanges(): Promise<void> {
    return this.#inTurn(async () => this.#engine.dropLog(await this.#log.restart()))
  }

  async repair(damage: Damage): Promise<void> {
    // In pieces: commits go on between two of them.
    const piece = () => this.#inTurn(() => this.#engine.repair(damage))
    while (!(await piece()));
  }

  coversTraces(number: number): Promise<boolean> {
    return this.#inTurn(() => this.#coversTraces(number))
  }

  async takeDamage(): Promise<readonly Damage[]> {
    return this.#isClosed ? [] : this.#engine.takeDamage()
  }

  rollbackTo(ancestor: BlockRef): Promise<void> {
    return this.#inTurn(async () => {
      const stored = await this.#engine.blockRef(ancestor.number)
      if (stored?.hash !== ancestor.hash) {
        throw new StoreError(
          `cannot roll back to block ${ancestor.number} (${ancestor.hash}): the store has ${stored?.hash ?? 'none'} there`,
          { blockNumber: ancestor.number, blockHash: ancestor.hash, storedHash: stored?.hash }
        )
      }
      const { head = ancestor } = await this.#engine.meta()
      if (head.number === ancestor.number) return
      await this.#engine.removeAbove(ancestor, await this.#log.rollback(ancestor, head.number))
      this.#pool.forgetBlocks()
    })
  }

  rollbackAll(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#engine.removeAll(await this.#log.restart())
      this.#pool.forgetBlocks()
    })
  }

  markBackfilled(): Promise<void> {
    return this.#inTurn(async () => {
      if (!(await this.#engine.meta()).marks.backfilled) await this.#engine.setMark('backfilled')
    })
  }

  markSettled(): Promise<void> {
    return this.#inTurn(async () => {
      if ((await this.#engine.meta()).marks.settled) return
      await this.#engine.setMark('settled', await this.#log.settled())
    })
  }

  markFinal(number: number): Promise<void> {
    return this.#inTurn(async () => {
      const { head, marks } = await this.#engine.meta()
      const { finalized = -1 } = marks
      const reached = Math.min(number, head?.number ?? -1)
      if (reached <= finalized) return
      await this.#engine.setMark({ finalized: reached }, await this.#log.final(reached))
    })
  }

  updatePool(update: PoolUpdate): Promise<void> {
    return this.#inTurn(async () => {
      const change = await this.#logPool(await this.#pool.update(update, await this.#headNumber()))
      if (change !== undefined) await this.#engine.writePool(change)
    })
  }

  report(report: Omit<WriterReport, 'beat'>): Promise<void> {
    return this.#inTurn(() => this.#engine.report(report))
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#idle.stop()
    await this.#last
    await this.#engine.close()
  }

  async #append(
    blocks: BlocksWithRows,
    named: { readonly finalized?: number; readonly head?: number }
  ): Promise<void> {
    const pool = await this.#pool.settle(blocks)
    const log = await this.#log.append(blocks, pool, named)
    await this.#engine.append(blocks, { pool, log }, named.finalized)
  }

  async #prepend(blocks: BlocksWithRows): Promise<void> {
    const ended = await this.#logPool(await this.#pool.settleOlder(blocks, await this.#headNumber()))
    await this.#engine.prepend(blocks, ended)
  }

  async #logPool(pool: PoolWrite | undefined): Promise<PoolChange | undefined> {
    return pool && { pool, log: await this.#log.pool(pool) }
  }

  /** @throws {StoreError} the block is not the parent of the first stored one. */
  async #requireParent({ number, hash }: BlockRef): Promise<void> {
    const { ref, parentHash } = (await this.#engine.firstBlock()) ?? {}
    if (ref?.number === number + 1 && parentHash === hash) return
    throw new StoreError(
      `block ${number} (${hash}) is not the parent of the first stored block ${ref?.number ?? '(there is none)'} (${parentHash ?? '-'})`,
      { blockNumber: number, blockHash: hash, expectedHash: parentHash }
    )
  }

  /** Lets the engine do what is due after these blocks. */
  async #afterCommit(stored: BlocksWithRows | undefined): Promise<void> {
    if (stored === undefined) return
    const rows = stored.partyIds.length + stored.ids.length + stored.candidateEnds.length
    for (let pieces = Math.ceil(rows / rowsPerPiece); pieces > 0; pieces--) {
      if (!this.#engine.isBehind() || !(await this.#work())) break
    }
    this.#idle.postpone()
  }

  #work(): Promise<boolean> {
    return this.#inTurn(() => this.#engine.work())
  }

  #throwFailure(): void {
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure
  }

  /** @throws {StoreError} a part of a block is unknown, and was known when the block was indexed. */
  async #requireNamed({ ref: { number }, hasUnknown }: BlockHeader): Promise<void> {
    const { unknown = [] } = (await this.#engine.meta()).coverage
    if (!hasUnknown || unknown.some(({ from, to }) => from <= number && number <= to)) return
    throw new StoreError(
      `block ${number} was indexed as a whole; expected it so in the block that replaces it`,
      { blockNumber: number }
    )
  }

  async #coversTraces(number: number): Promise<boolean> {
    const { tracedFrom } = (await this.#engine.meta()).coverage
    return tracedFrom !== undefined && number >= tracedFrom
  }

  /** @returns -1 while nothing is stored. */
  async #headNumber(): Promise<number> {
    return (await this.#engine.meta()).head?.number ?? -1
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => {
      if (this.#isClosed) throw new StoreError('the store is closed')
      return work()
    })
    this.#last = result.catch(() => {
      this.#pool.forget()
      this.#log.forget()
    })
    return result
  }
}
