import { dumpPostgresStore } from '../../test/dumpPostgresStore.ts'
import { openOwnPostgresReader } from '../../test/openOwnPostgresReader.ts'
import { describeStore, type OpenStore, type StoredRow, testIdentity } from '../../test/store.contract.ts'
import { createTestDatabase } from '../../test/support/startPostgres.ts'
import { addressBytes } from '../record/hexBytes.ts'
import { toTransactionId } from '../record/transactionId.ts'
import { connect } from './driver.ts'
import { openPostgresWriter } from './openWriter.ts'
import { chainSchema } from './schema.ts'

/** Databases whose store was disposed of: making one takes longer than emptying one. */
const emptied: string[] = []

const openStore: OpenStore = async ({ epochTransactions, ...layout } = {}) => {
  const url = emptied.pop() ?? (await createTestDatabase())
  const opened: { close(): Promise<void> }[] = []
  const kept = <T extends { close(): Promise<void> }>(made: T): T => {
    opened.push(made)
    return made
  }
  // What an epoch is to SQLite, a partition is here.
  const partitions =
    epochTransactions === undefined
      ? {}
      : { smallestPartition: epochTransactions, largestPartition: epochTransactions }
  let isDisposed = false
  return {
    openWriter: async (identity = testIdentity) =>
      kept(await openPostgresWriter(url, identity, { lockWaitMs: 0, ...partitions, ...layout })),
    openReader: async () => kept(await openOwnPostgresReader([url], testIdentity.chainId)),
    dump: async () => (await dumpPostgresStore(url, testIdentity.chainId, { omit: ['holding'] })).text,
    loseRow: row => loseRow(url, row),
    dispose: async () => {
      if (isDisposed) return
      isDisposed = true
      for (const each of opened) await each.close()
      const client = await connect(url, 'check')
      await client.query(`DROP SCHEMA IF EXISTS ${chainSchema(testIdentity.chainId)} CASCADE`)
      await client.end()
      emptied.push(url)
    }
  }
}

async function loseRow(url: string, row: StoredRow): Promise<() => Promise<void>> {
  const table = `${chainSchema(testIdentity.chainId)}.${row.table}`
  const [where, values] = keyOf(row)
  const ask = async (sql: string, asked: readonly unknown[]) => {
    const client = await connect(url, 'check')
    try {
      return await client.query<{ row: unknown }>(sql, [...asked])
    } finally {
      await client.end()
    }
  }
  const { rows } = await ask(`SELECT to_json(lost) AS row FROM ${table} lost WHERE ${where}`, values)
  if (rows.length !== 1) throw new Error(`${rows.length} rows of ${table}, expected one`)
  await ask(`DELETE FROM ${table} WHERE ${where}`, values)
  return async () => {
    const lost = JSON.stringify(rows[0]?.row)
    await ask(`INSERT INTO ${table} SELECT * FROM json_populate_record(NULL::${table}, $1)`, [lost])
  }
}

function keyOf(row: StoredRow): readonly [where: string, values: readonly unknown[]] {
  if (row.table === 'block') return ['number = $1', [row.number]]
  const id = toTransactionId(row.position)
  if (row.table === 'tx') return ['id = $1', [id]]
  return ['tx_id = $1 AND address = $2', [id, addressBytes(row.address)]]
}

describeStore('postgres', openStore, 1 / 4)
