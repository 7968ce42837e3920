import type { BlockRef, Hash } from '../model/evm.ts'
import { hashBytes, toHex } from '../record/hexBytes.ts'
import { sections } from '../runs/sections.ts'
import type { ReadTransaction, WriteTransaction } from '../runs/Transaction.ts'
import { type CountedKey, countKeys, deleteCounted, provenNumbers, reorgedHashes } from './keyParts.ts'
import { checkRow, sumOfRow } from './rowSums.ts'
import { toRef } from './rows.ts'
import { insertSummed, runIn, selectIn } from './sets.ts'

interface ReorgedRow {
  readonly prefix: Uint8Array
  readonly ancestor_number: number
  readonly ancestor_hash: Uint8Array
  readonly sum: number | null
}

const columns = ['prefix', 'ancestor_number', 'ancestor_hash']

/** Returns as many bytes of a hash as runs have: where the record is lost, no more of it is known. */
function toPrefix(hash: Uint8Array): Uint8Array {
  return hash.subarray(0, sections.hash.groupLength)
}

/**
 * Finds the block below which a reorg removed a transaction.
 * @returns absent where no reorg did.
 * @throws {IndexDamagedError} what is remembered is not what was written.
 */
export async function findReorged(
  transaction: ReadTransaction,
  chainId: number,
  hash: Hash
): Promise<BlockRef | undefined> {
  const key = toPrefix(hashBytes(hash))
  if ((await provenNumbers(transaction, reorgedHashes, key)).length === 0) return undefined
  const [row] = await transaction.all<ReorgedRow>('SELECT * FROM reorged WHERE prefix = ?', [key])
  if (row === undefined) return undefined
  const { ancestor_number: number, ancestor_hash } = checkRow(chainId, 'reorged', row, { part: 'undo' })
  return toRef({ number, hash: ancestor_hash })
}

/** Checks whether the store remembers any transaction that a reorg removed. */
export async function hasReorged(transaction: ReadTransaction): Promise<boolean> {
  return (await transaction.all('SELECT 1 AS found FROM reorged LIMIT 1')).length > 0
}

/**
 * Remembers transactions that a reorg removes. Those of earlier reorgs get the new ancestor where theirs is removed, so that it
 * is always a block of the index.
 */
export async function rememberReorged(
  transaction: WriteTransaction,
  chainId: number,
  hashes: readonly Uint8Array[],
  ancestor: BlockRef
): Promise<void> {
  const above = 'SELECT prefix FROM reorged WHERE ancestor_number > ?'
  const moved = await transaction.all<Pick<ReorgedRow, 'prefix'>>(above, [ancestor.number])
  const removed = byHex(hashes)
  const known = byHex([...moved.map(({ prefix }) => prefix), ...(await selectKnown(transaction, removed))])
  await runIn(transaction, 'DELETE FROM reorged WHERE prefix IN (?)', [...known.values()])
  const rows = [...new Map([...known, ...removed]).values()].map(prefix => [
    ...[prefix, ancestor.number, hashBytes(ancestor.hash)]
  ])
  await insertSummed(transaction, chainId, 'reorged', columns, rows)
  const added = [...removed].flatMap(([hex, prefix]) => (known.has(hex) ? [] : [prefix]))
  await countKeys(transaction, reorgedHashes, added.map(toKey), 1)
}

/** Forgets transactions that later blocks have again: they are confirmed again. */
export async function forgetReorged(
  transaction: WriteTransaction,
  hashes: readonly Uint8Array[]
): Promise<void> {
  const known = await selectKnown(transaction, byHex(hashes))
  await runIn(transaction, 'DELETE FROM reorged WHERE prefix IN (?)', known)
  await countKeys(transaction, reorgedHashes, known.map(toKey), -1)
}

/** Keeps the rows that are as they were written. The cursor of a transaction that is forgotten counts as unknown. */
export async function forgetDamagedReorged(transaction: WriteTransaction, chainId: number): Promise<void> {
  const rows = await transaction.all<ReorgedRow>('SELECT * FROM reorged')
  const sound = rows.filter(row => row.sum === sumOfRow(chainId, 'reorged', row))
  // Rows whose keys were altered may not be found by them.
  await deleteCounted(transaction, reorgedHashes)
  const kept = sound.map(({ prefix, ancestor_number, ancestor_hash }) => [
    ...[prefix, ancestor_number, ancestor_hash]
  ])
  await insertSummed(transaction, chainId, 'reorged', columns, kept)
  const keys = sound.map(({ prefix }) => toKey(prefix))
  await countKeys(transaction, reorgedHashes, keys, 1)
}

async function selectKnown(
  transaction: ReadTransaction,
  wanted: ReadonlyMap<string, Uint8Array>
): Promise<readonly Uint8Array[]> {
  const text = 'SELECT prefix FROM reorged WHERE prefix IN (?)'
  const rows = await selectIn<Pick<ReorgedRow, 'prefix'>>(transaction, text, [...wanted.values()])
  return rows.map(({ prefix }) => prefix)
}

/** Takes the prefix of each hash, each once: a broken chain may list a transaction twice. */
function byHex(hashes: readonly Uint8Array[]): ReadonlyMap<string, Uint8Array> {
  return new Map(hashes.map(toPrefix).map(prefix => [toHex(prefix), prefix]))
}

function toKey(prefix: Uint8Array): CountedKey {
  return [prefix, 0]
}
