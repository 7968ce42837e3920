import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeStore, type OpenStore, testIdentity } from '../store.contract.ts'
import { dumpStore } from '../test/dumpStore.ts'
import type { SqliteDriver } from './driver.ts'
import { availableSqliteDrivers } from './loadSqliteDriver.ts'
import { openSqliteReader } from './openSqliteReader.ts'
import { openSqliteWriter } from './openSqliteWriter.ts'

function openStoreWith(driver: SqliteDriver): OpenStore {
  return async (layout = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'chain-data-store-'))
    const opened: { close(): Promise<void> }[] = []
    const kept = <T extends { close(): Promise<void> }>(made: T): T => {
      opened.push(made)
      return made
    }
    return {
      openWriter: async (identity = testIdentity) =>
        kept(await openSqliteWriter(folder, identity, { driver, lockWaitMs: 0, ...layout })),
      openReader: async () => kept(await openSqliteReader(folder, testIdentity.chainId, { driver })),
      dump: async () => dumpStore(folder, testIdentity.chainId, { driver, omit: ['holding'] }).text,
      dispose: async () => {
        for (const each of opened.splice(0)) await each.close()
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
}

for (const driver of availableSqliteDrivers())
  describeStore(`sqlite over ${driver.name}`, openStoreWith(driver))
