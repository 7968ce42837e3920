import type { Hash } from '../model/evm.ts'
import { hashLength } from '../record/encodeBlock.ts'
import { addressBytes, hashBytes, toHex } from '../record/hexBytes.ts'
import { encodePending, hashOfRecord } from '../record/record.ts'
import { checkRecord } from '../record/recordSums.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { type AddedEntry, namedBy, type PoolRows, type PoolWrite, type StoredEntry } from '../shared/Pool.ts'
import type { Script } from './commit.ts'
import { CopyBuffer } from './copyBuffer.ts'
import { isSound, type Judged, requireSound } from './judged.ts'
import { countedChange, poolAddresses } from './keyParts.ts'
import { bigintsLiteral, bytesArrayLiteral, hashKeyNumber } from './literals.ts'
import type { WriterSession } from './session.ts'

const rowsAtOnce = 2_000

/**
 * Reads that throw an `IndexDamagedError` where a row is not what was written.
 * @param recentFrom - first block of those in which a transaction is looked for.
 */
export function createPoolRows(
  session: WriterSession,
  chainId: number,
  recentFrom: (head: number) => number
): PoolRows {
  const sound = <T extends Judged>(row: T) => requireSound(row, { part: 'poolEntry' })
  const entries = `SELECT id, hash, status, first_seen_seconds AS seconds, rec, ${isSound(chainId, 'pool')} AS "isSound" FROM pool`
  return {
    async entriesAfter(id) {
      const rows = await session.read<StoredEntry & Judged>(
        `${entries} WHERE id > $1 ORDER BY id LIMIT ${rowsAtOnce}`,
        [id]
      )
      return rows.map(sound)
    },
    async entriesOf(ids) {
      const rows = await session.read<StoredEntry & Judged>(`${entries} WHERE id = ANY ($1)`, [ids])
      return rows.map(sound)
    },
    async recordsBetween(first, end) {
      const rows = await session.read<{ id: number; rec: Buffer }>(
        `SELECT id, rec FROM tx WHERE id >= $1 AND id < $2 ORDER BY id LIMIT ${rowsAtOnce}`,
        [first, end]
      )
      for (const { id, rec } of rows) checkRecord(chainId, id, rec)
      return rows
    },
    // The index keeps a part of each hash; the record says whether it is this one.
    async confirmedOf(hashes, head) {
      const rows = await session.read<{ id: number; rec: Buffer }>(
        `SELECT id, rec FROM tx
         WHERE hash_key(rec) = ANY ($1::bigint[]) AND id >= $2`,
        [hashes.map(hashKeyNumber), firstTransactionId(recentFrom(head))]
      )
      for (const { id, rec } of rows) checkRecord(chainId, id, rec)
      return new Set(rows.map(({ rec }) => hashOfRecord(rec)))
    },
    async firstSeenOf(hashes) {
      const rows = await session.read<{ hash: Buffer; seconds: number } & Judged>(
        `SELECT hash, first_seen_seconds AS seconds, ${isSound(chainId, 'first_seen')} AS "isSound"
         FROM first_seen WHERE hash = ANY ($1)`,
        [hashes.map(hashBytes)]
      )
      return new Map(rows.map(sound).map(({ hash, seconds }): [Hash, number] => [toHex(hash), seconds]))
    }
  }
}

/** Statements that change the stored pool. */
export function poolScript(write: PoolWrite): Script {
  const { removed, head, changed, added, returned, dropLeftBelow, maxFirstSeen } = write
  const removedIds = bigintsLiteral(removed.map(({ id }) => id))
  const update = (wanted: 0 | 1) => {
    const ids = changed.flatMap(({ id, transaction }) => (transaction.status === wanted ? id : []))
    return ids.length === 0
      ? []
      : [`UPDATE pool SET status = ${wanted} WHERE id = ANY (${bigintsLiteral(ids)})`]
  }
  const statements = [
    ...(dropLeftBelow === undefined ? [] : [`DELETE FROM first_seen WHERE left_at < ${dropLeftBelow}`]),
    ...(removed.length === 0
      ? []
      : [
          `WITH gone AS (DELETE FROM pool WHERE id = ANY (${removedIds}) RETURNING hash, first_seen_seconds)
             INSERT INTO first_seen SELECT hash, first_seen_seconds, ${head} FROM gone
             ON CONFLICT (hash) DO UPDATE
             SET first_seen_seconds = excluded.first_seen_seconds, left_at = excluded.left_at`,
          countedChange(poolAddresses, `DELETE FROM pool_address WHERE pool_id = ANY (${removedIds})`)
        ]),
    ...(maxFirstSeen === undefined
      ? []
      : [
          `DELETE FROM first_seen WHERE hash IN
             (SELECT hash FROM first_seen ORDER BY left_at DESC, hash DESC OFFSET ${maxFirstSeen})`
        ]),
    ...update(0),
    ...update(1),
    ...(added.length === 0
      ? []
      : [
          'COPY pool (id, hash, status, first_seen_seconds, rec) FROM STDIN (FORMAT binary)',
          countedChange(poolAddresses, addressStatement(added))
        ]),
    ...(returned.length === 0
      ? []
      : [`DELETE FROM first_seen WHERE hash = ANY (${bytesArrayLiteral(returned.map(hashBytes))})`])
  ]
  return { statements, rows: added.length === 0 ? [] : [copyEntries(added)] }
}

function copyEntries(entries: readonly AddedEntry[]): Buffer {
  const records = entries.map(({ transaction }) => encodePending(transaction))
  const size = records.reduce((sum, { length }) => sum + length, 0)
  const rows = new CopyBuffer(size + entries.length * (2 + 5 * 4 + 8 + hashLength + 2 + 8))
  for (const [row, { id, transaction, firstSeenSeconds }] of entries.entries()) {
    rows.begin(5)
    rows.bigint(id)
    rows.bytes(hashBytes(transaction.hash))
    rows.smallint(transaction.status)
    rows.bigint(firstSeenSeconds)
    rows.bytes(records[row] ?? Buffer.alloc(0))
  }
  return rows.finish()
}

function addressStatement(entries: readonly AddedEntry[]): string {
  const named = entries.flatMap(({ id, transaction }) =>
    [...namedBy(transaction)].map(address => ({ id, address }))
  )
  const addresses = bytesArrayLiteral(named.map(({ address }) => addressBytes(address)))
  return `INSERT INTO pool_address SELECT * FROM unnest(${addresses}, ${bigintsLiteral(named.map(({ id }) => id))})`
}
