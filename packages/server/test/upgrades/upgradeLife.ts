/**
 * A program of its own: opens a writer, which upgrades the store, and writes the blocks of the older version anew; it is killed in
 * the middle of that. Arguments: the store's location as JSON, and before which step it dies: of SQLite a writing statement
 * inside a transaction, of PostgreSQL a piece that is sent to the server. Prints `opened` once the store has today's schema,
 * and `rewritten` when it has survived.
 */
import { writeSync } from 'node:fs'
import type { StoreLocation } from '../../src/index/parseStoreUrl.ts'
import type { StoreWriter } from '../../src/index/port/writer.ts'
import { openPostgresWriter } from '../../src/index/postgres/openWriter.ts'
import { loadSqliteDriver } from '../../src/index/sqlite/loadDriver.ts'
import { openSqliteWriter } from '../../src/index/sqlite/openWriter.ts'
import { mortalDriver } from '../chaos/mortalDriver.ts'
import { startDatabaseDoor } from '../support/startDatabaseDoor.ts'
import { identity, rewriteOldBlocks } from './upgradedChain.ts'

const store = JSON.parse(process.argv[2] ?? '{}') as StoreLocation
let left = Number(process.argv[3])

function step(): void {
  if (--left === 0) process.kill(process.pid, 'SIGKILL')
}

async function open(): Promise<StoreWriter> {
  if (store.kind === 'sqlite') {
    return openSqliteWriter(store.folder, identity, { driver: mortalDriver(loadSqliteDriver(), step) })
  }
  const door = await startDatabaseDoor(store.url, () => {
    step()
    return 'pass'
  })
  return openPostgresWriter(door.url, identity, { lockWaitMs: 20_000 })
}

const writer = await open()
writeSync(1, 'opened\n')
await rewriteOldBlocks(writer)
writeSync(1, 'rewritten\n')
process.exit()
