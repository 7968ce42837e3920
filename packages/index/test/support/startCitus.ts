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
  const nodes: readonly Postgres[] = [coordinator, ...workers]
  const createOnEach = (template?: string) => Promise.all(nodes.map(node => node.createDatabase(template)))
  const template = nameOf(await makeCluster(await createOnEach(), nodes))
  return {
    ...coordinator,
    workers,
    async createDatabase() {
      const [url = ''] = await createOnEach(template)
      await queryOnce(url, `ALTER DATABASE ${nameOf(url)} SET citus.enable_schema_based_sharding = on`)
      return url
    },
    async stop() {
      for (const node of nodes) await node.stop()
    }
  }
}

const nameOf = (url: string) => new URL(url).pathname.slice(1)

/**
 * Makes one cluster of Citus of databases of the same name, the coordinator's first, to which nobody can connect afterwards: copies
 * of them are one too. To make the extension takes a second on each machine.
 */
async function makeCluster(urls: readonly string[], nodes: readonly Postgres[]): Promise<string> {
  const [url = ''] = urls
  for (const [at, { socketFolder }] of nodes.entries()) {
    await queryOnce(
      urls[at] ?? '',
      'CREATE EXTENSION citus',
      `ALTER SYSTEM SET citus.local_hostname = '${socketFolder}'`,
      'SELECT pg_reload_conf()'
    )
  }
  const [coordinator, ...workers] = nodes.map(({ socketFolder }) => `'${socketFolder}', 5432`)
  await queryOnce(
    url,
    `SELECT citus_set_coordinator_host(${coordinator})`,
    ...workers.map(worker => `SELECT citus_add_node(${worker})`)
  )
  for (const { urlOfSame } of nodes) {
    await queryOnce(
      urlOfSame(url).replace(/\/[^/?]+\?/, '/postgres?'),
      `ALTER DATABASE ${nameOf(url)} ALLOW_CONNECTIONS false`,
      `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`
    )
  }
  return url
}
