import type { Hash } from '../model/evm.ts'
import type { IndexedRange } from '../port/status.ts'
import { hashKey } from '../record/hexBytes.ts'
import { hashOfRecord } from '../record/record.ts'
import { checkRecord } from '../record/recordSums.ts'
import { maxTransactionsPerBlock } from '../record/transactionId.ts'
import { type ChainMeta, checkChain, missingRecord, type ReportColumns } from '../shared/rows.ts'
import { prepareBlockRows } from './blockRows.ts'
import { prepareReplay } from './changes.ts'
import type { SqliteConnection, SqliteDriver } from './driver.ts'
import type { EpochList } from './epochList.ts'
import { createSumPages } from './epochSums.ts'
import { prepareRows } from './keyedRows.ts'
import { createKeyParts, poolAddresses } from './keyParts.ts'
import { createLinkedRows } from './linkedRows.ts'
import { createFormatCheck } from './makeTables.ts'
import { createCursor } from './meta.ts'
import { type ChainFiles, openForReading } from './open.ts'
import type { PoolRow } from './poolRow.ts'
import { createProvenHoldings } from './provenHoldings.ts'
import { createProvenIds } from './provenIds.ts'
import { prepareFindReorged } from './reorged.ts'
import { prepareRowDamage } from './rowDamage.ts'
import { indexTables } from './schema.ts'
import { addressTable, hashAt, hashTable, shortHashLength } from './tableShapes.ts'

/** A row with its checksum. */
interface Sealed {
  readonly sum: number | null
}

/** One connection of the reader with everything a snapshot asks, prepared. Used by one snapshot at a time. */
export type ReadConnection = ReturnType<typeof prepareReads> & {
  readonly connection: SqliteConnection
  /** Starts a read transaction, so that all reads until `end` see the same state. */
  begin(): void
  /**
   * Reads what every snapshot needs to know.
   * @throws {StoreError} another build has taken the file meanwhile.
   */
  facts(): SnapshotFacts
  end(): void
}

/** The state of an index as a whole, as one transaction sees it. */
export interface SnapshotFacts {
  readonly meta: ChainMeta
  readonly list: EpochList
  /** Absent until it is read for the first time. */
  range?: { readonly found: IndexedRange | undefined }
}

/**
 * Opens the chain's file for reading.
 * @throws {StoreError} the file has another format, or holds another chain.
 */
export function openReadConnection(driver: SqliteDriver, files: ChainFiles, chainId: number): ReadConnection {
  const connection = openForReading(driver, files.database)
  try {
    const checkFormat = createFormatCheck(connection, indexTables, files.store)
    checkFormat()
    const statements = prepareReads(connection, chainId)
    checkChain(statements.cursor.meta(), chainId)
    return {
      ...statements,
      connection,
      begin: () => {
        connection.exec('BEGIN')
        // The first read, not BEGIN, fixes what this transaction sees.
        statements.dataVersion.get([])
      },
      facts: () => {
        checkFormat()
        const { cursor } = statements
        return { meta: cursor.meta(), list: cursor.epochs() }
      },
      end: () => connection.exec('ROLLBACK')
    }
  } catch (error) {
    connection.close()
    throw error
  }
}

function prepareReads(connection: SqliteConnection, chainId: number) {
  return {
    cursor: createCursor(connection),
    lookUp: createTransactionLookup(connection),
    report: connection.prepare<ReportColumns & Sealed>('SELECT * FROM writer_report'),
    dataVersion: connection.prepare('PRAGMA data_version'),
    idsOfAddress: createProvenIds(connection, addressTable, chainId),
    idsOfHash: createProvenIds(connection, hashTable, chainId),
    /**
     * Records of transactions as one row, because each row costs several times what reading its record does: one after the other.
     * As text they are joined byte for byte. Outer join, so that a missing record shows: a list must not be cut silently. It also keeps
     * the order of the list, which sorting would only cost time for; the checksum of each record covers its id.
     */
    recordsOf: connection.prepare<{
      missing: number | null
      lengths: string | null
      bytes: Uint8Array | null
    }>(
      `SELECT max(iif(rec IS NULL, wanted.value, NULL)) AS missing, group_concat(length(rec)) AS lengths,
         CAST(group_concat(CAST(rec AS TEXT), '') AS BLOB) AS bytes
       FROM json_each(?) AS wanted LEFT JOIN tx ON tx.id = wanted.value`
    ),
    /**
     * A stretch of a history whose rows are not proven, with the ids of rows without a record, without a row in the index of
     * hashes, and without a block. Without a record the hash is unknown.
     */
    audited: connection.prepare<{
      n: number
      last: number | null
      ids: string | null
      lengths: string | null
      bytes: Uint8Array | null
      record: string | null
      hash: string | null
      block: string | null
    }>(
      `SELECT count(*) AS n, min(id) AS last, group_concat(iif(rec IS NULL, NULL, id)) AS ids,
         group_concat(length(rec)) AS lengths,
         CAST(group_concat(CAST(rec AS TEXT), '') AS BLOB) AS bytes,
         group_concat(iif(rec IS NULL, id, NULL)) AS record,
         group_concat(iif(rec IS NOT NULL AND hash_id IS NULL, id, NULL)) AS hash,
         group_concat(iif(block_number IS NULL, id, NULL)) AS block
       FROM (
         SELECT a.tx_id AS id, tx.rec AS rec, tx_hash.tx_id AS hash_id, block.number AS block_number
         ${rowsOfAddress(`LEFT JOIN tx ON tx.id = a.tx_id
           LEFT JOIN tx_hash ON tx_hash.epoch = a.epoch AND tx_hash.key = substr(tx.rec, ${hashAt}, ${shortHashLength})
             AND tx_hash.tx_id = a.tx_id
           LEFT JOIN block ON block.number = a.tx_id / ${maxTransactionsPerBlock}`)}
       )`
    ),
    linkedRows: createLinkedRows(connection, addressTable, chainId),
    /** Rows of the address index after a row and below an address, in their order. */
    addressRows: prepareRows(
      connection,
      addressTable,
      'WHERE epoch = ? AND (address, tx_id) > (?, ?) AND address < ? ORDER BY address, tx_id LIMIT ? + 0'
    ),
    addressSums: createSumPages(connection, addressTable),
    accountEvents: connection.prepare<{ block: number; rec: Uint8Array } & Sealed>(
      'SELECT * FROM account_event WHERE address = ? AND block > ? ORDER BY block LIMIT ? + 0'
    ),
    findReorged: prepareFindReorged(connection),
    poolAddresses: createKeyParts(connection, poolAddresses),
    pending: connection.prepare<PoolRow>(
      `SELECT pool.* FROM pool_address LEFT JOIN pool ON pool.id = pool_address.pool_id WHERE pool_address.address = ?`
    ),
    replay: prepareReplay(connection),
    blockRows: prepareBlockRows(connection),
    rowDamage: prepareRowDamage(connection, chainId),
    holdings: createProvenHoldings(connection, chainId)
  }
}

/**
 * Newest first, without sorting: epoch after epoch, and in each along the index.
 * Parameters: the newest block that there may be rows of, the address, the id that all are below, at most so many.
 */
function rowsOfAddress(join = ''): string {
  return `FROM epoch
    CROSS JOIN address_tx a ON a.epoch = epoch.id AND a.address = ?2 AND a.tx_id < ?3 ${join}
    WHERE epoch.first_block <= ?1 ORDER BY epoch.first_block DESC, a.tx_id DESC LIMIT ?4 + 0`
}

/** Finds one transaction by its hash. */
export type TransactionLookup = (chainId: number, hash: Hash) => number | undefined

/**
 * Prepares the look-up by hash, newest epochs first. The index keeps a part of each hash; the record says whether it is this
 * one. Of a hash that a broken chain lists twice, the later place is found.
 * @param newestEpochs - only so many are looked into; absent: all.
 */
export function createTransactionLookup(
  connection: SqliteConnection,
  newestEpochs?: number
): TransactionLookup {
  const select = connection.prepare<{ id: number; rec: Uint8Array | null }>(
    `SELECT tx_hash.tx_id AS id, tx.rec AS rec FROM epoch
       CROSS JOIN tx_hash ON tx_hash.epoch = epoch.id AND tx_hash.key = ?
       LEFT JOIN tx ON tx.id = tx_hash.tx_id
     WHERE epoch.first_block >= ${newestEpochs === undefined ? 0 : firstBlockOf(newestEpochs)}
     ORDER BY epoch.first_block DESC, tx_hash.tx_id DESC`
  )
  return (chainId, hash) =>
    select.all([hashKey(hash)]).find(({ id, rec }) => {
      if (rec === null) throw missingRecord(id)
      // A record that is not what was written may have lost this hash.
      checkRecord(chainId, id, rec)
      return hashOfRecord(rec) === hash.toLowerCase()
    })?.id
}

function firstBlockOf(newestEpochs: number): string {
  return `(SELECT min(first_block) FROM
    (SELECT first_block FROM epoch ORDER BY first_block DESC LIMIT ${newestEpochs}))`
}
