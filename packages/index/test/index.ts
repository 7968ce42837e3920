export { connect as connectPostgres, toStoreError as toPostgresError } from '../src/postgres/driver.ts'
export { indexTables as postgresIndexTables } from '../src/postgres/indexTables.ts'
export { openPostgresWriter } from '../src/postgres/openWriter.ts'
export { chainSchema } from '../src/postgres/schema.ts'
export type { DetailedTransaction } from '../src/record/details.ts'
export { encodeAccountEvents } from '../src/record/accountEvents.ts'
export { partCount } from '../src/record/keyParts.ts'
export { decodePending, encodePending } from '../src/record/record.ts'
export {
  type SqliteConnection,
  type SqliteDriver,
  type SqliteStatement,
  toStoreError as toSqliteError
} from '../src/sqlite/driver.ts'
export { indexTables as sqliteIndexTables } from '../src/sqlite/indexTables.ts'
export { loadSqliteDriver } from '../src/sqlite/loadDriver.ts'
export { chainFiles } from '../src/sqlite/open.ts'
export { openSqliteReader } from '../src/sqlite/openReader.ts'
export { openSqliteWriter, type SqliteWriterOptions } from '../src/sqlite/openWriter.ts'
export { formatOf } from '../src/store/format.ts'
export { emptySnapshot } from '../src/store/IndexSnapshot.ts'
export { arbitraryAddress, arbitraryConfirmed, arbitraryUint256 } from './arbitraries.ts'
export {
  buildChain,
  hashOf,
  type PresentTransaction,
  people,
  poolTransaction,
  type TransactionPlan
} from './buildChain.ts'
export { commitChain } from './commitChain.ts'
export { dumpPostgresStore } from './dumpPostgresStore.ts'
export { dumpStore, type StoreDump } from './dumpStore.ts'
export { encodeConfirmed } from './encodeConfirmed.ts'
export { expectedEvents, expectedHistory } from './expectedHistory.ts'
export { FoldedHistories, readChanges, readShown, type ShownTransaction } from './foldChanges.ts'
export { loseSqliteRow } from './loseSqliteRow.ts'
export { openMemoryDeepHistoryCache } from './memoryDeepHistoryCache.ts'
export { openOwnPostgresReader } from './openOwnPostgresReader.ts'
export {
  decodeRecords,
  gather,
  readAudit,
  readChunks,
  readHistory,
  readPages,
  withSnapshot
} from './readAll.ts'
export { eventually } from './support/eventually.ts'
export { findPostgres } from './support/findPostgres.ts'
export { type Citus, hasCitus, startCitus } from './support/startCitus.ts'
export { type DatabaseDoor, startDatabaseDoor } from './support/startDatabaseDoor.ts'
export {
  createTestDatabase,
  isOnCitus,
  type Postgres,
  queryOnce,
  replicaRole,
  startPostgres,
  startStore
} from './support/startPostgres.ts'
export { temporaryFolder } from './support/temporaryFolder.ts'
