import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { describeAudit } from '../../test/audit.contract.ts'
import { availableSqliteDrivers } from '../../test/availableSqliteDrivers.ts'
import { describeBlocks } from '../../test/blocks.contract.ts'
import { describeDamage } from '../../test/damage.contract.ts'
import { dumpStore } from '../../test/dumpStore.ts'
import { describeHoldings } from '../../test/holdings.contract.ts'
import { loseSqliteRow } from '../../test/loseSqliteRow.ts'
import { describeReorgs } from '../../test/reorgs.contract.ts'
import { openSqliteByHand } from '../../test/sqliteByHand.ts'
import {
  type DamageableStore,
  describeStore,
  type OpenStore,
  shareOfRuns,
  testIdentity
} from '../../test/store.contract.ts'
import type { SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter, type SqliteWriterOptions } from './openWriter.ts'

function openStoreWith(driver: SqliteDriver, merging: SqliteWriterOptions = {}): OpenStore<DamageableStore> {
  return async (layout = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'chain-data-store-'))
    const opened: { close(): Promise<void> }[] = []
    const kept = <T extends { close(): Promise<void> }>(made: T): T => {
      opened.push(made)
      return made
    }
    const options = { driver, lockWaitMs: 0, mergeAfterMs: null, ...merging, ...layout }
    const { run, chunks, loseChunk, putChunk } = openSqliteByHand(folder, testIdentity.chainId, driver)
    return {
      ...{ run, chunks, loseChunk, putChunk },
      openWriter: async (identity = testIdentity) => kept(await openSqliteWriter(folder, identity, options)),
      openReader: async () => kept(await openSqliteReader(folder, testIdentity.chainId, { driver })),
      dump: async () => dumpStore(folder, testIdentity.chainId, { driver }).text,
      loseRow: async row => {
        const putBack = loseSqliteRow(folder, testIdentity.chainId, row, driver)
        return async () => putBack()
      },
      dispose: async () => {
        for (const each of opened.splice(0)) await each.close()
        rmSync(folder, { recursive: true, force: true })
      }
    }
  }
}

for (const driver of availableSqliteDrivers())
  describeStore(`sqlite over ${driver.name}`, openStoreWith(driver))

// Every commit merges what it can, in pieces so small that most merges are never complete.
describe('store sqlite while runs are merged all the time', () => {
  const merging = { maxRuns: 0, mergeFactor: 2, unmergedBlocks: 0, pieceRows: 3 }
  const open = openStoreWith(loadSqliteDriver(), merging)
  describe('blocks and history', () => describeBlocks(open, shareOfRuns()))
  describe('reorgs', () => describeReorgs(open, shareOfRuns()))
  describe('audit', () => describeAudit(open))
  describe('damage', () => describeDamage(open, shareOfRuns()))
  describe('holding candidates', () => describeHoldings(open, shareOfRuns()))
})
