import type { StoreLocation } from '@chain-data/index'
import {
  chainFiles,
  chainSchema,
  connectPostgres as connect,
  loadSqliteDriver,
  type SqliteConnection
} from '@chain-data/index/test'

const chainId = 31_337

/** Changes the index past its writer, by one statement of SQL: checksums stay as they are. */
export async function damageIndex(location: StoreLocation, sql: string): Promise<void> {
  if (location.kind === 'postgres') {
    await askPostgres(location.url, sql)
    return
  }
  onFile(location.folder, connection => connection.exec(sql))
}

/** Returns the column `n` of what a statement selects. */
export async function countRows(location: StoreLocation, sql: string): Promise<number> {
  if (location.kind === 'sqlite') {
    return onFile(location.folder, connection => connection.prepare<{ n: number }>(sql).get([])?.n ?? 0)
  }
  return Number((await askPostgres(location.url, sql))[0]?.n)
}

function onFile<T>(folder: string, work: (connection: SqliteConnection) => T): T {
  const connection = loadSqliteDriver().open(chainFiles(folder, chainId).database, { busyTimeoutMs: 5000 })
  try {
    return work(connection)
  } finally {
    connection.close()
  }
}

async function askPostgres(url: string, sql: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
  const client = await connect(url, 'check')
  try {
    await client.query(`SET search_path TO ${chainSchema(chainId)}`)
    const results: unknown = await client.query(sql)
    const [last] = [results].flat().slice(-1) as { rows: Record<string, unknown>[] }[]
    return last?.rows ?? []
  } finally {
    await client.end()
  }
}
