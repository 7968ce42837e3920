import { chainFiles, loadSqliteDriver, type StoreLocation } from '@chain-data/index'
import { chainSchema, connectPostgres as connect } from '@chain-data/index/test'

const chainId = 31337

/** Tables of which a certificate tells when a row is lost. */
export type AuditedTable = 'address_tx' | 'tx' | 'tx_hash' | 'block' | 'account_event' | 'holding'

/** A row as the engine has it: byte columns as hex without 0x, numbers as numbers. */
export type StoredRow = Readonly<Record<string, string | number>>

/** The rows of one index, past its writer. */
export interface StoredRows {
  /** Absent tables have none. */
  list(table: AuditedTable): Promise<readonly StoredRow[]>
  /** @returns puts it back. */
  lose(table: AuditedTable, row: StoredRow): Promise<() => Promise<void>>
  /** Gives some of its columns other values. */
  change(table: AuditedTable, row: StoredRow, values: StoredRow): Promise<void>
}

export function openStoredRows(location: StoreLocation): StoredRows {
  return location.kind === 'sqlite' ? sqliteRows(location.folder) : postgresRows(location.url)
}

/** Epochs that nobody reads do not count. */
const sqliteScope: Partial<Record<AuditedTable, string>> = {
  address_tx: 'WHERE epoch IN (SELECT id FROM epoch)',
  tx_hash: 'WHERE epoch IN (SELECT id FROM epoch)',
  holding: 'WHERE epoch IN (SELECT id FROM holding_epoch)'
}

function sqliteRows(folder: string): StoredRows {
  function run<T>(work: (connection: ReturnType<ReturnType<typeof loadSqliteDriver>['open']>) => T): T {
    const connection = loadSqliteDriver().open(chainFiles(folder, chainId).database, { busyTimeoutMs: 5000 })
    try {
      return work(connection)
    } finally {
      connection.close()
    }
  }
  return {
    async change(table, row, values) {
      const { text, values: all } = changeOf(row, values, () => '?')
      run(connection => connection.prepare(`UPDATE ${table} ${text}`).run(all))
    },
    async list(table) {
      const rows = run(connection =>
        connection.prepare(`SELECT * FROM ${table} ${sqliteScope[table] ?? ''}`).all([])
      )
      return rows.map(row => toRow(row))
    },
    async lose(table, row) {
      const names = Object.keys(row)
      const values = Object.values(row).map(toValue)
      const where = names.map(name => `${name} = ?`).join(' AND ')
      run(connection => connection.prepare(`DELETE FROM ${table} WHERE ${where}`).run(values))
      return async () => {
        const places = names.map(() => '?').join(', ')
        run(connection =>
          connection.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${places})`).run(values)
        )
      }
    }
  }
}

function postgresRows(url: string): StoredRows {
  async function ask(sql: string, values: unknown[] = []) {
    const client = await connect(url, 'check')
    try {
      // A damaged disk asks no trigger for a new checksum.
      await client.query('SET session_replication_role = replica')
      return (await client.query(sql, values)).rows as Record<string, unknown>[]
    } finally {
      await client.end()
    }
  }
  const tableOf = (table: AuditedTable) => `${chainSchema(chainId)}.${table}`
  return {
    async change(table, row, values) {
      const { text, values: all } = changeOf(row, values, place => `$${place}`)
      await ask(`UPDATE ${tableOf(table)} ${text}`, all)
    },
    // Hashes are found in the records themselves there.
    list: async table =>
      table === 'tx_hash' ? [] : (await ask(`SELECT * FROM ${tableOf(table)}`)).map(toRow),
    async lose(table, row) {
      const names = Object.keys(row)
      const values = Object.values(row).map(toValue)
      const where = names.map((name, place) => `${name} = $${place + 1}`).join(' AND ')
      await ask(`DELETE FROM ${tableOf(table)} WHERE ${where}`, values)
      return async () => {
        const places = names.map((_, place) => `$${place + 1}`).join(', ')
        await ask(`INSERT INTO ${tableOf(table)} (${names.join(', ')}) VALUES (${places})`, values)
      }
    }
  }
}

const toValue = (value: string | number) => (typeof value === 'string' ? Buffer.from(value, 'hex') : value)

function changeOf(row: StoredRow, changes: StoredRow, place: (number: number) => string) {
  const [set, where] = [Object.keys(changes), Object.keys(row)]
  const name = (column: string, index: number) => `${column} = ${place(index + 1)}`
  return {
    text: `SET ${set.map(name).join(', ')} WHERE ${where.map((column, index) => name(column, set.length + index)).join(' AND ')}`,
    values: [...Object.values(changes), ...Object.values(row)].map(toValue)
  }
}

function toRow(row: Readonly<Record<string, unknown>>): StoredRow {
  return Object.fromEntries(
    Object.entries(row)
      .filter(([, value]) => value !== null)
      .map(([name, value]) => [
        name,
        value instanceof Uint8Array ? Buffer.from(value).toString('hex') : Number(value)
      ])
  )
}
