import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { availableSqliteDrivers } from '../test/availableSqliteDrivers.ts'
import { silentLog } from '../test/recordLog.ts'
import type { CacheLog } from './caches/CacheLog.ts'
import { describeDeepHistoryCache } from './caches/deepHistoryCache.contract.ts'
import type { DeepHistoryCache } from './model/deepHistory.ts'
import { type DeepHistoryCachesOptions, openDeepHistoryCaches } from './openCaches.ts'
import { loadSqliteDriver } from './sqlite/loadDriver.ts'

const folders: string[] = []
const opened: DeepHistoryCache[] = []
const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-deep-'))
  folders.push(folder)
  return folder
}
afterEach(async () => {
  for (const cache of opened.splice(0)) await cache.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const openOne = (folder: string, options: DeepHistoryCachesOptions) =>
  openDeepHistoryCaches({ kind: 'sqlite', folder }, options).ofChain(1)

for (const driver of availableSqliteDrivers()) {
  describeDeepHistoryCache(`sqlite over ${driver.name}`, async () => {
    const folder = makeFolder()
    let nowMs = 1_700_000_000_000
    let damages = 0
    return {
      open: async (bound = 1e9) => {
        const cache = openOne(folder, {
          ...{ bound, logger: silentLog, driver, now: () => nowMs, onDamage: () => damages++ }
        })
        opened.push(cache)
        return cache
      },
      changeByHand: async sql => {
        const file = driver.open(join(folder, 'evm-1.deep.sqlite'), { busyTimeoutMs: 1_000 })
        file.exec(sql)
        file.close()
      },
      damages: () => damages,
      advance: ms => {
        nowMs += ms
      },
      dispose: async () => {
        for (const cache of opened.splice(0)) await cache.close()
      }
    }
  })
}

const anchor = { number: 10, hash: `0x${'11'.repeat(32)}` } as const
const who = `0x${'22'.repeat(20)}` as const

describe('a deep history cache', () => {
  it('whose file cannot be used lives in memory, which is logged once', async () => {
    const folder = makeFolder()
    writeFileSync(join(folder, 'evm-1.deep.sqlite'), 'something else entirely '.repeat(200))
    const warnings: string[] = []
    const logger: CacheLog = { ...silentLog, warn: message => warnings.push(message) }
    const cache = openOne(folder, { bound: 1e9, logger })
    opened.push(cache)
    await cache.save(who, anchor, { from: 0, below: 10, candidates: [] })
    expect(await cache.known(who, anchor)).toEqual({ recordsFrom: 10, candidatesFrom: 0, gaps: [] })
    expect(warnings).toHaveLength(1)
  })

  it('removes an account that leaves with all its parts', async () => {
    const folder = makeFolder()
    let nowMs = 0
    const cache = openOne(folder, {
      bound: 1,
      logger: silentLog,
      now: () => nowMs++
    })
    opened.push(cache)
    const file = loadSqliteDriver().open(join(folder, 'evm-1.deep.sqlite'), { busyTimeoutMs: 100 })
    const count = () => file.prepare<{ n: number }>('SELECT count(*) AS n FROM part').get([])?.n
    const records = [{ id: 3, bytes: new Uint8Array(40) }]
    for (let below = 10; below > 0; below--)
      await cache.save(who, anchor, { from: below - 1, below, records, candidates: [] })
    expect(count()).toBe(20)
    await cache.save(`0x${'33'.repeat(20)}`, anchor, { from: 0, below: 10, records: [] })
    expect(count()).toBe(1)
    file.close()
  })
})
