import { StoreError } from '../../platform/errors.ts'
import type { ChainFiles } from './chainFiles.ts'
import { type ChainMeta, createCursor } from './cursor.ts'
import type { SqliteConnection, SqliteDriver } from './driver.ts'
import { schemaVersion } from './migrate.ts'
import { migrations } from './migrations.ts'
import { openForReading } from './openConnection.ts'
import { createReportReader } from './reportTable.ts'
import { createTransactionLookup } from './transactionLookup.ts'

/** One connection of the reader with everything a snapshot asks, prepared. Used by one snapshot at a time. */
export type ReadConnection = ReturnType<typeof prepareReads> & {
  readonly connection: SqliteConnection
  /**
   * Starts a read transaction, so that all reads until `end` see the same state.
   * @throws {StoreError} a newer program has changed the schema meanwhile.
   */
  begin(): ChainMeta
  end(): void
}

/**
 * Opens the chain's file for reading.
 * @returns nothing while its writer has not created it, or not yet brought it to this program's schema.
 * @throws {StoreError} the schema is newer than this program, or the file holds another chain.
 */
export function openReadConnection(
  driver: SqliteDriver,
  files: ChainFiles,
  chainId: number
): ReadConnection | undefined {
  const connection = openForReading(driver, files.database)
  try {
    const version = schemaVersion(connection)
    if (version === undefined || version < migrations.length) {
      connection.close()
      return undefined
    }
    checkVersion(version)
    const statements = prepareReads(connection)
    const stored = statements.cursor.meta().identity.chainId
    if (stored !== chainId) {
      throw new StoreError(`the store holds chain ${stored}, chain ${chainId} was asked for`, {
        stored,
        chainId
      })
    }
    return {
      ...statements,
      connection,
      begin: () => {
        connection.exec('BEGIN')
        // The first read, not BEGIN, fixes what this transaction sees.
        checkVersion(statements.version.get([])?.version ?? 0)
        return statements.cursor.meta()
      },
      end: () => connection.exec('ROLLBACK')
    }
  } catch (error) {
    connection.close()
    throw error
  }
}

function checkVersion(version: number): void {
  if (version === migrations.length) return
  throw new StoreError(
    `the store has schema version ${version}, this program reads version ${migrations.length}: run the newer program`,
    { storedVersion: version, knownVersion: migrations.length }
  )
}

function prepareReads(connection: SqliteConnection) {
  return {
    cursor: createCursor(connection),
    lookUp: createTransactionLookup(connection),
    report: createReportReader(connection),
    version: connection.prepare<{ version: number }>('SELECT max(version) AS version FROM migration'),
    /** Epochs that may hold something older than the start of a block, newest first. */
    epochs: connection.prepare<{ id: number }>(
      'SELECT id FROM epoch WHERE first_block <= ? ORDER BY id DESC'
    ),
    /**
     * A stretch of a history as one row, because each row costs several times what reading its record does: the ids as text,
     * and the records one after the other. As text they are joined byte for byte; the inner ORDER BY makes both follow the
     * index. Outer join, so that a missing record shows: a list must not be cut silently.
     */
    history: connection.prepare<{ ids: string | null; missing: number | null; bytes: Uint8Array | null }>(
      `SELECT group_concat(id) AS ids, max(iif(rec IS NULL, id, NULL)) AS missing,
         CAST(group_concat(CAST(rec AS TEXT), '') AS BLOB) AS bytes
       FROM (
         SELECT a.tx_id AS id, tx.rec AS rec FROM address_tx a LEFT JOIN tx ON tx.id = a.tx_id
         WHERE a.epoch = ? AND a.address = ? AND a.tx_id < ? ORDER BY a.tx_id DESC LIMIT ?
       )`
    ),
    count: connection.prepare<{ n: number }>(
      'SELECT count(*) AS n FROM (SELECT 1 FROM address_tx WHERE epoch = ? AND address = ? LIMIT ?)'
    ),
    reorged: connection.prepare<{ number: number; hash: Uint8Array }>(
      'SELECT ancestor_number AS number, ancestor_hash AS hash FROM reorged WHERE hash = ?'
    ),
    pending: connection.prepare<{ status: 0 | 1; seconds: number; rec: Uint8Array }>(
      `SELECT pool.status AS status, pool.first_seen_seconds AS seconds, pool.rec AS rec
       FROM pool_address CROSS JOIN pool ON pool.id = pool_address.pool_id WHERE pool_address.address = ?`
    ),
    newestHoldingEpoch: connection.prepare<{ epoch: number | null }>(
      'SELECT max(epoch) AS epoch FROM holding'
    ),
    holdings: connection.prepare<{ contract: Uint8Array; tokenId: Uint8Array; standard: number }>(
      `SELECT contract, token_id AS tokenId, standard FROM holding
       WHERE epoch = ? AND owner = ? AND (contract, token_id, standard) > (?, ?, ?)
       ORDER BY contract, token_id, standard LIMIT ?`
    )
  }
}
