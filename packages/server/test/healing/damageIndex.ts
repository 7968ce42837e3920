import type { StoreLocation } from '../../src/index/parseStoreUrl.ts'
import { connect } from '../../src/index/postgres/driver.ts'
import { chainSchema } from '../../src/index/postgres/schema.ts'
import { loadSqliteDriver } from '../../src/index/sqlite/loadDriver.ts'
import { chainFiles } from '../../src/index/sqlite/open.ts'

const chainId = 31_337

/** Changes the index past its writer, by one statement of SQL. */
export async function damageIndex(location: StoreLocation, sql: string): Promise<void> {
  if (location.kind === 'postgres') {
    const client = await connect(location.url, 'check')
    try {
      await client.query(`SET search_path TO ${chainSchema(chainId)}; ${sql}`)
    } finally {
      await client.end()
    }
    return
  }
  const connection = loadSqliteDriver().open(chainFiles(location.folder, chainId).database, {
    busyTimeoutMs: 5000
  })
  try {
    connection.exec(sql)
  } finally {
    connection.close()
  }
}
