import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { availableSqliteDrivers } from '../test/availableSqliteDrivers.ts'
import { failingDriver } from '../test/failingDriver.ts'
import { silentLog } from '../test/recordLog.ts'
import type { CacheLog } from './caches/CacheLog.ts'
import { describeMetadataCache } from './caches/metadataCache.contract.ts'
import type { MetadataCache } from './model/metadata.ts'
import { openMetadataCache } from './openCaches.ts'
import type { SqliteDriver } from './sqlite/driver.ts'
import { loadSqliteDriver } from './sqlite/loadDriver.ts'

const folders: string[] = []
const makeFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-metadata-'))
  folders.push(folder)
  return folder
}
const opened: MetadataCache[] = []
afterEach(async () => {
  for (const cache of opened.splice(0)) await cache.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function describeDriver(driver: SqliteDriver): void {
  describeMetadataCache(`sqlite over ${driver.name}`, async () => {
    const folder = makeFolder()
    let nowMs = 1_700_000_000_000
    let damages = 0
    return {
      open: async ({ content = 1e9, url = 1e9 } = {}) => {
        const bounds = { content, url }
        const cache = openMetadataCache(
          { kind: 'sqlite', folder },
          {
            bounds,
            logger: silentLog,
            driver,
            now: () => nowMs,
            onDamage: () => damages++
          }
        )
        opened.push(cache)
        return cache
      },
      changeByHand: async sql => {
        const file = driver.open(join(folder, 'metadata.sqlite'), { busyTimeoutMs: 1_000 })
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

for (const driver of availableSqliteDrivers()) describeDriver(driver)

describe('a metadata cache in trouble', () => {
  const bounds = { content: 1e9, url: 1e9 }
  const document = { body: new Uint8Array(Buffer.from('{}')), fetchedAtMs: 1, isProven: false }

  function open(folder: string, options: { driver?: SqliteDriver; now?: () => number } = {}) {
    const warnings: string[] = []
    const logger: CacheLog = { ...silentLog, warn: message => warnings.push(message) }
    const cache = openMetadataCache({ kind: 'sqlite', folder }, { bounds, logger, ...options })
    opened.push(cache)
    return { cache, warnings }
  }

  async function expectNothing(cache: MetadataCache): Promise<void> {
    cache.saveDocument('url', 'a', document)
    expect(cache.isWorking()).toBe(false)
    expect(await cache.read(['a'])).toEqual(new Map())
    await cache.close()
  }

  it.each([
    ['is no database', Buffer.from('something else entirely, and long enough to be a header '.repeat(100))],
    ['is cut off', undefined]
  ])('whose file %s is not used, which is logged once', async (_what, content) => {
    const folder = makeFolder()
    if (content === undefined) {
      const { cache } = open(folder)
      for (let i = 0; i < 500; i++) cache.saveDocument('url', String(i), document)
      await cache.close()
      const whole = readFileSync(join(folder, 'metadata.sqlite'))
      writeFileSync(join(folder, 'metadata.sqlite'), whole.subarray(0, 5_000))
    } else {
      writeFileSync(join(folder, 'metadata.sqlite'), content)
    }
    const { cache, warnings } = open(folder)
    for (let i = 0; i < 500; i++) await cache.read([String(i)])
    expect(warnings).toHaveLength(1)
    await expectNothing(cache)
    expect(warnings).toHaveLength(1)
  })

  it('whose folder is missing, or whose format is another one, is not used', async () => {
    const missing = open(join(makeFolder(), 'missing'))
    expect(missing.warnings).toHaveLength(1)
    await expectNothing(missing.cache)
    const folder = makeFolder()
    await open(folder).cache.close()
    const connection = loadSqliteDriver().open(join(folder, 'metadata.sqlite'), { busyTimeoutMs: 100 })
    connection.exec('PRAGMA user_version = 7')
    connection.close()
    const other = open(folder)
    expect(other.warnings).toHaveLength(1)
    await expectNothing(other.cache)
  })

  it('is given up after a failed write, which is logged once', async () => {
    const { driver, failAt } = failingDriver(loadSqliteDriver())
    const { cache, warnings } = open(makeFolder(), { driver })
    failAt(2)
    cache.saveDocument('url', 'a', document)
    await vi.waitFor(() => expect(cache.isWorking()).toBe(false), { timeout: patient(10_000) })
    await expectNothing(cache)
    expect(warnings).toEqual(['the metadata cache has failed; metadata is kept in memory'])
  })

  it('that has far more than a lowered bound allows is closed without waiting for all of it to leave', async () => {
    const folder = makeFolder()
    const { cache } = open(folder)
    for (let i = 0; i < 2_000; i++) cache.saveDocument('url', String(i), document)
    await cache.close()
    const lowered = openMetadataCache(
      { kind: 'sqlite', folder },
      { bounds: { content: 1, url: 1 }, logger: silentLog }
    )
    opened.push(lowered)
    lowered.saveDocument('url', 'another', document)
    await lowered.close()
    const left = await open(folder).cache.read(Array.from({ length: 2_000 }, (_, i) => String(i)))
    expect(left.size).toBeGreaterThan(1_500)
    expect(left.size).toBeLessThan(2_000)
  })

  it('locked by another process, gives what it has not stored yet and stores it afterwards', async () => {
    const folder = makeFolder()
    let nowMs = 0
    const { cache, warnings } = open(folder, { now: () => nowMs })
    const other = loadSqliteDriver().open(join(folder, 'metadata.sqlite'), { busyTimeoutMs: 1_000 })
    other.exec('BEGIN IMMEDIATE')
    cache.saveDocument('url', 'a', document)
    await vi.waitFor(() => expect(warnings).toHaveLength(1), { timeout: patient(10_000) })
    cache.saveDocument('url', 'b', document)
    expect([...(await cache.read(['a', 'b'])).keys()]).toEqual(['a', 'b'])
    other.exec('ROLLBACK')
    other.close()
    nowMs += 5_000
    await cache.close()
    expect(warnings).toHaveLength(1)
    expect([...(await open(folder).cache.read(['a', 'b'])).keys()]).toEqual(['a', 'b'])
  })
})
