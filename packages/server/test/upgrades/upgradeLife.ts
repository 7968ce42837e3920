/**
 * A program of its own: opens a writer, which upgrades the store, and is killed in the middle of that. Arguments: the store's
 * location and the chain's identity as JSON, and before which step it dies: of SQLite a writing statement inside a
 * transaction, of PostgreSQL a piece that is sent to the server. Prints `opened` when it has survived.
 */
import { writeSync } from 'node:fs'
import type { StoreLocation } from '../../src/index/parseStoreUrl.ts'
import type { ChainIdentity } from '../../src/index/port/status.ts'
import { openPostgresWriter } from '../../src/index/postgres/openWriter.ts'
import { loadSqliteDriver } from '../../src/index/sqlite/loadDriver.ts'
import { openSqliteWriter } from '../../src/index/sqlite/openWriter.ts'
import { mortalDriver } from '../chaos/mortalDriver.ts'
import { startDatabaseDoor } from '../support/startDatabaseDoor.ts'

const store = JSON.parse(process.argv[2] ?? '{}') as StoreLocation
const identity = JSON.parse(process.argv[3] ?? '{}') as ChainIdentity
let left = Number(process.argv[4])

function step(): void {
  if (--left === 0) process.kill(process.pid, 'SIGKILL')
}

if (store.kind === 'sqlite') {
  await openSqliteWriter(store.folder, identity, { driver: mortalDriver(loadSqliteDriver(), step) })
} else {
  const door = await startDatabaseDoor(store.url, () => {
    step()
    return 'pass'
  })
  await openPostgresWriter(door.url, identity, { lockWaitMs: 20_000 })
}
writeSync(1, 'opened\n')
process.exit()
