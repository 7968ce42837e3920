import { isDeepStrictEqual } from 'node:util'
import type { BlockRef, Hash } from '../model/evm.ts'
import { type Damage, IndexDamagedError, StoreError } from '../platform/errors.ts'
import type { PoolUpdate } from '../port/pool.ts'
import type { IndexCoverage, WriterReport } from '../port/status.ts'
import type { ReplaceOutcome, StoreWriter, Suspects, WriterState } from '../port/writer.ts'
import { addressLength, type BlockHeader } from '../record/encodeBlock.ts'
import { inStoreOrder } from '../record/inStoreOrder.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { sealRecords } from '../record/recordSums.ts'
import { RowChecksums } from '../record/rowChecksums.ts'
import {
  checkBlocks,
  coverageUpTo,
  coverageWith,
  coverageWithOlder,
  newestDroppableUndo,
  type UndoLayout
} from './blocks.ts'
import { ChangeLog, type LogLayout, type LogRows, type LogWrite } from './ChangeLog.ts'
import { Pool, type PoolRows, type PoolWrite } from './Pool.ts'
import { type ChainMeta, checkChecksumPage } from './rows.ts'

/** Coverage and row checksums after a transaction that adds or removes blocks. */
export interface KnownChange {
  /** Absent: unchanged. */
  readonly coverage?: IndexCoverage
  /** Pages of row checksums that have changed. */
  readonly checksumPages: ReadonlyMap<number, Uint8Array>
}

export interface AppendChange extends KnownChange, PoolChange {
  /** Newest of the blocks up to `last` that is final; absent: says nothing new. */
  readonly finalized: number | undefined
  /** Undo data up to this block are dropped, and none are kept of blocks up to `undoAbove`. */
  readonly droppable: number
  readonly undoAbove: number
  /** Hashes that a reorg removed may be among the blocks': they are confirmed again. */
  readonly mayHaveReorged: boolean
}

/** Changes of the stored pool, and the entry of the log that tells of them. */
export interface PoolChange {
  readonly pool: PoolWrite
  readonly log: LogWrite
}

/** Blocks that are stored below the first one. They have no undo data. */
export interface PrependChange extends KnownChange, Pick<AppendChange, 'mayHaveReorged'> {
  /** Absent: the pool has none of their transactions, as nearly always. */
  readonly ended?: PoolChange
}

export interface Rollback {
  readonly head: number
  /** Undo data of all removed blocks are stored; else the engine scans. */
  readonly hasUndo: boolean
  /**
   * Takes a row of the address index out of the counts. Called for each row that undo data name; absent: not wanted.
   * @param bytes - the 20 bytes of the address from `at` on.
   */
  readonly countOut?: (bytes: Uint8Array, at: number, id: number) => void
  /** To be stored with it; called after the last `countOut`. */
  known(): KnownChange
  readonly log: LogWrite
}

/** A column of `meta` that becomes true, or the newest stored block that is final. */
export type Mark = 'backfilled' | 'settled' | { readonly finalized: number }

/** An engine's part of a writer. Each change is one transaction. Calls never overlap, but for `report` and `afterCommit`. */
export interface WriterEngine {
  readonly pool: PoolRows
  readonly log: LogRows
  meta(): Promise<ChainMeta>
  head(): Promise<BlockRef | undefined>
  /** @throws {IndexDamagedError} the row of the block is damaged. */
  block(number: number): Promise<BlockRef | undefined>
  /** Reads the stored hash of a block's parent. */
  parentHash(number: number): Promise<Hash | undefined>
  /** Newest height of which a block's row or a record is stored; -1 in an empty store. Trusts no checksum. */
  newestStored(): Promise<number>
  /** Reads the stored row checksums; absent: the engine proves its rows by itself. */
  checksumPages?(): Promise<readonly { readonly page: number; readonly rec: Uint8Array }[]>
  /** Whether the store remembers transactions that a reorg removed. */
  hasReorged(): Promise<boolean>
  /** Whether undo data of all blocks above `number` are stored. */
  hasUndoAbove(number: number): Promise<boolean>
  /** @param blocks - in the order in which they are stored. */
  append(blocks: PackedBlocks, change: AppendChange): Promise<void>
  /** @param blocks - as of `append`; the index begins with them afterwards. */
  prepend(blocks: PackedBlocks, change: PrependChange): Promise<void>
  /** As in the port. */
  takeDamage(): readonly Damage[]
  /**
   * Replaces the rows of one block; undo data only where the store has some.
   * @param block - in the order in which it is stored.
   */
  replace(block: PackedBlocks, damage: Damage): Promise<void>
  removeAbove(ancestor: BlockRef, rollback: Rollback): Promise<void>
  /** @param head - absent in an empty store. */
  removeAll(head: number | undefined, log: LogWrite): Promise<void>
  setMark(mark: Mark, log?: LogWrite): Promise<void>
  /** As in the port. */
  findSuspects(damage: Damage): Promise<Suspects | undefined>
  acceptRows(damage: Damage): Promise<void>
  dropPool(log: LogWrite): Promise<void>
  dropLog(log: LogWrite): Promise<void>
  writePool(change: PoolChange): Promise<void>
  report(report: Omit<WriterReport, 'beat'>): Promise<void>
  /** Called after each commit, while reports may be written. @param rows - number of rows that were appended. */
  afterCommit?(rows: number): Promise<void>
  close(): Promise<void>
}

/** Coverage and row checksums, as they are stored. */
interface Known {
  readonly coverage: IndexCoverage
  /** Absent: the engine proves its rows by itself. */
  readonly checksums: RowChecksums | undefined
}

/**
 * The writer of both engines. Calls are carried out one after the other, in the order in which they came. What it keeps in
 * memory of the store (head, pool, counts) is forgotten when a call fails.
 */
export class IndexWriter implements StoreWriter {
  readonly #engine: WriterEngine
  readonly #layout: UndoLayout
  readonly #pool: Pool
  readonly #log: ChangeLog
  /** Absent: to be read. `null`: nothing is stored. */
  #head: BlockRef | null | undefined
  #known: Known | undefined
  /** Absent after a start: to be read. */
  #hasReorged: boolean | undefined
  #chainId: number | undefined
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false

  constructor(engine: WriterEngine, layout: UndoLayout & LogLayout) {
    this.#engine = engine
    this.#layout = layout
    this.#pool = new Pool(engine.pool, { keepFirstSeenBlocks: layout.minUndoBlocks })
    const start = async () => {
      const { changes, marks } = await engine.meta()
      return { ...changes, ...marks }
    }
    this.#log = new ChangeLog(engine.log, engine.pool, start, layout)
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

  replaceBlock(block: PackedBlocks, damage: Damage): Promise<ReplaceOutcome> {
    return this.#inTurn(async () => {
      const [header] = block.headers
      if (header === undefined) throw new StoreError('there is no block to replace one by')
      const outcome = await this.#placeOf(header)
      if (outcome !== 'replaced') return outcome
      if (!header.isTraced && (await this.#coversTraces(header.ref.number))) {
        throw new StoreError(
          `block ${header.ref.number} was indexed with its traces; expected them in the block that replaces it`,
          { blockNumber: header.ref.number }
        )
      }
      await this.#requireNamed(header)
      const rows = await this.#toStored(block)
      await this.#write(() => this.#engine.replace(rows, damage))
      this.#head = undefined
      return outcome
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

  findSuspects(damage: Damage): Promise<Suspects | undefined> {
    return this.#inTurn(() => this.#engine.findSuspects(damage))
  }

  acceptRows(damage: Damage): Promise<void> {
    return this.#inTurn(() => this.#write(() => this.#engine.acceptRows(damage)))
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
      const head = await this.#readHead()
      if (head === null || head.number === ancestor.number) return
      await this.#write(() => this.#removeAbove(ancestor, head.number))
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
      this.#known = undefined
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
    const { coverage: before, checksums } = await this.#readKnown()
    const pool = await this.#pool.settle(blocks)
    const log = await this.#log.append(blocks, pool, named)
    this.#hasReorged ??= await this.#engine.hasReorged()
    countRows(checksums, blocks)
    const coverage = coverageWith(before, blocks.headers)
    const droppable = newestDroppableUndo(last.number, finalized, this.#layout)
    await this.#engine.append(blocks, {
      ...(!isDeepStrictEqual(coverage, before) && { coverage }),
      checksumPages: checksums?.takeChanged() ?? new Map(),
      finalized: finalized === undefined ? undefined : Math.min(finalized, last.number),
      droppable,
      // Blocks that are final already are hardly ever removed: they get no undo data, and are found by scanning then.
      undoAbove: Math.max(droppable, finalized ?? -1),
      mayHaveReorged: this.#hasReorged,
      pool,
      log
    })
    this.#known = { coverage, checksums }
    this.#storedPool({ pool, log })
  }

  async #prepend(blocks: PackedBlocks): Promise<void> {
    const { coverage: before, checksums } = await this.#readKnown()
    const coverage = coverageWithOlder(before, blocks.headers)
    // Only rows from there on are counted.
    if (coverage.countedFrom !== before.countedFrom) countRows(checksums, blocks)
    this.#hasReorged ??= await this.#engine.hasReorged()
    const ended = await this.#logPool(await this.#pool.settleOlder(blocks, await this.#headNumber()))
    await this.#engine.prepend(blocks, {
      ...(!isDeepStrictEqual(coverage, before) && { coverage }),
      checksumPages: checksums?.takeChanged() ?? new Map(),
      mayHaveReorged: this.#hasReorged,
      ...(ended && { ended })
    })
    this.#known = { coverage, checksums }
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
    if (headers.length > 0)
      await this.#engine.afterCommit?.(partyIds.length + ids.length + candidateEnds.length)
  }

  async #removeAbove(ancestor: BlockRef, head: number): Promise<void> {
    const hasUndo = await this.#engine.hasUndoAbove(ancestor.number)
    const { coverage: before, checksums } = await this.#readKnown()
    const { countedFrom, ...known } = coverageUpTo(before, ancestor.number)
    const isCounted = countedFrom !== undefined && hasUndo
    const coverage = isCounted ? { ...known, countedFrom } : known
    // Without undo data the removed rows are unknown: counting begins anew with the next block.
    if (!isCounted) checksums?.clear()
    const log = await this.#log.rollback(ancestor, head)
    await this.#engine.removeAbove(ancestor, {
      ...{ head, hasUndo, log },
      // Undo data name the rows that were written; some of them may be lost.
      ...(isCounted && checksums && { countOut: (bytes, at, id) => checksums.subtract(bytes, at, id) }),
      known: () => ({ coverage, checksumPages: checksums?.takeChanged() ?? new Map() })
    })
    this.#log.stored(log)
    this.#known = { coverage, checksums }
  }

  /**
   * Reports whether a block belongs where it would replace the stored one. A row that is damaged or missing says nothing of
   * its hash: those of the blocks before and after it do.
   */
  async #placeOf({ ref: { number, hash }, parentHash }: BlockHeader): Promise<ReplaceOutcome> {
    const { indexedFrom } = await this.#engine.meta()
    if (indexedFrom === undefined || number < indexedFrom) return 'gone'
    if (number > (await this.#engine.newestStored())) return 'gone'
    const stored = await this.#soundBlock(number)
    if (stored !== undefined) return stored.hash === hash ? 'replaced' : 'other'
    const before = await this.#soundBlock(number - 1)
    if (before !== undefined && before.hash !== parentHash) return 'other'
    const after = await this.#soundBlock(number + 1)
    if (after === undefined) return 'replaced'
    return (await this.#engine.parentHash(number + 1)) === hash ? 'replaced' : 'other'
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

  /** Sorts blocks as they are stored, and writes the checksums of their records. */
  async #toStored(blocks: PackedBlocks): Promise<PackedBlocks> {
    this.#chainId ??= (await this.#engine.meta()).identity.chainId
    sealRecords(this.#chainId, blocks)
    return inStoreOrder(blocks)
  }

  async #readHead(): Promise<BlockRef | null> {
    if (this.#head === undefined) this.#head = (await this.#engine.head()) ?? null
    return this.#head
  }

  /** @returns -1 while nothing is stored. */
  async #headNumber(): Promise<number> {
    return (await this.#readHead())?.number ?? -1
  }

  async #readKnown(): Promise<Known> {
    if (this.#known !== undefined) return this.#known
    const pages = await this.#engine.checksumPages?.()
    const checksums = pages && new RowChecksums()
    for (const { page, rec } of pages ?? []) checksums?.load(page, checkChecksumPage(rec))
    this.#known = { coverage: (await this.#engine.meta()).coverage, checksums }
    return this.#known
  }

  async #write(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      this.#head = undefined
      this.#known = undefined
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

/** Counts the rows of the address index; nothing where the engine proves its rows by itself. */
function countRows(checksums: RowChecksums | undefined, { partyAddresses, partyIds }: PackedBlocks): void {
  for (let row = 0; checksums !== undefined && row < partyIds.length; row++) {
    checksums.add(partyAddresses, row * addressLength, partyIds[row] ?? 0)
  }
}
