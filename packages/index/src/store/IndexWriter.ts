import { isDeepStrictEqual } from 'node:util'
import type { BlockRef } from '../model/evm.ts'
import { type Damage, IndexDamagedError, StoreError } from '../platform/errors.ts'
import type { PoolUpdate } from '../port/pool.ts'
import type { IndexCoverage, WriterReport } from '../port/status.ts'
import type { ReplaceOutcome, StoreWriter, WriterState } from '../port/writer.ts'
import type { BlockHeader } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { sealRecords } from '../record/recordSums.ts'
import { ChangeLog, type LogLayout, type LogWrite } from './ChangeLog.ts'
import { checkBlocks, coverageUpTo, coverageWith, coverageWithOlder } from './coverage.ts'
import { createIdleWork, type IdleWork } from './idleWork.ts'
import { Pool, type PoolWrite } from './Pool.ts'
import type { Mark, PoolChange, RunEngine } from './RunEngine.ts'

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
 * memory of the store (head, pool, counts) is forgotten when a call fails.
 */
export class IndexWriter implements StoreWriter {
  readonly #engine: RunEngine
  readonly #pool: Pool
  readonly #log: ChangeLog
  readonly #idle: IdleWork
  /** Why work in a pause failed; thrown by the next commit. */
  #failure: unknown
  /** Absent: to be read. `null`: nothing is stored. */
  #head: BlockRef | null | undefined
  #coverage: IndexCoverage | undefined
  /** Absent after a start: to be read. */
  #hasReorged: boolean | undefined
  #chainId: number | undefined
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
      const { indexedFrom, marks } = await this.#engine.meta()
      const head = await this.#readHead()
      return {
        ...(head !== null && { head }),
        ...(indexedFrom !== undefined && { indexedFrom }),
        ...marks
      }
    })
  }

  async commitBlocks(
    blocks: PackedBlocks,
    named: { readonly finalized?: number; readonly head?: number } = {}
  ): Promise<void> {
    await this.#inTurn(async () => {
      const last = blocks.headers.at(-1)?.ref
      if (last === undefined) return
      this.#throwFailure()
      checkBlocks(blocks.headers, (await this.#readHead()) ?? undefined)
      const rows = await this.#toStored(blocks)
      await this.#write(() => this.#append(rows, last, named))
      this.#head = last
    })
    await this.#afterCommit(blocks)
  }

  async prependBlocks(blocks: PackedBlocks): Promise<void> {
    await this.#inTurn(async () => {
      const last = blocks.headers.at(-1)?.ref
      if (last === undefined) return
      this.#throwFailure()
      checkBlocks(blocks.headers, undefined)
      await this.#requireParent(last)
      const rows = await this.#toStored(blocks)
      await this.#write(() => this.#prepend(rows))
    })
    await this.#afterCommit(blocks)
  }

  blockRef(number: number): Promise<BlockRef | undefined> {
    return this.#inTurn(() => this.#engine.block(number))
  }

  replaceBlock(block: PackedBlocks): Promise<ReplaceOutcome> {
    return this.#inTurn(async () => {
      const [header] = block.headers
      if (header === undefined) throw new StoreError('there is no block to replace one by')
      const place = await this.#placeOf(header)
      if (place === 'gone' || place === 'other') return place
      if (!header.isTraced && (await this.#coversTraces(header.ref.number))) {
        throw new StoreError(
          `block ${header.ref.number} was indexed with its traces; expected them in the block that replaces it`,
          { blockNumber: header.ref.number }
        )
      }
      await this.#requireNamed(header)
      const rows = await this.#toStored(block)
      await this.#write(async () => {
        // It may be another block: then the log tells of the one before.
        const log = place === 'unproven' ? await this.#log.restart() : undefined
        await this.#engine.replace(rows, log)
        if (log === undefined) return
        this.#log.stored(log)
        this.#hasReorged = true
      })
      this.#head = undefined
      return 'replaced'
    })
  }

  dropPool(): Promise<void> {
    return this.#inTurn(() =>
      this.#write(async () => {
        const log = await this.#log.restart()
        await this.#engine.dropPool(log)
        this.#log.stored(log)
        this.#pool.forget()
      })
    )
  }

  dropChanges(): Promise<void> {
    return this.#inTurn(() =>
      this.#write(async () => {
        const log = await this.#log.restart()
        await this.#engine.dropLog(log)
        this.#log.stored(log)
      })
    )
  }

  repair(damage: Damage): Promise<void> {
    return this.#inTurn(() => this.#write(() => this.#engine.repair(damage)))
  }

  coversTraces(number: number): Promise<boolean> {
    return this.#inTurn(() => this.#coversTraces(number))
  }

  async takeDamage(): Promise<readonly Damage[]> {
    return this.#isClosed ? [] : this.#engine.takeDamage()
  }

  rollbackTo(ancestor: BlockRef): Promise<void> {
    return this.#inTurn(async () => {
      const stored = await this.#engine.block(ancestor.number)
      if (stored?.hash !== ancestor.hash) {
        throw new StoreError(
          `cannot roll back to block ${ancestor.number} (${ancestor.hash}): the store has ${stored?.hash ?? 'none'} there`,
          { blockNumber: ancestor.number, blockHash: ancestor.hash, storedHash: stored?.hash }
        )
      }
      // Its row may be damaged: then it goes with the others.
      const { head = ancestor.number } = await this.#engine.meta()
      if (head === ancestor.number) return
      await this.#write(() => this.#removeAbove(ancestor, head))
      this.#wentBackTo(ancestor)
    })
  }

  rollbackAll(): Promise<void> {
    return this.#inTurn(async () => {
      const head = await this.#readHead()
      await this.#write(async () => {
        const log = await this.#log.restart()
        await this.#engine.removeAll(head?.number, log)
        this.#log.stored(log)
      })
      this.#coverage = undefined
      this.#wentBackTo(null)
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
      await this.#setMark('settled', await this.#log.settled())
    })
  }

  markFinal(number: number): Promise<void> {
    return this.#inTurn(async () => {
      const { finalized = -1 } = (await this.#engine.meta()).marks
      const reached = Math.min(number, (await this.#readHead())?.number ?? -1)
      if (reached > finalized) await this.#setMark({ finalized: reached }, await this.#log.final(reached))
    })
  }

  updatePool(update: PoolUpdate): Promise<void> {
    return this.#inTurn(() =>
      this.#write(async () => {
        const change = await this.#logPool(await this.#pool.update(update, await this.#headNumber()))
        if (change === undefined) return
        await this.#engine.writePool(change)
        this.#storedPool(change)
      })
    )
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

  #setMark(mark: Mark, log: LogWrite | undefined): Promise<void> {
    return this.#write(async () => {
      await this.#engine.setMark(mark, log)
      if (log !== undefined) this.#log.stored(log)
    })
  }

  async #append(
    blocks: PackedBlocks,
    last: BlockRef,
    named: { readonly finalized?: number; readonly head?: number }
  ): Promise<void> {
    const { finalized } = named
    const before = await this.#readCoverage()
    const pool = await this.#pool.settle(blocks)
    const log = await this.#log.append(blocks, pool, named)
    this.#hasReorged ??= await this.#engine.hasReorged()
    const coverage = coverageWith(before, blocks.headers)
    await this.#engine.append(blocks, {
      ...(!isDeepStrictEqual(coverage, before) && { coverage }),
      finalized: finalized === undefined ? undefined : Math.min(finalized, last.number),
      mayHaveReorged: this.#hasReorged,
      pool,
      log
    })
    this.#coverage = coverage
    this.#storedPool({ pool, log })
  }

  async #prepend(blocks: PackedBlocks): Promise<void> {
    const before = await this.#readCoverage()
    const coverage = coverageWithOlder(before, blocks.headers)
    this.#hasReorged ??= await this.#engine.hasReorged()
    const ended = await this.#logPool(await this.#pool.settleOlder(blocks, await this.#headNumber()))
    await this.#engine.prepend(blocks, {
      ...(!isDeepStrictEqual(coverage, before) && { coverage }),
      mayHaveReorged: this.#hasReorged,
      ...(ended && { ended })
    })
    this.#coverage = coverage
    if (ended !== undefined) this.#storedPool(ended)
  }

  async #logPool(pool: PoolWrite | undefined): Promise<PoolChange | undefined> {
    return pool && { pool, log: await this.#log.pool(pool) }
  }

  #storedPool({ pool, log }: PoolChange): void {
    this.#pool.stored(pool)
    this.#log.stored(log)
  }

  /** @throws {StoreError} the block is not the parent of the first stored one. */
  async #requireParent({ number, hash }: BlockRef): Promise<void> {
    const { indexedFrom } = await this.#engine.meta()
    // Of a damaged row it is not known whose child it is.
    const first = indexedFrom === undefined ? undefined : await this.#engine.block(indexedFrom)
    const parentHash = first && (await this.#engine.parentHash(first.number))
    if (first?.number === number + 1 && parentHash === hash) return
    throw new StoreError(
      `block ${number} (${hash}) is not the parent of the first stored block ${first?.number ?? '(there is none)'} (${parentHash ?? '-'})`,
      { blockNumber: number, blockHash: hash, expectedHash: parentHash }
    )
  }

  /** Lets the engine do what is due after these blocks. */
  async #afterCommit({ headers, partyIds, ids, candidateEnds }: PackedBlocks): Promise<void> {
    if (headers.length === 0) return
    const rows = partyIds.length + ids.length + candidateEnds.length
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

  async #removeAbove(ancestor: BlockRef, head: number): Promise<void> {
    const coverage = coverageUpTo(await this.#readCoverage(), ancestor.number)
    const log = await this.#log.rollback(ancestor, head)
    await this.#engine.removeAbove(ancestor, { head, coverage, log })
    this.#log.stored(log)
    this.#coverage = coverage
  }

  /**
   * Reports whether a block belongs where it would replace the stored one. A row that is damaged or missing says nothing of
   * its hash: those of the blocks before and after it do.
   * @returns `unproven`: it follows the block before, and nothing shows that it is the same as the one that is damaged.
   */
  async #placeOf({
    ref: { number, hash },
    parentHash
  }: BlockHeader): Promise<'same' | 'unproven' | 'gone' | 'other'> {
    const { indexedFrom, head = -1 } = await this.#engine.meta()
    if (indexedFrom === undefined || number < indexedFrom || number > head) return 'gone'
    const stored = await this.#soundBlock(number)
    if (stored !== undefined) return stored.hash === hash ? 'same' : 'other'
    const before = await this.#soundBlock(number - 1)
    if (before !== undefined && before.hash !== parentHash) return 'other'
    const after = await this.#soundBlock(number + 1)
    if (after !== undefined) return (await this.#engine.parentHash(number + 1)) === hash ? 'same' : 'other'
    if (before === undefined && number > indexedFrom) {
      throw new IndexDamagedError(
        { part: 'block', block: number - 1 },
        'it has to show which block follows it'
      )
    }
    return 'unproven'
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

  /** @returns absent too when the row of the block is damaged. */
  async #soundBlock(number: number): Promise<BlockRef | undefined> {
    try {
      return await this.#engine.block(number)
    } catch (error) {
      if (error instanceof IndexDamagedError) return undefined
      throw error
    }
  }

  /** Writes the checksums of the records. */
  async #toStored(blocks: PackedBlocks): Promise<PackedBlocks> {
    this.#chainId ??= (await this.#engine.meta()).identity.chainId
    sealRecords(this.#chainId, blocks)
    return blocks
  }

  async #readHead(): Promise<BlockRef | null> {
    if (this.#head === undefined) this.#head = (await this.#engine.head()) ?? null
    return this.#head
  }

  /** @returns -1 while nothing is stored. */
  async #headNumber(): Promise<number> {
    return (await this.#readHead())?.number ?? -1
  }

  async #readCoverage(): Promise<IndexCoverage> {
    this.#coverage ??= (await this.#engine.meta()).coverage
    return this.#coverage
  }

  async #write(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#head = undefined
      this.#coverage = undefined
      this.#pool.forget()
      this.#log.forget()
      throw error
    }
  }

  /** Blocks above `head` were removed. */
  #wentBackTo(head: BlockRef | null): void {
    this.#head = head
    this.#hasReorged = true
    this.#pool.forgetBlocks()
  }

  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(() => {
      if (this.#isClosed) throw new StoreError('the store is closed')
      return work()
    })
    this.#last = result.catch(() => {})
    return result
  }
}
