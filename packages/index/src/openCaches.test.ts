import { afterEach, expect, it } from 'vitest'
import { recordLog, silentLog } from '../test/recordLog.ts'
import { createTestDatabase, queryOnce } from '../test/support/startPostgres.ts'
import { type DeepHistoryCaches, openDeepHistoryCaches } from './openCaches.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const anchor = { number: 10, hash: `0x${'11'.repeat(32)}` } as const
const who = `0x${'22'.repeat(20)}` as const

it('keeps in memory what a database user without rights may not keep, and says so once', async () => {
  const url = await createTestDatabase()
  const name = new URL(url).pathname.slice(1)
  await queryOnce(url, 'CREATE ROLE deep_reader LOGIN', `REVOKE CREATE ON DATABASE ${name} FROM PUBLIC`)
  cleanUps.push(() => queryOnce(url, 'DROP ROLE deep_reader'))
  const lines: string[] = []
  const logger = recordLog(line => lines.push(line))
  const location = {
    kind: 'postgres',
    url: url.replace('postgres@', 'deep_reader@'),
    replicaUrls: []
  } as const
  const caches: DeepHistoryCaches = openDeepHistoryCaches(location, { bound: 1e9, logger })
  cleanUps.push(() => caches.close())
  const cache = caches.ofChain(1)
  expect(await cache.known(who, anchor)).toEqual({ recordsFrom: 10, candidatesFrom: 10, gaps: [] })
  await cache.save(who, anchor, { from: 0, below: 10, records: [], candidates: [] })
  expect(await cache.known(who, anchor)).toEqual({ recordsFrom: 0, candidatesFrom: 0, gaps: [] })
  expect(lines).toHaveLength(1)
  expect(lines[0]).toContain('the deep history cache refuses; it is kept in memory')
})

it('keeps in memory what a database that is not there cannot keep', async () => {
  const lines: string[] = []
  const logger = recordLog(line => lines.push(line))
  const url = (await createTestDatabase()).replace(/\/([^/?]+)\?/, '/no_such_database?')
  const caches = openDeepHistoryCaches({ kind: 'postgres', url }, { bound: 1, logger })
  cleanUps.push(() => caches.close())
  expect(await caches.ofChain(1).known(who, anchor)).toEqual({
    recordsFrom: 10,
    candidatesFrom: 10,
    gaps: []
  })
  expect(lines).toEqual([expect.stringMatching(/PostgreSQL refused/)])
})

it('does not give up a database that is only out of reach', async () => {
  const logger = silentLog
  const location = { kind: 'postgres', url: 'postgres://nobody@127.0.0.1:1/none', replicaUrls: [] } as const
  const caches = openDeepHistoryCaches(location, { bound: 1e9, logger })
  cleanUps.push(() => caches.close())
  await expect(caches.ofChain(1).known(who, anchor)).rejects.toMatchObject({ retryable: true })
})
