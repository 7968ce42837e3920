import type { Postgres } from '@chain-data/index/test'
import pg from 'pg'

/** A store or database of one run. */
export interface RunStore {
  readonly url: string
  /** Size of all that is stored, once the run is over. */
  bytes(): Promise<number> | number
  drop(): Promise<void> | void
}

/**
 * New, empty databases, one at a time.
 * @remarks `drop` leaves nothing behind that the server would tidy up while others are measured.
 */
export function createDatabases(postgres: Postgres): () => Promise<RunStore> {
  return async () => {
    const url = await postgres.createDatabase()
    const name = new URL(url).pathname.slice(1)
    return {
      url,
      bytes: async () => {
        const { rows } = await query(url, 'SELECT pg_database_size(current_database())::float8 AS bytes')
        return (rows[0] as { readonly bytes: number }).bytes
      },
      async drop() {
        const target = new URL(url)
        target.pathname = '/postgres'
        await query(target.href, `DROP DATABASE ${name} WITH (FORCE)`)
        await query(target.href, 'CHECKPOINT')
      }
    }
  }
}

async function query(connectionString: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return await client.query(text)
  } finally {
    await client.end()
  }
}
