import { crc32 } from 'node:zlib'
import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import type { IndexedRange, StoredBlock } from '../port/status.ts'
import { hashBytes } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { checkRecord } from '../record/recordSums.ts'
import { firstTransactionId, maxBlockNumber, maxTransactionsPerBlock } from '../record/transactionId.ts'
import type { ReadTransaction, WriteTransaction } from '../runs/Transaction.ts'
import type { BlockRowsFound } from './findBlockDamage.ts'
import { checkRow } from './rowSums.ts'
import { type BlockColumns, type ChainMeta, toStoredBlock } from './rows.ts'
import { insertSummed, selectIn } from './sets.ts'

/** What the records of blocks lack. */
export interface BlockExtras {
  /** Of each block, concatenated; empty where there is nothing. */
  readonly extras: Uint8Array
  /** Where the part of each block ends. */
  readonly extraEnds: Uint32Array
}

const recordsAtOnce = 2_000

export interface BlockRow extends BlockColumns {
  readonly extra: number | null
  readonly sum: number | null
}

/**
 * Reads the row of a block.
 * @returns absent where the index does not hold its height.
 * @throws {IndexDamagedError} the row is missing, or not what was written.
 */
export async function readBlock(
  transaction: ReadTransaction,
  meta: ChainMeta,
  number: number
): Promise<StoredBlock | undefined> {
  const { indexedFrom, head = -1, identity } = meta
  if (indexedFrom === undefined || number < indexedFrom || number > head) return undefined
  const [row] = await transaction.all<BlockRow>('SELECT * FROM block WHERE number = ?', [number])
  return toStoredBlock(checkBlock(identity.chainId, number, row))
}

/** Reads the range of the stored blocks. @throws {IndexDamagedError} the row of the newest one is damaged. */
export async function readRange(
  transaction: ReadTransaction,
  meta: ChainMeta
): Promise<IndexedRange | undefined> {
  const text = 'SELECT * FROM block WHERE number = ?'
  return toRange(meta, (await transaction.all<BlockRow>(text, [meta.head ?? -1]))[0])
}

/** @param newest - row of the newest block. @throws as `readRange`. */
export function toRange(meta: ChainMeta, newest: BlockRow | undefined): IndexedRange | undefined {
  const { indexedFrom: from, head, identity } = meta
  if (from === undefined || head === undefined) return undefined
  const { ref: to, timestampSeconds } = toStoredBlock(checkBlock(identity.chainId, head, newest))
  return { from, to, toTimestampSeconds: timestampSeconds }
}

/** A stored block, with what its records lack. */
export interface FoundBlock {
  readonly number: number
  readonly hash: Uint8Array
  readonly parentHash: Uint8Array
  readonly transactions: number
  /** Absent where the block has nothing. */
  readonly extra?: Uint8Array
}

type ExtraRow = BlockRow & { readonly rec: Uint8Array | null }

const withExtras =
  'SELECT block.*, rec FROM block LEFT JOIN block_extra ON block_extra.number = block.number WHERE block.number'

/**
 * Reads stored blocks, with what their records lack.
 * @param numbers - of the stored range.
 * @throws {IndexDamagedError} the row of a block, or what its records lack, is lost or altered.
 */
export async function readBlocks(
  transaction: ReadTransaction,
  { identity }: ChainMeta,
  numbers: readonly number[]
): Promise<readonly FoundBlock[]> {
  const rows = await selectIn<ExtraRow>(transaction, `${withExtras} IN (?)`, numbers)
  const byNumber = new Map(rows.map(row => [row.number, row]))
  return numbers.map(number => checkWithExtra(identity.chainId, number, byNumber.get(number)))
}

/** Reads a range of stored blocks, as `readBlocks` does. */
export async function readBlockRange(
  transaction: ReadTransaction,
  { identity }: ChainMeta,
  first: number,
  last: number
): Promise<readonly FoundBlock[]> {
  const rows = await selectRange(transaction, first, last)
  return Array.from({ length: last - first + 1 }, (_, i) =>
    checkWithExtra(identity.chainId, first + i, rows.get(first + i))
  )
}

/** Reads the rows of a range of blocks and of their records, and what is damaged among them. */
export async function readBlockRows(
  transaction: ReadTransaction,
  { identity: { chainId } }: ChainMeta,
  first: number,
  last: number
): Promise<BlockRowsFound> {
  const blocks: FoundBlock[] = []
  const damage: Damage[] = []
  const unlessDamaged = (work: () => void) => {
    try {
      work()
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      damage.push(error.damage)
    }
  }
  for (const [number, row] of await selectRange(transaction, first, last)) {
    unlessDamaged(() => {
      const { block, extra } = checkRows(chainId, number, row)
      blocks.push(toFound(block))
      checkExtra(block, extra)
    })
  }
  const ids: number[] = []
  const end = firstTransactionId(last + 1)
  for (let from = firstTransactionId(first); from < end; ) {
    const rows = await transaction.all<{ readonly id: number; readonly rec: Uint8Array }>(
      `SELECT id, rec FROM tx WHERE id >= ? AND id < ? ORDER BY id LIMIT ${recordsAtOnce}`,
      [from, end]
    )
    for (const { id, rec } of rows) {
      ids.push(id)
      unlessDamaged(() => checkRecord(chainId, id, rec))
    }
    from = (rows.at(-1)?.id ?? end) + 1
  }
  return { blocks, ids, damage }
}

async function selectRange(
  transaction: ReadTransaction,
  first: number,
  last: number
): Promise<ReadonlyMap<number, ExtraRow>> {
  const text = `${withExtras} BETWEEN ? AND ? ORDER BY block.number`
  const rows = await transaction.all<ExtraRow>(text, [first, last])
  return new Map(rows.map(row => [row.number, row]))
}

function checkWithExtra(chainId: number, number: number, found: ExtraRow | undefined): FoundBlock {
  const { block, extra } = checkRows(chainId, number, found)
  checkExtra(block, extra)
  return { ...toFound(block), ...(extra !== null && { extra }) }
}

/** Checks the row of a block, and takes what its records lack apart from it. */
function checkRows(chainId: number, number: number, found: ExtraRow | undefined) {
  const { rec: extra = null, ...row } = found ?? {}
  return { block: checkBlock(chainId, number, found && (row as BlockRow)), extra }
}

function checkExtra({ number, extra }: BlockRow, rec: Uint8Array | null): void {
  if (extra === (rec && extraSum(rec))) return
  const detail = rec === null ? 'they are missing' : 'their checksum differs'
  throw new IndexDamagedError({ part: 'event', block: number }, detail)
}

function toFound({ number, hash, parent_hash, tx_count }: BlockRow): FoundBlock {
  return { number, hash, parentHash: parent_hash, transactions: tx_count }
}

function checkBlock(chainId: number, number: number, row: BlockRow | undefined): BlockRow {
  const damage = { part: 'block', block: number } as const
  if (row === undefined) throw new IndexDamagedError(damage, 'it is missing')
  return checkRow(chainId, 'block', row, damage)
}

function extraSum(rec: Uint8Array): number {
  return crc32(rec) | 0
}

/** Inserts the rows of blocks, without their records. */
export async function insertBlocks(
  transaction: WriteTransaction,
  chainId: number,
  { headers }: Pick<PackedBlocks, 'headers'>,
  { extras, extraEnds }: BlockExtras
): Promise<void> {
  const extraRows: [number, Uint8Array][] = []
  const rows = headers.map(({ ref, parentHash, timestampSeconds, transactionCount }, i) => {
    const rec = extras.subarray(extraEnds[i - 1] ?? 0, extraEnds[i] ?? 0)
    if (rec.length > 0) extraRows.push([ref.number, rec])
    const hashes = [hashBytes(ref.hash), hashBytes(parentHash)]
    const extra = rec.length > 0 ? extraSum(rec) : null
    return [ref.number, ...hashes, timestampSeconds, transactionCount, extra]
  })
  const columns = ['number', 'hash', 'parent_hash', 'timestamp_seconds', 'tx_count', 'extra']
  await insertSummed(transaction, chainId, 'block', columns, rows)
  await transaction.insert('block_extra', ['number', 'rec'], extraRows)
}

/** Deletes blocks with their records and extras. @param last - absent: all from `first` on. */
export async function deleteBlocks(
  transaction: WriteTransaction,
  first: number,
  last = maxBlockNumber
): Promise<void> {
  const ids = [firstTransactionId(first), firstTransactionId(last) + maxTransactionsPerBlock - 1]
  await transaction.run('DELETE FROM tx WHERE id BETWEEN ? AND ?', ids)
  await transaction.run('DELETE FROM block WHERE number BETWEEN ? AND ?', [first, last])
  await transaction.run('DELETE FROM block_extra WHERE number BETWEEN ? AND ?', [first, last])
}

/** Deletes all blocks with their records and extras. */
export async function deleteAllBlocks(transaction: WriteTransaction): Promise<void> {
  // Without a condition, which would have the engine visit every row.
  for (const table of ['tx', 'block', 'block_extra']) await transaction.run(`DELETE FROM ${table}`)
}
