import { formatSpans } from '../model/blockSpans.ts'
import type { BlockRef, Hash } from '../model/evm.ts'
import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import type { IndexCoverage, WriterReport } from '../port/status.ts'
import type { Suspects } from '../port/writer.ts'
import { addressLength } from '../record/encodeBlock.ts'
import { toHex } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { maxBlockNumber } from '../record/transactionId.ts'
import type { UndoLayout } from '../shared/blocks.ts'
import type { LogLayout, LogRows, LogWrite } from '../shared/ChangeLog.ts'
import type {
  AppendChange,
  KnownChange,
  Mark,
  PoolChange,
  PrependChange,
  Rollback,
  WriterEngine
} from '../shared/IndexWriter.ts'
import type { PoolRows } from '../shared/Pool.ts'
import {
  type ChainMeta,
  type MetaColumns,
  type RefColumns,
  replaceReport,
  reportValues,
  toMeta,
  toRef
} from '../shared/rows.ts'
import { createLogRows, logStatements } from './changes.ts'
import { appendScript, candidateStatement, type Script } from './commit.ts'
import { DirectoryWriter, type ListingLayout, listBlockStatements, unlistStatements } from './directory.ts'
import { escapeLiteral } from './driver.ts'
import { isSound, type Judged, requireBlock, requireSound } from './judged.ts'
import {
  acceptPart,
  candidates,
  countRows,
  damagedPart,
  damagedParts,
  directoryRows,
  forgetSums,
  poolAddresses,
  reorgedHashes
} from './keyParts.ts'
import { bytesArrayLiteral } from './literals.ts'
import { leaveStatements, markFinalStatements } from './meta.ts'
import { type Partitions, partitionBlocks } from './partitions.ts'
import { createPoolRows, poolScript } from './pool.ts'
import { removeBlockStatements } from './removeBlock.ts'
import { rollbackAllStatements, rollbackStatements } from './rollback.ts'
import type { WriterSession } from './session.ts'

/** How the writer lays out what it stores. */
export interface Layout extends UndoLayout, LogLayout, ListingLayout {
  /** A partition is made for at least so many transactions, as far as that can be foreseen. */
  readonly smallestPartition: number
  /** And for at most so many. */
  readonly largestPartition: number
}

/** The newest, or oldest, blocks that say how full those next to them will be. */
const sampleBlocks = 1_000
/** Blocks whose undo data are read at once. */
const undoAtOnce = 32
/** A row of the address index as it is read here: address, then transaction id. */
const rowLength = addressLength + 8

/** Writes over the connection that has the term. Its reads compare checksums as those of readers do. */
export class PostgresWriter implements WriterEngine {
  readonly pool: PoolRows
  readonly log: LogRows
  readonly #session: WriterSession
  readonly #chainId: number
  readonly #partitions: Partitions
  readonly #directory: DirectoryWriter
  readonly takeDamage: () => readonly Damage[]
  readonly #layout: Layout

  /** Owns the session from now on. */
  constructor(
    session: WriterSession,
    chainId: number,
    partitions: Partitions,
    takeDamage: () => readonly Damage[],
    layout: Layout
  ) {
    this.#session = session
    this.#chainId = chainId
    this.#partitions = partitions
    this.#directory = new DirectoryWriter(session, partitions, layout)
    this.takeDamage = takeDamage
    this.#layout = layout
    this.log = createLogRows(session, chainId)
    this.pool = createPoolRows(session, chainId, head => partitions.recentFrom(head))
  }

  async meta(): Promise<ChainMeta> {
    return toMeta(await this.#metaRow())
  }

  async head(): Promise<BlockRef | undefined> {
    const { head } = await this.#metaRow()
    return head === null ? undefined : this.block(head)
  }

  async block(number: number): Promise<BlockRef | undefined> {
    const meta = await this.#metaRow()
    const { indexed_from: from, head } = meta
    if (from === null || head === null || number < from || number > head) return undefined
    const [row] = await this.#session.read<RefColumns & Judged>(
      `SELECT number, hash, ${isSound(this.#chainId, 'block')} AS "isSound" FROM block WHERE number = $1`,
      [number]
    )
    return toRef(requireBlock(row, number))
  }

  async parentHash(number: number): Promise<Hash | undefined> {
    const [row] = await this.#session.read<{ hash: Buffer }>(
      'SELECT parent_hash AS hash FROM block WHERE number = $1',
      [number]
    )
    return row && toHex(row.hash)
  }

  async newestStored(): Promise<number> {
    const [row] = await this.#session.read<{ newest: number }>(
      'SELECT greatest((SELECT max(number) FROM block), (SELECT max(id) FROM tx) >> 16, -1) AS newest'
    )
    return row?.newest ?? -1
  }

  checksumPages() {
    return this.#session.read<{ page: number; rec: Buffer }>('SELECT page, rec FROM tally')
  }

  async hasReorged(): Promise<boolean> {
    return (await this.#session.read('SELECT FROM reorged LIMIT 1')).length > 0
  }

  async hasUndoAbove(number: number): Promise<boolean> {
    const missing = await this.#session.read(
      `SELECT FROM block LEFT JOIN undo ON undo.block = block.number
       WHERE block.number > $1 AND tx_count > 0 AND ${isSound(this.#chainId, 'undo')} IS NOT TRUE LIMIT 1`,
      [number]
    )
    return missing.length === 0
  }

  async append(blocks: PackedBlocks, change: AppendChange): Promise<void> {
    await this.#makePartitions(blocks)
    const { statements, rows } = appendScript(blocks, change)
    const pool = this.#poolScript(change)
    const { finalized } = change
    await this.#session.write(
      [
        ...statements,
        ...knownStatements(change),
        ...(finalized === undefined ? [] : markFinalStatements(finalized)),
        ...pool.statements
      ],
      [...rows, ...pool.rows]
    )
    const head = blocks.headers.at(-1)?.ref.number ?? 0
    await this.#makePartitionAhead(head)
    await this.#workOnDirectory(head)
  }

  async prepend(blocks: PackedBlocks, change: PrependChange): Promise<void> {
    const { headers, ids } = blocks
    const [first, last] = [headers[0]?.ref.number ?? 0, headers.at(-1)?.ref.number ?? 0]
    if (!this.#partitions.covers(first, last)) {
      const span = await this.#partitionSpan(headers.length, ids.length, 'oldest')
      await this.#session.use(() => this.#partitions.makeDownFor(first, last, span, this.#session.begin))
    }
    const { mayHaveReorged, ended } = change
    const { statements, rows } = appendScript(blocks, { droppable: -1, undoAbove: last, mayHaveReorged })
    const pool = ended === undefined ? [] : this.#poolScript(ended).statements
    await this.#session.write([...statements, ...knownStatements(change), ...pool], rows)
    await this.#workOnDirectory()
  }

  /**
   * Sums do not tell which of several rows of a part are lost. Rows of the directory belong to no block, candidates to any.
   */
  async findSuspects(damage: Damage): Promise<Suspects | undefined> {
    const table = [directoryRows, candidates].find(each => damagedPart(each, damage) !== undefined)
    if (table === undefined) return { damage, likely: [] }
    const part = damagedPart(table, damage) ?? 0
    const found = await this.#session.read(damagedParts(table, '$1', '$2'), [part, part + 1])
    if (found.length === 0) return undefined
    if (table === directoryRows) return { damage, likely: [], range: { from: 0, to: -1 } }
    const { indexed_from: from, head } = await this.#metaRow()
    return { damage, likely: [], range: { from: from ?? 0, to: head ?? -1 } }
  }

  async acceptRows(damage: Damage): Promise<void> {
    const bucket = damagedPart(directoryRows, damage)
    if (bucket !== undefined) return this.#directory.restore(bucket)
    const part = damagedPart(candidates, damage)
    if (part !== undefined) {
      // Rows of another shape are no candidates.
      const odd = 'DELETE FROM holding WHERE octet_length(owner) <> 20 OR octet_length(contract) <> 20'
      return this.#session.write([odd, ...acceptPart(candidates, part)])
    }
    if (damage.part !== 'undo') return
    await this.#session.write([
      `DELETE FROM reorged WHERE ${isSound(this.#chainId, 'reorged')} IS NOT TRUE`,
      forgetSums(reorgedHashes),
      countRows(reorgedHashes, 'reorged')
    ])
  }

  async replace(block: PackedBlocks, damage: Damage): Promise<void> {
    const number = block.headers[0]?.ref.number ?? 0
    if (damage.part === 'candidate') {
      // They are counted already, also those that are lost.
      const put = candidateStatement(block)
      return put === undefined ? undefined : this.#session.write([put])
    }
    const undo = await this.#session.read('SELECT FROM undo WHERE block = $1', [number])
    const { statements, rows } = appendScript(block, {
      ...{ droppable: -1, undoAbove: undo.length > 0 ? number - 1 : number, mayHaveReorged: false }
    })
    const listed = listBlockStatements(block, this.#partitions.holding(number))
    await this.#session.write([...removeBlockStatements(block, damage), ...statements, ...listed], rows)
  }

  async removeAbove(ancestor: BlockRef, rollback: Rollback): Promise<void> {
    if (rollback.countOut !== undefined) await this.#countOutAbove(ancestor.number, rollback.countOut)
    const statements = [
      ...leaveStatements(ancestor.number, rollback.head),
      ...rollbackStatements(ancestor, rollback.hasUndo),
      ...unlistStatements(this.#partitions.holding(ancestor.number + 1)),
      ...knownStatements(rollback.known()),
      ...logStatements(this.#chainId, rollback.log)
    ]
    this.#directory.forget()
    await this.#session.write(statements, [], { isLong: true })
  }

  async removeAll(head: number | undefined, log: LogWrite): Promise<void> {
    const statements = [
      ...leaveStatements(undefined, head),
      ...rollbackAllStatements,
      coverageStatement({}),
      ...logStatements(this.#chainId, log)
    ]
    this.#directory.forget()
    await this.#session.write(statements, [], { isLong: true })
  }

  setMark(mark: Mark, log: LogWrite | undefined): Promise<void> {
    return this.#session.write([
      ...(typeof mark === 'string'
        ? [`UPDATE meta SET ${mark} = true`]
        : markFinalStatements(mark.finalized)),
      ...(log === undefined ? [] : logStatements(this.#chainId, log))
    ])
  }

  dropPool(log: LogWrite): Promise<void> {
    const tables = ['pool', 'pool_address', 'first_seen']
    return this.#session.write([
      ...tables.map(table => `DELETE FROM ${table}`),
      forgetSums(poolAddresses),
      'UPDATE meta SET settled = false',
      ...logStatements(this.#chainId, log)
    ])
  }

  dropLog(log: LogWrite): Promise<void> {
    return this.#session.write(logStatements(this.#chainId, log))
  }

  writePool(change: PoolChange): Promise<void> {
    const { statements, rows } = this.#poolScript(change)
    return this.#session.write(statements, rows)
  }

  async report(report: Omit<WriterReport, 'beat'>): Promise<void> {
    const values = reportValues(report).map(value => (value === null ? 'NULL' : escapeLiteral(String(value))))
    await this.#session.write([
      `INSERT INTO writer_report VALUES (1, 1, ${values.join(', ')}) ${replaceReport}`
    ])
  }

  close(): Promise<void> {
    return this.#session.close()
  }

  #poolScript({ pool, log }: PoolChange): Script {
    const { statements, rows } = poolScript(pool)
    return { statements: [...statements, ...logStatements(this.#chainId, log)], rows }
  }

  async #metaRow(): Promise<StoredMeta> {
    const [row] = await this.#session.read<StoredMeta>(
      `SELECT *, ${isSound(this.#chainId, 'meta')} AS "isSound" FROM meta`
    )
    if (row === undefined) throw new IndexDamagedError({ part: 'meta' }, 'it is missing')
    return requireSound(row, { part: 'meta' })
  }

  async #countOutAbove(number: number, countOut: NonNullable<Rollback['countOut']>): Promise<void> {
    for (let above = number; ; ) {
      const blocks = await this.#session.read<{ block: number; rows: Buffer | null }>(
        `SELECT block, (
           SELECT string_agg(address || int8send(tx_id), '') FROM unnest(addresses, tx_ids) AS party (address, tx_id)
         ) AS rows FROM undo WHERE block > $1 ORDER BY block LIMIT ${undoAtOnce}`,
        [above]
      )
      for (const { rows } of blocks) {
        for (let at = 0; rows !== null && at < rows.length; at += rowLength) {
          countOut(rows, at, Number(rows.readBigInt64BE(at + addressLength)))
        }
      }
      if (blocks.length < undoAtOnce) return
      above = blocks.at(-1)?.block ?? above
    }
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
      // The commit has succeeded. The next one tries again, and the one that needs the partition throws.
    }
  }

  async #workOnDirectory(head?: number): Promise<void> {
    try {
      await this.#directory.work(head)
    } catch {
      // The commit has succeeded. The next one tries again; until then these partitions are searched.
    }
  }

  /**
   * @param blocks - about to be stored, with so many `transactions`.
   * @param end - of the index, at which they are stored.
   */
  async #partitionSpan(
    blocks: number,
    transactions: number,
    end: 'newest' | 'oldest' = 'newest'
  ): Promise<number> {
    const order = end === 'newest' ? 'DESC' : 'ASC'
    const [row] = await this.#session.read<StoredAmounts>(
      `SELECT transactions, coalesce((SELECT max(number) FROM block) + 1 - coalesce(indexed_from, 0), 0) AS blocks,
         sample.* FROM meta, (
           SELECT count(*) AS "sampleBlocks", coalesce(sum(tx_count), 0)::bigint AS "sampleTransactions"
           FROM (SELECT tx_count FROM block ORDER BY number ${order} LIMIT ${sampleBlocks}) blocks
         ) sample`
    )
    const stored = row ?? { transactions: 0, blocks: 0, sampleBlocks: 0, sampleTransactions: 0 }
    const { smallestPartition: smallest, largestPartition: largest } = this.#layout
    const density = (stored.sampleTransactions + transactions) / Math.max(1, stored.sampleBlocks + blocks)
    return partitionBlocks({ ...stored, density }, { smallest, largest })
  }
}

/** The row of `meta` as this engine has it. */
interface StoredMeta extends MetaColumns, Judged {
  /** Number of the newest block; null while there is none. */
  readonly head: number | null
}

interface StoredAmounts {
  readonly transactions: number
  readonly blocks: number
  readonly sampleBlocks: number
  readonly sampleTransactions: number
}

/** All pages that have changed go in by one statement. */
function knownStatements({ coverage, checksumPages }: KnownChange): readonly string[] {
  return [
    ...(coverage === undefined ? [] : [coverageStatement(coverage)]),
    ...(checksumPages.size === 0
      ? []
      : [
          `UPDATE tally SET rec = changed.rec
           FROM unnest('{${[...checksumPages.keys()].join(',')}}'::smallint[], ${bytesArrayLiteral([...checksumPages.values()])}) AS changed (page, rec)
           WHERE tally.page = changed.page`
        ])
  ]
}

function coverageStatement(coverage: IndexCoverage): string {
  const { tracedFrom, countedFrom, rootsFrom, unknown } = coverage
  return `UPDATE meta SET traced_from = ${tracedFrom ?? 'NULL'}, tallied_from = ${countedFrom ?? 'NULL'},
    roots_from = ${rootsFrom ?? 'NULL'}, unknown_blocks = ${unknown ? `'${formatSpans(unknown)}'` : 'NULL'}`
}
