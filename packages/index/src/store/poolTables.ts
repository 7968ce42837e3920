import { IndexDamagedError } from '../platform/errors.ts'
import { addressBytes, hashBytes, toHex } from '../record/hexBytes.ts'
import { decodePending } from '../record/record.ts'
import type { ReadTransaction, WriteTransaction } from '../runs/Transaction.ts'
import { type CountedKey, countKeys, deleteCounted, poolAddresses, provenNumbers } from './keyParts.ts'
import { namedBy, type PoolRows, type PoolWrite, type StoredEntry } from './Pool.ts'
import type { PoolEntry } from './poolMirror.ts'
import { readSoundRecords } from './records.ts'
import { checkRow, sumOfRow } from './rowSums.ts'
import type { PendingColumns } from './rows.ts'
import { insertSummed, rowLists, runIn, selectIn } from './sets.ts'

const entriesAtOnce = 1_000

/** Row of `pool`. */
interface PoolRow extends Omit<StoredEntry, 'seconds'> {
  readonly first_seen_seconds: number
  readonly sum: number | null
}

type FirstSeenRow = Pick<PoolRow, 'hash' | 'first_seen_seconds' | 'sum'>

/**
 * Creates the reads of the pool. They throw an `IndexDamagedError` where a row is not what was written.
 * @param confirmedOf - finds transactions of the newest blocks by their hashes.
 */
export function createPoolRows(
  transaction: ReadTransaction,
  chainId: number,
  confirmedOf: PoolRows['confirmedOf']
): PoolRows {
  return {
    confirmedOf,
    async *entries() {
      // A slice at a time: records may hold much calldata, and none of it is kept.
      const text = `SELECT * FROM pool WHERE id > ? ORDER BY id LIMIT ${entriesAtOnce}`
      for (let last: number | undefined = 0; last !== undefined; ) {
        const rows: readonly PoolRow[] = await transaction.all<PoolRow>(text, [last])
        yield* rows.map(row => checkEntry(chainId, row))
        last = rows.at(-1)?.id
      }
    },
    entriesOf: ids => selectEntries(transaction, chainId, ids),
    records: (first, last) => readSoundRecords(transaction, chainId, first, last),
    async firstSeenOf(hashes) {
      const text = 'SELECT * FROM first_seen WHERE hash IN (?)'
      const rows = await selectIn<FirstSeenRow>(transaction, text, hashes.map(hashBytes))
      for (const row of rows) checkRow(chainId, 'first_seen', row, { part: 'poolEntry' })
      return new Map(rows.map(({ hash, first_seen_seconds }) => [toHex(hash), first_seen_seconds]))
    }
  }
}

/**
 * Reads the entries that name an address.
 * @throws {IndexDamagedError} one is lost or altered, or does not name the address.
 */
export async function readPending(
  transaction: ReadTransaction,
  chainId: number,
  address: Uint8Array
): Promise<readonly PendingColumns[]> {
  const ids = await provenNumbers(transaction, poolAddresses, address)
  const entries = await selectEntries(transaction, chainId, ids)
  if (entries.length < ids.length) throw new IndexDamagedError({ part: 'poolEntry' }, 'it is missing')
  if (entries.every(({ rec }) => namedBy(decodePending(rec)).has(toHex(address)))) return entries
  throw new IndexDamagedError({ part: 'poolEntry' }, 'it is found by an address that it does not name')
}

async function selectEntries(
  transaction: ReadTransaction,
  chainId: number,
  ids: readonly number[]
): Promise<readonly (PoolRow & StoredEntry)[]> {
  const rows = await selectIn<PoolRow>(transaction, 'SELECT * FROM pool WHERE id IN (?)', ids)
  return rows.map(row => checkEntry(chainId, row))
}

function checkEntry(chainId: number, row: PoolRow): PoolRow & StoredEntry {
  const { first_seen_seconds: seconds } = checkRow(chainId, 'pool', row, { part: 'poolEntry' })
  return { ...row, seconds }
}

/** Changes the stored pool, and remembers when the entries that leave were first seen. */
export async function writePool(
  transaction: WriteTransaction,
  chainId: number,
  write: PoolWrite
): Promise<void> {
  await writeFirstSeen(transaction, chainId, write)
  await removeEntries(transaction, write.removed)
  for (const { id, hash, status, seconds, rec } of write.changed) {
    const row = { id, hash: hashBytes(hash), status, first_seen_seconds: seconds, rec }
    const values = [status, sumOfRow(chainId, 'pool', row), id]
    await transaction.run('UPDATE pool SET status = ?, sum = ? WHERE id = ?', values)
  }
  await addEntries(transaction, chainId, write.added)
}

async function writeFirstSeen(
  transaction: WriteTransaction,
  chainId: number,
  { removed, head, returned, dropLeftBelow, maxFirstSeen }: PoolWrite
): Promise<void> {
  if (dropLeftBelow !== undefined) {
    await transaction.run('DELETE FROM first_seen WHERE left_at < ?', [dropLeftBelow])
  }
  const forgotten = [...removed.map(({ hash }) => hash), ...returned].map(hashBytes)
  await runIn(transaction, 'DELETE FROM first_seen WHERE hash IN (?)', forgotten)
  const seen = removed.map(({ hash, seconds }) => [hashBytes(hash), seconds, head])
  await insertSummed(transaction, chainId, 'first_seen', ['hash', 'first_seen_seconds', 'left_at'], seen)
  if (maxFirstSeen === undefined) return
  // SQLite takes no OFFSET without a LIMIT.
  await transaction.run(
    `DELETE FROM first_seen WHERE hash IN
       (SELECT hash FROM first_seen ORDER BY left_at DESC, hash DESC LIMIT 9007199254740991 OFFSET ?)`,
    [maxFirstSeen]
  )
}

async function removeEntries(transaction: WriteTransaction, removed: readonly PoolEntry[]): Promise<void> {
  const keys = removed.flatMap(keysOf)
  for (const list of rowLists(keys)) {
    const wanted = list.map(() => '(address = ? AND pool_id = ?)').join(' OR ')
    await transaction.run(`DELETE FROM pool_address WHERE ${wanted}`, list.flat())
  }
  await countKeys(transaction, poolAddresses, keys, -1)
  const ids = removed.map(({ id }) => id)
  await runIn(transaction, 'DELETE FROM pool WHERE id IN (?)', ids)
}

async function addEntries(
  transaction: WriteTransaction,
  chainId: number,
  added: PoolWrite['added']
): Promise<void> {
  const columns = ['id', 'hash', 'status', 'first_seen_seconds', 'rec']
  const rows = added.map(({ id, hash, status, seconds, rec }) => [id, hashBytes(hash), status, seconds, rec])
  await insertSummed(transaction, chainId, 'pool', columns, rows)
  const keys = added.flatMap(keysOf)
  await transaction.insert('pool_address', ['address', 'pool_id'], keys)
  await countKeys(transaction, poolAddresses, keys, 1)
}

/** Deletes all that is stored of the pool. */
export async function deletePool(transaction: WriteTransaction): Promise<void> {
  await transaction.run('DELETE FROM pool')
  await transaction.run('DELETE FROM first_seen')
  await deleteCounted(transaction, poolAddresses)
}

function keysOf(entry: PoolEntry): readonly CountedKey[] {
  return [...namedBy(entry)].map((address): CountedKey => [addressBytes(address), entry.id])
}
