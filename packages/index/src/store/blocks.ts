import { crc32 } from 'node:zlib'
import type { BlockRef } from '../model/evm.ts'
import { type Damage, damageOf, IndexDamagedError, unlessDamaged } from '../platform/errors.ts'
import type { IndexedRange, StoredBlock } from '../port/status.ts'
import { hashBytes, toHex } from '../record/hexBytes.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { checkRecord } from '../record/recordSums.ts'
import {
  firstTransactionId,
  maxBlockNumber,
  maxTransactionsPerBlock,
  toPosition
} from '../record/transactionId.ts'
import type { ReadTransaction, WriteTransaction } from '../runs/Transaction.ts'
import { readRecords } from './records.ts'
import { checkRow } from './rowSums.ts'
import { type BlockColumns, type ChainMeta, toStoredBlock } from './rows.ts'
import { insertSummed, selectIn } from './sets.ts'

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
  if (!hasBlock(meta, number)) return undefined
  const [row] = await transaction.all<BlockRow>('SELECT * FROM block WHERE number = ?', [number])
  return toStoredBlock(checkBlock(meta, number, row))
}

/**
 * Reads which block the index holds at a height, also where its row is damaged: the newest one is in `meta`, and each names the
 * one before.
 * @returns absent where the index does not hold the height.
 * @throws {IndexDamagedError} the row is damaged, and so is the next one, which has to be healed first.
 */
export async function readRef(
  transaction: ReadTransaction,
  meta: ChainMeta,
  number: number
): Promise<BlockRef | undefined> {
  if (!hasBlock(meta, number)) return undefined
  if (number === meta.head?.number) return meta.head
  try {
    const next = await readBlock(transaction, meta, number + 1)
    return next && { number, hash: next.parentHash }
  } catch (error) {
    damageOf(error)
    const own = await unlessDamaged(readBlock(transaction, meta, number))
    if (own === undefined) throw error
    return own.ref
  }
}

/** Finds the blocks whose rows are lost or altered, of some that the index holds. */
export async function findDamagedRows(
  transaction: ReadTransaction,
  meta: ChainMeta,
  numbers: readonly number[]
): Promise<Map<number, 'block' | 'alteredBlock'>> {
  const rows = await selectIn<BlockRow>(transaction, 'SELECT * FROM block WHERE number IN (?)', numbers)
  const byNumber = new Map(rows.map(row => [row.number, row]))
  const damaged = new Map<number, 'block' | 'alteredBlock'>()
  for (const number of numbers) {
    const row = byNumber.get(number)
    try {
      checkBlock(meta, number, row)
    } catch (error) {
      damageOf(error)
      damaged.set(number, row === undefined ? 'block' : 'alteredBlock')
    }
  }
  return damaged
}

function hasBlock({ indexedFrom, head }: ChainMeta, number: number): boolean {
  return indexedFrom !== undefined && head !== undefined && indexedFrom <= number && number <= head.number
}

/** Reads the range of the stored blocks. @throws {IndexDamagedError} the row of the newest one is damaged. */
export async function readRange(
  transaction: ReadTransaction,
  meta: ChainMeta
): Promise<IndexedRange | undefined> {
  const text = 'SELECT * FROM block WHERE number = ?'
  return toRange(meta, (await transaction.all<BlockRow>(text, [meta.head?.number ?? -1]))[0])
}

/** @param newest - row of the newest block. @throws as `readRange`. */
export function toRange(meta: ChainMeta, newest: BlockRow | undefined): IndexedRange | undefined {
  const { indexedFrom: from, head: to } = meta
  if (from === undefined || to === undefined) return undefined
  return { from, to, toTimestampSeconds: checkBlock(meta, to.number, newest).timestamp_seconds }
}

/** A stored block, with what its records lack. */
export interface FoundBlock {
  readonly number: number
  readonly hash: Uint8Array
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
  meta: ChainMeta,
  numbers: readonly number[]
): Promise<readonly FoundBlock[]> {
  const rows = await selectIn<ExtraRow>(transaction, `${withExtras} IN (?)`, numbers)
  const byNumber = new Map(rows.map(row => [row.number, row]))
  return numbers.map(number => checkWithExtra(meta, number, byNumber.get(number)))
}

/** Reads a range of stored blocks, as `readBlocks` does. */
export async function readBlockRange(
  transaction: ReadTransaction,
  meta: ChainMeta,
  first: number,
  last: number
): Promise<readonly FoundBlock[]> {
  const rows = await selectRange(transaction, first, last)
  return Array.from({ length: last - first + 1 }, (_, i) =>
    checkWithExtra(meta, first + i, rows.get(first + i))
  )
}

/**
 * Finds what is damaged or missing in the rows of a range of blocks and of their records: each block is there once, as the next one
 * names it.
 */
export async function findBlockDamage(
  transaction: ReadTransaction,
  meta: ChainMeta,
  first: number,
  last: number
): Promise<readonly Damage[]> {
  const found = new Map<string, Damage>()
  const add = (damage: Damage) => {
    if (damage.block !== last + 1) found.set(`${damage.part} ${damage.block}`, damage)
  }
  const attempt = (work: () => void) => {
    try {
      work()
    } catch (error) {
      add(damageOf(error))
    }
  }
  const counts = new Map<number, number>()
  for await (const { id, rec } of readRecords(transaction, first, last)) {
    const { blockNumber } = toPosition(id)
    counts.set(blockNumber, (counts.get(blockNumber) ?? 0) + 1)
    attempt(() => checkRecord(meta.identity.chainId, id, rec))
  }
  const rows = await selectRange(transaction, first, last + 1)
  let next: BlockRow | undefined
  for (let number = last + 1; number >= first; number--) {
    attempt(() => {
      const after = next
      next = undefined
      const { block, extra } = checkRows(meta, number, rows.get(number))
      next = block
      const isNamed = after === undefined || Buffer.compare(after.parent_hash, block.hash) === 0
      if (!isNamed) add({ part: 'block', block: number })
      else if (number <= last && block.tx_count !== (counts.get(number) ?? 0))
        add({ part: 'record', block: number })
      checkExtra(block, extra)
    })
  }
  return [...found.values()]
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

function checkWithExtra(meta: ChainMeta, number: number, found: ExtraRow | undefined): FoundBlock {
  const { block, extra } = checkRows(meta, number, found)
  checkExtra(block, extra)
  const { hash, tx_count: transactions } = block
  return { number, hash, transactions, ...(extra !== null && { extra }) }
}

/** Checks the row of a block, and takes what its records lack apart from it. */
function checkRows(meta: ChainMeta, number: number, found: ExtraRow | undefined) {
  const { rec: extra = null, ...row } = found ?? {}
  return { block: checkBlock(meta, number, found && (row as BlockRow)), extra }
}

function checkExtra({ number, extra }: BlockRow, rec: Uint8Array | null): void {
  if (extra === (rec && extraSum(rec))) return
  const detail = rec === null ? 'they are missing' : 'their checksum differs'
  throw new IndexDamagedError({ part: 'event', block: number }, detail)
}

function checkBlock({ identity, head }: ChainMeta, number: number, row: BlockRow | undefined): BlockRow {
  const damage = { part: 'block', block: number } as const
  if (row === undefined) throw new IndexDamagedError(damage, 'it is missing')
  if (number === head?.number && toHex(row.hash) !== head.hash) {
    throw new IndexDamagedError(damage, 'it is of another block')
  }
  return checkRow(identity.chainId, 'block', row, damage)
}

function extraSum(rec: Uint8Array): number {
  return crc32(rec) | 0
}

/** Inserts the rows of blocks, without their records. */
export async function insertBlocks(
  transaction: WriteTransaction,
  chainId: number,
  { headers, extras, extraEnds }: Pick<PackedBlocks, 'headers' | 'extras' | 'extraEnds'>
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
