import type { ReadTransaction } from '../runs/Transaction.ts'
import type { FactsReader } from '../store/FactsReader.ts'
import type { IndexFacts } from '../store/IndexSnapshot.ts'
import { readMeta } from '../store/meta.ts'
import type { SqliteConnection, SqliteDriver } from './driver.ts'
import { indexTables } from './indexTables.ts'
import { createFormatCheck } from './makeTables.ts'
import { type ChainFiles, openForReading } from './open.ts'
import { createReadTransaction } from './transaction.ts'

/** One connection of the reader. Used by one snapshot at a time. */
export interface ReadConnection {
  readonly connection: SqliteConnection
  readonly reads: ReadTransaction
  /** Starts a read transaction, so that all reads until `end` see the same state. */
  begin(): void
  /**
   * Reads what every snapshot needs to know.
   * @throws {StoreError} another build has taken the file meanwhile, or it holds another chain.
   */
  facts(): Promise<IndexFacts>
  end(): void
}

/**
 * Opens the chain's file for reading.
 * @throws {StoreError} the file has another format.
 */
export function openReadConnection(
  driver: SqliteDriver,
  files: ChainFiles,
  facts: FactsReader
): ReadConnection {
  const connection = openForReading(driver, files.database)
  try {
    const checkFormat = createFormatCheck(connection, indexTables, files.store)
    checkFormat()
    const reads = createReadTransaction(connection)
    const dataVersion = connection.prepare('PRAGMA data_version')
    return {
      connection,
      reads,
      begin: () => {
        connection.exec('BEGIN')
        // The first read, not BEGIN, fixes what this transaction sees.
        dataVersion.get([])
      },
      facts: async () => {
        checkFormat()
        return facts.read(reads, await readMeta(reads))
      },
      end: () => connection.exec('ROLLBACK')
    }
  } catch (error) {
    connection.close()
    throw error
  }
}
