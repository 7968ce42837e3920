import pg from 'pg'
import type { Postgres } from '../../test/support/startPostgres.ts'

/** A store or database of one run. */
export interface RunStore {
  readonly url: string
  drop(): Promise<void> | void
}

/**
 * New, empty databases, one at a time.
 * @remarks `drop` leaves nothing behind that the server would tidy up while others are measured.
 */
export function createDatabases(postgres: Postgres): () => Promise<RunStore> {
  return async () => {
    const url = await postgres.createDatabase()
    return {
      url,
      async drop() {
        const target = new URL(url)
        const name = target.pathname.slice(1)
        target.pathname = '/postgres'
        const client = new pg.Client({ connectionString: target.href })
        await client.connect()
        try {
          await client.query(`DROP DATABASE ${name} WITH (FORCE)`)
          await client.query('CHECKPOINT')
        } finally {
          await client.end()
        }
      }
    }
  }
}
