import type { StoreLocation } from '../../src/index/parseStoreUrl.ts'
import { connect } from '../../src/index/postgres/driver.ts'
import {
  chainSchema,
  migrations as postgresMigrations,
  writingChain
} from '../../src/index/postgres/schema.ts'
import { sumFlag, sumLength } from '../../src/index/record/RecordParts.ts'
import type { SqliteConnection } from '../../src/index/sqlite/driver.ts'
import { loadSqliteDriver } from '../../src/index/sqlite/loadDriver.ts'
import { migrate } from '../../src/index/sqlite/migrate.ts'
import { chainFiles } from '../../src/index/sqlite/open.ts'
import { migrations as sqliteMigrations } from '../../src/index/sqlite/schema.ts'
import { temporaryFolder } from '../support/indexHarness.ts'
import { engines } from '../support/testStores.ts'

/** An engine with one of the schemas that were released, and a way to make an index of it. */
export interface OldSchema {
  readonly engine: (typeof engines)[number]
  /** 0: there is no index yet. */
  readonly version: number
  readonly newest: number
  /**
   * Gives a store the form that this schema has, with the same rows as far as it has tables and columns for them.
   * @returns where it is.
   */
  takeBack(
    location: StoreLocation,
    chainId: number
  ): Promise<{ location: StoreLocation; remove(): Promise<void> }>
}

const [sqlite, postgres] = engines

/** Every schema of both engines but today's. */
export const oldSchemas: readonly OldSchema[] = [
  ...sqliteMigrations.map((_, version) => ({
    ...{ engine: sqlite, version, newest: sqliteMigrations.length },
    takeBack: async (location: StoreLocation, chainId: number) => {
      if (location.kind !== 'sqlite') throw new Error('expected SQLite')
      const { path, remove } = await temporaryFolder()
      if (version > 0) copyIntoOld(location.folder, path, chainId, version)
      return { location: { kind: 'sqlite' as const, folder: path }, remove }
    }
  })),
  ...postgresMigrations.map((_, version) => ({
    ...{ engine: postgres, version, newest: postgresMigrations.length },
    takeBack: async (location: StoreLocation, chainId: number) => {
      if (location.kind !== 'postgres') throw new Error('expected PostgreSQL')
      await undoSteps(location.url, chainId, version)
      return { location, remove: async () => undefined }
    }
  }))
]

function copyIntoOld(from: string, to: string, chainId: number, version: number): void {
  const file = chainFiles(to, chainId).database
  const connection = loadSqliteDriver().open(file, { busyTimeoutMs: 1_000 })
  migrate(connection, sqliteMigrations.slice(0, version))
  connection.exec(`ATTACH '${chainFiles(from, chainId).database}' AS made`)
  for (const table of tablesOf(connection)) {
    const old = columnsOf(connection, 'main', table)
    const columns = columnsOf(connection, 'made', table)
      .filter(column => old.includes(column))
      .join()
    // Dropped since.
    if (columns === '') continue
    connection.exec(`INSERT INTO main.${table} (${columns}) SELECT ${columns} FROM made.${table}`)
  }
  if (version < checksumsSince) takeSumsOff(connection)
  connection.close()
}

/** The step of SQLite's schema that brought checksums. */
const checksumsSince = 7

/** Records of older versions have no checksums at their ends. */
function takeSumsOff(connection: SqliteConnection): void {
  if (!tablesOf(connection).includes('tx')) return
  const put = connection.prepare('UPDATE tx SET rec = ? WHERE id = ?')
  const records = connection.prepare<{ id: number; rec: Uint8Array }>('SELECT id, rec FROM tx')
  for (const { id, rec } of records.all([])) {
    const old = rec.slice(0, -sumLength)
    old[0] = (rec[0] ?? 0) & ~sumFlag
    put.run([old, id])
  }
}

function tablesOf(connection: SqliteConnection): readonly string[] {
  const names = connection.prepare<{ name: string }>(
    "SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name <> 'migration'"
  )
  return names.all([]).map(({ name }) => name)
}

function columnsOf(connection: SqliteConnection, place: 'main' | 'made', table: string): readonly string[] {
  const columns = connection.prepare<{ name: string }>(`PRAGMA ${place}.table_info(${table})`)
  return columns.all([]).map(({ name }) => name)
}

const sealedTables = [
  'meta',
  'writer_report',
  'block',
  'account_event',
  'undo',
  'reorged',
  'pool',
  'first_seen'
]

/** Takes the checksums of PostgreSQL back, those at the ends of records too. */
export const unsealed = `DROP FUNCTION seal_row CASCADE; DROP FUNCTION row_sum;
  ALTER TABLE meta DROP COLUMN checked_from, DROP COLUMN IF EXISTS head;
  ${sealedTables.map(table => `ALTER TABLE ${table} DROP COLUMN sum;`).join(' ')}
  UPDATE tx SET rec = set_byte(substr(rec, 1, octet_length(rec) - 4), 0, get_byte(rec, 0) & 127) WHERE get_byte(rec, 0) >= 128;
  DELETE FROM migration WHERE version >= 5`

/** Gives PostgreSQL the checksums that were not bound to a chain yet. */
const sealedFreely = `DROP FUNCTION seal_row CASCADE; DROP FUNCTION row_sum;
  CREATE TEMP TABLE kept AS SELECT checked_from FROM meta;
  ALTER TABLE meta DROP COLUMN checked_from, DROP COLUMN head;
  ${sealedTables.map(table => `ALTER TABLE ${table} DROP COLUMN sum;`).join(' ')}
  ${postgresMigrations[4]?.sql}
  UPDATE block SET sum = NULL;
  UPDATE account_event SET sum = NULL;
  UPDATE meta SET checked_from = (SELECT checked_from FROM kept);
  DELETE FROM migration WHERE version = 6`

const sealRowOfStep6 = /CREATE OR REPLACE FUNCTION seal_row[\s\S]*?\n {6}\$\$/.exec(
  postgresMigrations[5]?.sql ?? ''
)?.[0]

/** Their columns are emptied first, so that the checksum of the row is that of before. */
const withoutLog = `SELECT set_config('${writingChain}', (SELECT chain_id FROM meta)::text, false);
  UPDATE meta SET changes_log = NULL, changes_from = NULL, changes_to = NULL;
  SELECT set_config('${writingChain}', '', false);
  ALTER TABLE meta DROP COLUMN changes_log, DROP COLUMN changes_from, DROP COLUMN changes_to;
  DROP TABLE change_log; DELETE FROM migration WHERE version = 7`

const withoutDirectory = `SELECT set_config('${writingChain}', (SELECT chain_id FROM meta)::text, false);
  UPDATE meta SET directory_from = NULL, directory_end = NULL;
  SELECT set_config('${writingChain}', '', false);
  ALTER TABLE meta DROP COLUMN directory_from, DROP COLUMN directory_end;
  DROP TABLE directory; DELETE FROM migration WHERE version = 8`

/** What takes each step back, the first one first. */
const undone = [
  (schema: string) => `DROP SCHEMA ${schema} CASCADE`,
  (schema: string) => `SET search_path = ${schema}; DROP TABLE account_event, tally;
    ALTER TABLE meta DROP COLUMN detailed_from, DROP COLUMN traced_from, DROP COLUMN tallied_from;
    DELETE FROM migration WHERE version = 2`,
  (schema: string) => `SET search_path = ${schema}; ALTER TABLE meta DROP COLUMN operations_from;
    ALTER TABLE writer_report DROP COLUMN head_seconds;
    DELETE FROM migration WHERE version = 3`,
  (schema: string) => `SET search_path = ${schema}; ALTER TABLE meta DROP COLUMN roots_from;
    DELETE FROM migration WHERE version = 4`,
  (schema: string) => `SET search_path = ${schema}; ${unsealed}`,
  (schema: string) => `SET search_path = ${schema}; ${sealedFreely}`,
  (schema: string) => `SET search_path = ${schema}; ${withoutLog}`,
  (schema: string) => `SET search_path = ${schema}; ${withoutDirectory}`,
  (schema: string) => `SET search_path = ${schema}; DROP FUNCTION require_term;
    ${sealRowOfStep6}; DELETE FROM migration WHERE version = 9`,
  (schema: string) => `SET search_path = ${schema}; DROP TABLE key_part;
    DELETE FROM migration WHERE version = 10`
]

async function undoSteps(url: string, chainId: number, version: number): Promise<void> {
  if (undone.length !== postgresMigrations.length)
    throw new Error('a step was added: say how it is taken back')
  const client = await connect(url, 'check')
  try {
    for (const undo of undone.slice(version).reverse()) await client.query(undo(chainSchema(chainId)))
  } finally {
    await client.end()
  }
}
