import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openStoreReader } from '@chain-data/index'
import { startPostgres } from '@chain-data/index/test'
import pg from 'pg'
import { storeIdentity } from './ingestThread.ts'
import type { MeasuredStore } from './measureStore.ts'

export type Engine = 'sqlite' | 'postgres'
export const engines: readonly Engine[] = ['sqlite', 'postgres']

/** As durable as a database should be, and with a cache of its own far smaller than what it will hold. */
export const postgresSettings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  autovacuum: 'on',
  shared_buffers: '256MB',
  max_wal_size: '2GB'
}

/** An empty store of one engine. */
export function makeStore(engine: Engine): Promise<MeasuredStore> {
  return engine === 'sqlite' ? makeSqlite() : makePostgres()
}

async function makeSqlite(): Promise<MeasuredStore> {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-bench-store-'))
  const location = { kind: 'sqlite', folder } as const
  return {
    location,
    openReader: () => openStoreReader(location, storeIdentity.chainId),
    bytes: async () => {
      const files = readdirSync(folder).map(name => statSync(join(folder, name), { throwIfNoEntry: false }))
      return files.reduce((sum, file) => sum + (file?.size ?? 0), 0)
    },
    remove: async () => rmSync(folder, { recursive: true, force: true })
  }
}

async function makePostgres(): Promise<MeasuredStore> {
  const server = await startPostgres({ settings: postgresSettings })
  const url = await server.createDatabase()
  const location = { kind: 'postgres', url } as const
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return {
    location,
    openReader: () => openStoreReader(location, storeIdentity.chainId),
    bytes: async () => {
      const { rows } = await client.query<{ bytes: string }>(
        `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c
         JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind = 'r'`,
        [`chain_data_${storeIdentity.chainId}`]
      )
      return Number(rows[0]?.bytes ?? 0)
    },
    remove: async () => {
      await client.end()
      await server.stop()
    }
  }
}
