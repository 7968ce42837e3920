import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe } from 'vitest'
import { describeAudit } from '../../test/audit.contract.ts'
import { availableSqliteDrivers } from '../../test/availableSqliteDrivers.ts'
import { describeBlocks } from '../../test/blocks.contract.ts'
import { dumpStore } from '../../test/dumpStore.ts'
import { describeHoldings } from '../../test/holdings.contract.ts'
import { loseSqliteRow } from '../../test/loseSqliteRow.ts'
import { describeRecount } from '../../test/recount.contract.ts'
import { describeReorgs } from '../../test/reorgs.contract.ts'
import { describeStore, type OpenStore, shareOfRuns, testIdentity } from '../../test/store.contract.ts'
import type { SqliteDriver } from './driver.ts'
import { loadSqliteDriver } from './loadDriver.ts'
import { openSqliteReader } from './openReader.ts'
import { openSqliteWriter } from './openWriter.ts'
import type { Layout } from './writer.ts'

function openStoreWith(driver: SqliteDriver, merging: Partial<Layout> = { mergeAfterMs: null }): OpenStore {
  return async (layout = {}) => {
    const folder = mkdtempSync(join(tmpdir(), 'chain-data-store-'))
    const opened: { close(): Promise<void> }[] = []
    const kept = <T extends { close(): Promise<void> }>(made: T): T => {
      opened.push(made)
      return made
    }
    return {
      openWriter: async (identity = testIdentity) =>
        kept(await openSqliteWriter(folder, identity, { driver, lockWaitMs: 0, ...merging, ...layout })),
      openReader: async () => kept(await openSqliteReader(folder, testIdentity.chainId, { driver })),
      dump: async () => dumpStore(folder, testIdentity.chainId, { driver, omit: ['epoch', 'holding'] }).text,
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
  describeStore(`sqlite over ${driver.name}`, openStoreWith(driver), 1, true)

// Every commit merges what it can, in pieces so small that most merges are never complete.
describe('store sqlite while epochs are merged all the time', () => {
  const merging = {
    mergeAfterMs: null,
    maxEpochs: 0,
    mergeFanOut: 2,
    mergeRows: 3,
    minUndoBlocks: 1
  }
  const open = openStoreWith(loadSqliteDriver(), merging)
  describe('blocks and history', () => describeBlocks(open, shareOfRuns()))
  describe('reorgs', () => describeReorgs(open, shareOfRuns()))
  describe('recount', () => describeRecount(open, shareOfRuns(), true))
  describe('audit', () => describeAudit(open))
  describe('holding candidates', () => describeHoldings(open, shareOfRuns()))
})
