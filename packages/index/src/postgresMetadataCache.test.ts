import { afterEach, describe, expect, it, vi } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { recordLog, silentLog } from '../test/recordLog.ts'
import { createTestDatabase, type Postgres, queryOnce, startPostgres } from '../test/support/startPostgres.ts'
import { describeMetadataCache } from './caches/metadataCache.contract.ts'
import type { MetadataCache } from './model/metadata.ts'
import { openMetadataCache } from './openCaches.ts'

const opened: MetadataCache[] = []
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cache of opened.splice(0)) await cache.close()
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

let lines: Record<string, unknown>[] = []
function open(url: string, options: { bytes?: number; now?: () => number } = {}) {
  lines = []
  const cache = openMetadataCache(
    { kind: 'postgres', url },
    {
      bounds: { content: options.bytes ?? 1e9, url: options.bytes ?? 1e9 },
      logger: recordLog(line => lines.push(JSON.parse(line))),
      ...(options.now === undefined ? {} : { now: options.now })
    }
  )
  opened.push(cache)
  return cache
}

describeMetadataCache('postgres', async () => {
  const url = await createTestDatabase()
  let nowMs = 1_700_000_000_000
  let damages = 0
  return {
    open: async ({ content = 1e9, url: urlBytes = 1e9 } = {}) => {
      const cache = openMetadataCache(
        { kind: 'postgres', url },
        {
          bounds: { content, url: urlBytes },
          logger: silentLog,
          now: () => nowMs,
          onDamage: () => damages++
        }
      )
      opened.push(cache)
      return cache
    },
    changeByHand: async sql => {
      await queryOnce(url, `SET search_path = chain_data_metadata; ${sql}`)
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

const document = { body: new Uint8Array(Buffer.from('{"n":1}')), fetchedAtMs: 1, isProven: true }
const keysOf = async (cache: MetadataCache, ...keys: string[]) => [...(await cache.read(keys)).keys()]

describe('a metadata cache in PostgreSQL', () => {
  it('counts what it holds exactly, also when servers save the same and other documents at once', async () => {
    const url = await createTestDatabase()
    const caches = [open(url, { bytes: 40_000 }), open(url, { bytes: 40_000 }), open(url, { bytes: 40_000 })]
    for (let i = 0; i < 200; i++) {
      for (const [place, cache] of caches.entries()) {
        const body = new Uint8Array(Buffer.from(`{"from":${place},"x":"${'x'.repeat((i * 37) % 900)}"}`))
        cache.saveDocument(i % 2 ? 'url' : 'content', `shared ${(i * (place + 1)) % 200}`, {
          ...document,
          body
        })
        cache.saveFailure('url', `failure ${place} ${i % 50}`, { count: i, atMs: i })
      }
    }
    await Promise.all(caches.map(cache => cache.close()))
    const sums = await queryOnce(
      url,
      `SELECT u.space, u.weight::int, coalesce(sum(d.weight), 0)::int AS sum FROM chain_data_metadata.usage u
       LEFT JOIN chain_data_metadata.entry d USING (space) GROUP BY u.space, u.weight ORDER BY u.space`
    )
    expect(sums).toHaveLength(2)
    for (const { weight, sum } of sums) {
      expect(weight).toBe(sum)
      expect(Number(sum)).toBeGreaterThan(10_000)
      expect(Number(sum)).toBeLessThanOrEqual(40_000)
    }
    expect(lines).toEqual([])
  })

  it('is given up where the database refuses, without a word of its URL, and others go on', async () => {
    const url = await createTestDatabase()
    await queryOnce(
      url,
      "CREATE ROLE reader LOGIN PASSWORD 'hunter2'",
      `REVOKE CREATE ON DATABASE ${new URL(url).pathname.slice(1)} FROM PUBLIC`
    ).finally(() => cleanUps.push(() => queryOnce(url, 'DROP ROLE reader')))
    const refused = open(url.replace('postgres@', 'reader:hunter2@'))
    refused.saveDocument('url', 'a', document)
    expect(await keysOf(refused, 'a')).toEqual([])
    expect(refused.isWorking()).toBe(false)
    expect(lines.map(({ msg }) => msg)).toEqual(['the metadata cache has failed; metadata is kept in memory'])
    expect(JSON.stringify(lines)).toContain('expected the right CREATE on the database')
    expect(JSON.stringify(lines)).not.toContain('hunter2')
  })

  it('of another build is not used, and the log says what to do', async () => {
    const url = await createTestDatabase()
    const first = open(url)
    first.saveDocument('url', 'a', document)
    await first.close()
    await queryOnce(url, 'UPDATE chain_data_metadata.store_format SET format = 7')
    const cache = open(url)
    expect(await keysOf(cache, 'a')).toEqual([])
    expect(cache.isWorking()).toBe(false)
    expect(JSON.stringify(lines)).toMatch(
      /the cache chain_data_metadata was written by another build: its format is 7.*Delete it/
    )
  })
})

describe('a metadata cache whose database goes away', () => {
  async function start(): Promise<Postgres> {
    const server = await startPostgres()
    cleanUps.push(() => server.stop())
    return server
  }

  it('gives what it has not stored yet, asks again after a while, and stores it then', async () => {
    const url = await (await start()).createDatabase()
    let nowMs = 0
    const cache = open(url, { now: () => nowMs })
    cache.saveDocument('url', 'kept', document)
    await vi.waitFor(async () => {
      const [row] = await queryOnce(url, "SELECT to_regclass('chain_data_metadata.entry') IS NOT NULL AS is")
      const rows = row?.is ? await queryOnce(url, 'SELECT FROM chain_data_metadata.entry') : []
      expect(rows).toHaveLength(1)
    }, patient(10_000))
    const away = async (refuse: boolean) => {
      const name = new URL(url).pathname.slice(1)
      const other = url.replace(`/${name}`, '/postgres')
      await queryOnce(other, `ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS ${!refuse}`)
      await queryOnce(
        other,
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}' AND pid <> pg_backend_pid()`
      )
    }
    await away(true)
    cache.saveDocument('url', 'later', document)
    expect(await keysOf(cache, 'kept', 'later')).toEqual(['later'])
    expect(cache.isWorking()).toBe(true)
    // It is not asked meanwhile, so nothing more is told.
    expect(await keysOf(cache, 'kept', 'later')).toEqual(['later'])
    await away(false)
    expect(await keysOf(cache, 'kept', 'later')).toEqual(['later'])
    nowMs += 5_000
    expect(await keysOf(cache, 'kept', 'later')).toEqual(['kept', 'later'])
    await cache.close()
    expect(lines.map(({ msg }) => msg)).toEqual([
      'the metadata cache does not answer; metadata is kept in memory meanwhile',
      'the metadata cache answers again'
    ])
    expect(await keysOf(open(url), 'kept', 'later')).toEqual(['kept', 'later'])
  })

  it('is closed without waiting for a database that is gone', async () => {
    const server = await start()
    const cache = open(await server.createDatabase())
    cache.saveDocument('url', 'a', document)
    await server.stop()
    cache.saveDocument('url', 'b', document)
    await cache.close()
    expect(cache.isWorking()).toBe(false)
  })
})
