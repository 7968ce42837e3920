import type { StoreLocation } from '@chain-data/index'
import { chainFiles, chainSchema, connectPostgres as connect, loadSqliteDriver } from '@chain-data/index/test'

const chainId = 31337

/** Tables of which a certificate tells when a row is lost. */
export type AuditedTable = 'tx' | 'block' | 'block_extra' | 'chunk'

/** A row as the engine has it: byte columns as hex without 0x, numbers as numbers. */
export type StoredRow = Readonly<Record<string, string | number>>

/** Numbers of the sections of runs that are asked for an account, or a hash. */
export const sections = { address: 0, hash: 1, token: 2, event: 4 } as const

/** The rows of one index, past its writer. */
export interface StoredRows {
  list(table: Exclude<AuditedTable, 'chunk'>): Promise<readonly StoredRow[]>
  /** The chunks, of all runs, that hold the rows of a key that begins like this, or would hold them. */
  chunksOf(section: keyof typeof sections, key: string): Promise<readonly StoredRow[]>
  /** @returns puts it back. */
  lose(table: AuditedTable, row: StoredRow): Promise<() => Promise<void>>
  /** Gives some of its columns other values. */
  change(table: AuditedTable, row: StoredRow, values: StoredRow): Promise<void>
}

/** Runs a statement with `?` for its values. */
type Ask = (sql: string, values?: readonly (Buffer | number)[]) => Promise<readonly StoredRow[]>

export function openStoredRows(location: StoreLocation): StoredRows {
  return location.kind === 'sqlite'
    ? storedRows(askSqlite(location.folder), 'SELECT chunk.* FROM chunk JOIN chunk_bound ON chunk = id')
    : storedRows(askPostgres(location.url), 'SELECT * FROM chunk')
}

function storedRows(ask: Ask, selectChunks: string): StoredRows {
  return {
    list: table => ask(`SELECT * FROM ${table}`),
    async chunksOf(section, key) {
      const chunks = await ask(`${selectChunks} WHERE section = ?`, [sections[section]])
      return chunks.filter(({ bytes }) => mayHold(Buffer.from(String(bytes), 'hex'), key))
    },
    async lose(table, row) {
      const [names, values] = [Object.keys(row), Object.values(row).map(toValue)]
      await ask(`DELETE FROM ${table} WHERE ${names.map(name => `${name} = ?`).join(' AND ')}`, values)
      return async () => {
        await ask(`INSERT INTO ${table} (${names}) VALUES (${names.map(() => '?')})`, values)
      }
    },
    async change(table, row, changes) {
      const [set, where] = [changes, row].map(part => Object.keys(part).map(name => `${name} = ?`))
      const values = [...Object.values(changes), ...Object.values(row)].map(toValue)
      await ask(`UPDATE ${table} SET ${set} WHERE ${where?.join(' AND ')}`, values)
    }
  }
}

/** A chunk begins with its lower and its upper bound, each after its length. */
function mayHold(bytes: Buffer, key: string): boolean {
  const lowerEnd = 1 + (bytes[0] ?? 0)
  const lower = bytes.toString('hex', 1, lowerEnd)
  const upper = bytes.toString('hex', lowerEnd + 1, lowerEnd + 1 + (bytes[lowerEnd] ?? 0))
  return (lower <= key || lower.startsWith(key)) && (upper === '' || key < upper)
}

function askSqlite(folder: string): Ask {
  return async (sql, values = []) => {
    const connection = loadSqliteDriver().open(chainFiles(folder, chainId).database, { busyTimeoutMs: 5000 })
    try {
      const statement = connection.prepare(sql)
      if (sql.startsWith('SELECT')) return statement.all([...values]).map(toRow)
      statement.run([...values])
      return []
    } finally {
      connection.close()
    }
  }
}

function askPostgres(url: string): Ask {
  return async (sql, values = []) => {
    const client = await connect(url, 'check')
    try {
      await client.query(`SET search_path TO ${chainSchema(chainId)}`)
      let place = 0
      const text = sql.replaceAll('?', () => `$${++place}`)
      return ((await client.query(text, [...values])).rows as Record<string, unknown>[]).map(toRow)
    } finally {
      await client.end()
    }
  }
}

const toValue = (value: string | number) => (typeof value === 'string' ? Buffer.from(value, 'hex') : value)

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
