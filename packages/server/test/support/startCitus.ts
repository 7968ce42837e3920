import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { findPostgres } from './findPostgres.ts'
import { type Postgres, queryOnce, type StartPostgresOptions, startPostgres } from './startPostgres.ts'

/** A coordinator, with the machines that have the chains. Citus puts each schema that is made on one of them. */
export interface Citus extends Postgres {
  readonly workers: readonly Postgres[]
}

/** Reports whether the PostgreSQL that tests use has the library of Citus. */
export function hasCitus(): boolean {
  return existsSync(join(dirname(findPostgres().postgres), '..', 'lib', 'citus.so'))
}

/** Starts a coordinator and two workers, which know each other by the folders of their sockets. */
export async function startCitus(options: StartPostgresOptions = {}): Promise<Citus> {
  const settings = {
    ...options.settings,
    shared_preload_libraries: 'citus',
    max_prepared_transactions: '100',
    // A schema is moved by logical replication.
    wal_level: 'logical',
    // Once a minute would be a minute for each test in which a node ends between the two steps of a commit.
    'citus.recover_2pc_interval': '1s'
  }
  const [coordinator, ...workers] = await Promise.all([
    startPostgres({ ...options, settings }),
    startPostgres({ ...options, settings }),
    startPostgres({ ...options, settings })
  ])
  const nodeOf = ({ socketFolder }: Postgres) => `'${socketFolder}', 5432`
  return {
    ...coordinator,
    workers,
    async createDatabase() {
      const [url, ...others] = await Promise.all(
        [coordinator, ...workers].map(async node => {
          const made = await node.createDatabase()
          await queryOnce(
            made,
            'CREATE EXTENSION citus',
            `ALTER SYSTEM SET citus.local_hostname = '${node.socketFolder}'`,
            'SELECT pg_reload_conf()'
          )
          return made
        })
      )
      if (url === undefined || others.length !== workers.length) throw new Error('no database was made')
      await queryOnce(
        url,
        `SELECT citus_set_coordinator_host(${nodeOf(coordinator)})`,
        ...workers.map(worker => `SELECT citus_add_node(${nodeOf(worker)})`),
        `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET citus.enable_schema_based_sharding = on`
      )
      return url
    },
    async stop() {
      for (const node of [coordinator, ...workers]) await node.stop()
    }
  }
}
