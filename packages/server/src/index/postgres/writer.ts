import type { BlockRef } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import type { PoolUpdate } from '../port/pool.ts'
import type { WriterReport } from '../port/status.ts'
import type { StoreWriter, WriterState } from '../port/writer.ts'
import { inStoreOrder } from '../record/inStoreOrder.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { maxBlockNumber } from '../record/transactionId.ts'
import { checkBlocks, newestDroppableUndo, type UndoLayout } from '../shared/blocks.ts'
import {
  type ChainMeta,
  type MetaColumns,
  type RefColumns,
  replaceReport,
  reportValues,
  toMeta,
  toRef
} from '../shared/rows.ts'
import { copyBlocks, copyEvents, copyParties, copyRecords, copyUndo, holdingStatement } from './commit.ts'
import { leaveStatements, markFinalStatements } from './meta.ts'
import { type Partitions, partitionBlocks } from './partitions.ts'
import { PoolTable } from './pool.ts'
import { rollbackAllStatements, rollbackStatements } from './rollback.ts'
import type { WriterSession } from './session.ts'
import { Ledger } from './tally.ts'

/** How the writer lays out what it stores. */
export interface Layout extends UndoLayout {
  /** A partition is made for at least so many transactions, as far as that can be foreseen. */
  readonly smallestPartition: number
  /** And for at most so many. */
  readonly largestPartition: number
}

/** The newest blocks that say how full those to come will be. */
const sampleBlocks = 1_000

/**
 * The writer over the connection that has the term. Calls are carried out one after the other, in the order in which they
 * came. What it knows of the store besides the store itself (head, pool, ledger) is forgotten when a call fails.
 */
export class PostgresWriter implements StoreWriter {
  readonly #session: WriterSession
  readonly #partitions: Partitions
  readonly #layout: Layout
  readonly #pool: PoolTable
  readonly #ledger: Ledger
  /** Absent: to be read. `null`: nothing is stored. */
  #head: BlockRef | null | undefined
  /** A reorg may have removed what the next blocks have again. After a start only the store can tell. */
  #hasReorged: boolean | undefined
  #turn: Promise<unknown> = Promise.resolve()
  #closed = false

  /** Owns the session from now on. */
  constructor(session: WriterSession, partitions: Partitions, layout: Layout) {
    this.#session = session
    this.#partitions = partitions
    this.#layout = layout
    this.#ledger = new Ledger(session)
    this.#pool = new PoolTable(session, {
      keepFirstSeenBlocks: layout.minUndoBlocks,
      recentFrom: head => partitions.recentFrom(head)
    })
  }

  state(): Promise<WriterState> {
    return this.#inTurn(async () => {
      const { indexedFrom, marks } = await this.#meta()
      const head = await this.#readHead()
      return {
        ...(head !== null && { head }),
        ...(indexedFrom !== undefined && { indexedFrom }),
        ...marks
      }
    })
  }

  commitBlocks(blocks: PackedBlocks, options: { readonly finalized?: number } = {}): Promise<void> {
    return this.#inTurn(async () => {
      const [first, last] = [blocks.headers[0], blocks.headers.at(-1)]
      if (first === undefined || last === undefined) return
      checkBlocks(blocks.headers, (await this.#readHead()) ?? undefined)
      await this.#makePartitions(blocks)
      await this.#append(inStoreOrder(blocks), first.ref, last.ref, options.finalized)
      this.#head = last.ref
      await this.#makePartitionAhead(last.ref.number)
    })
  }

  blockRef(number: number): Promise<BlockRef | undefined> {
    return this.#inTurn(() => this.#readBlock(number))
  }

  rollbackTo(ancestor: BlockRef): Promise<void> {
    return this.#inTurn(async () => {
      const stored = await this.#readBlock(ancestor.number)
      if (stored?.hash !== ancestor.hash) {
        throw new StoreError(
          `cannot roll back to block ${ancestor.number} (${ancestor.hash}): the store has ${stored?.hash ?? 'none'} there`,
          { blockNumber: ancestor.number, blockHash: ancestor.hash, storedHash: stored?.hash }
        )
      }
      const head = await this.#readHead()
      if (head === null || head.number === ancestor.number) return
      const hasUndo = await this.#hasUndoAbove(ancestor.number)
      const statements = [
        ...leaveStatements(ancestor.number, head.number),
        ...rollbackStatements(ancestor, hasUndo),
        ...(await this.#ledger.rollBack(ancestor.number, hasUndo))
      ]
      await this.#write(statements, [], { isLong: true })
      this.#wentBackTo(ancestor)
    })
  }

  rollbackAll(): Promise<void> {
    return this.#inTurn(async () => {
      const head = await this.#readHead()
      const statements = [
        ...leaveStatements(undefined, head?.number),
        ...rollbackAllStatements,
        ...(await this.#ledger.clear())
      ]
      await this.#write(statements, [], { isLong: true })
      this.#wentBackTo(null)
    })
  }

  markBackfilled(): Promise<void> {
    return this.#inTurn(async () => {
      if ((await this.#meta()).marks.backfilled) return
      await this.#write(['UPDATE meta SET backfilled = true'])
    })
  }

  markSettled(): Promise<void> {
    return this.#inTurn(async () => {
      if ((await this.#meta()).marks.settled) return
      await this.#write(['UPDATE meta SET settled = true'])
    })
  }

  markFinal(number: number): Promise<void> {
    return this.#inTurn(async () => {
      const { marks } = await this.#meta()
      const reached = Math.min(number, (await this.#readHead())?.number ?? -1)
      if (reached > (marks.finalized ?? -1)) await this.#write(markFinalStatements(reached))
    })
  }

  updatePool(update: PoolUpdate): Promise<void> {
    return this.#inTurn(async () => this.#pool.update(update, (await this.#readHead())?.number ?? -1))
  }

  report(report: Omit<WriterReport, 'beat'>): Promise<void> {
    return this.#inTurn(async () => {
      await this.#session.read(
        `INSERT INTO writer_report SELECT 1, 1, $2, $3, $4, $5, $6, $7, $8, $9 FROM check_term($1) ${replaceReport}`,
        [this.#session.term, ...reportValues(report)]
      )
    })
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    await this.#turn.catch(() => {})
    await this.#session.close()
  }

  async #append(
    blocks: PackedBlocks,
    first: BlockRef,
    last: BlockRef,
    finalized: number | undefined
  ): Promise<void> {
    const droppable = newestDroppableUndo(last.number, finalized, this.#layout)
    const settlement = await this.#pool.settle(blocks)
    this.#hasReorged ??= (await this.#session.read('SELECT FROM reorged LIMIT 1')).length > 0
    const holdings = holdingStatement(blocks)
    const tables: readonly (readonly [string, Buffer])[] = [
      ['block', copyBlocks(blocks.headers)],
      ['tx', copyRecords(blocks)],
      ['address_tx', copyParties(blocks)],
      // Blocks that are final already are hardly ever removed: they get none, and are found by scanning then.
      ['undo', copyUndo(blocks, Math.max(droppable, finalized ?? -1))],
      ...(blocks.eventEnds.length === 0 ? [] : [['account_event', copyEvents(blocks)] as const])
    ]
    const ledger = await this.#ledger.append(blocks)
    await this.#write(
      [
        ...tables.map(([table]) => `COPY ${table} FROM STDIN (FORMAT binary)`),
        ...(holdings === undefined ? [] : [holdings]),
        `DELETE FROM undo WHERE block <= ${droppable}`,
        ...(this.#hasReorged ? [forgetReorged(blocks)] : []),
        `UPDATE meta SET indexed_from = coalesce(indexed_from, ${first.number}),
           transactions = transactions + ${blocks.ids.length}`,
        ...ledger,
        ...(finalized === undefined ? [] : markFinalStatements(Math.min(finalized, last.number))),
        ...settlement.statements
      ],
      tables.map(([, rows]) => rows)
    )
    settlement.done()
  }

  /** Beforehand and by itself, so that what takes a moment holds no rows up. */
  async #makePartitions({ headers, ids }: PackedBlocks): Promise<void> {
    const [first, last] = [headers[0]?.ref.number ?? 0, headers.at(-1)?.ref.number ?? 0]
    if (this.#partitions.covers(first, last)) return
    const span = await this.#partitionSpan(headers.length, ids.length)
    await this.#session.use(() => this.#partitions.makeFor(first, last, span, this.#session.begin))
  }

  /** The last quarter of a partition is where the next one is made, so that no commit waits for one. */
  async #makePartitionAhead(head: number): Promise<void> {
    const range = this.#partitions.holding(head)
    if (range === undefined || range.end - 1 - head > (range.end - range.first) / 4) return
    if (range.end > maxBlockNumber || this.#partitions.holding(range.end) !== undefined) return
    try {
      const span = await this.#partitionSpan(0, 0)
      const begin = `${this.#session.begin}; SET LOCAL lock_timeout = '1s'`
      await this.#session.use(() => this.#partitions.makeFor(range.end, range.end, span, begin))
    } catch {
      // What is committed is committed. The next commit tries again, and the one that needs it tells what is wrong.
    }
  }

  /** @param blocks - about to be stored, with so many `transactions`. */
  async #partitionSpan(blocks: number, transactions: number): Promise<number> {
    const [meta] = await this.#session.read<{ transactions: number; indexed_from: number | null }>(
      'SELECT transactions, indexed_from FROM meta'
    )
    const head = await this.#readHead()
    const [newest = { blocks: 0, transactions: 0 }] = await this.#session.read<{
      blocks: number
      transactions: number
    }>(
      `SELECT count(*) AS blocks, coalesce(sum(tx_count), 0)::bigint AS transactions
       FROM (SELECT tx_count FROM block ORDER BY number DESC LIMIT ${sampleBlocks}) newest`
    )
    const { smallestPartition: smallest, largestPartition: largest } = this.#layout
    const stored = head === null ? 0 : head.number + 1 - (meta?.indexed_from ?? 0)
    return partitionBlocks(
      {
        transactions: meta?.transactions ?? 0,
        blocks: stored,
        density: (newest.transactions + transactions) / Math.max(1, newest.blocks + blocks)
      },
      { smallest, largest }
    )
  }

  async #meta(): Promise<ChainMeta> {
    const [row] = await this.#session.read<MetaColumns>('SELECT * FROM meta')
    return toMeta(row)
  }

  async #readHead(): Promise<BlockRef | null> {
    if (this.#head !== undefined) return this.#head
    const [row] = await this.#session.read<RefColumns>(
      'SELECT number, hash FROM block ORDER BY number DESC LIMIT 1'
    )
    this.#head = row === undefined ? null : toRef(row)
    return this.#head
  }

  async #readBlock(number: number): Promise<BlockRef | undefined> {
    const [row] = await this.#session.read<RefColumns>('SELECT number, hash FROM block WHERE number = $1', [
      number
    ])
    return row && toRef(row)
  }

  async #hasUndoAbove(number: number): Promise<boolean> {
    const missing = await this.#session.read(
      `SELECT FROM block LEFT JOIN undo ON undo.block = block.number
       WHERE block.number > $1 AND tx_count > 0 AND undo.block IS NULL LIMIT 1`,
      [number]
    )
    return missing.length === 0
  }

  async #write(...parameters: Parameters<WriterSession['write']>): Promise<void> {
    try {
      await this.#session.write(...parameters)
    } catch (error) {
      this.#head = undefined
      this.#pool.forget()
      this.#ledger.forget()
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
    const result = this.#turn.then(() => {
      if (this.#closed) throw new StoreError('the store is closed')
      return work()
    })
    this.#turn = result.catch(() => {})
    return result
  }
}

/** What a reorg removed and a later block has again is confirmed again. */
function forgetReorged({ ids }: PackedBlocks): string {
  return `DELETE FROM reorged USING tx WHERE tx.id BETWEEN ${ids[0] ?? 0} AND ${ids.at(-1) ?? 0}
    AND reorged.hash = substring(tx.rec from 2 for 32)`
}
