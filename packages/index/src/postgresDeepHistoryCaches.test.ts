import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { silentLog } from '../test/recordLog.ts'
import { createTestDatabase, queryOnce } from '../test/support/startPostgres.ts'
import { describeDeepHistoryCache } from './caches/deepHistoryCache.contract.ts'
import { type DeepHistoryCaches, openDeepHistoryCaches } from './openCaches.ts'

const opened: DeepHistoryCaches[] = []
const closeAll = async () => {
  for (const caches of opened.splice(0)) await caches.close()
}
afterEach(closeAll)

function open(url: string, bound: number, now = Date.now, onDamage = () => {}): DeepHistoryCaches {
  const caches = openDeepHistoryCaches({ kind: 'postgres', url }, { bound, now, onDamage, logger: silentLog })
  opened.push(caches)
  return caches
}

describeDeepHistoryCache('postgres', async () => {
  const url = await createTestDatabase()
  let nowMs = 1_700_000_000_000
  let damages = 0
  return {
    open: async (bound = 1e9) =>
      open(
        url,
        bound,
        () => nowMs,
        () => damages++
      ).ofChain(1),
    changeByHand: async sql => {
      await queryOnce(url, `SET search_path = chain_data_deep; ${sql}`)
    },
    damages: () => damages,
    advance: ms => {
      nowMs += ms
    },
    dispose: closeAll
  }
})

const anchor = { number: 10, hash: `0x${'11'.repeat(32)}` } as const
const who = `0x${'22'.repeat(20)}` as const
const record = { id: 3, bytes: new Uint8Array(40) }

describe('deep history caches in PostgreSQL', () => {
  it('keep the chains of a database apart, in what is known and in what has to leave', async () => {
    const caches = open(await createTestDatabase(), 1)
    const [one, two] = [caches.ofChain(1), caches.ofChain(2)]
    await one.save(who, anchor, { from: 0, below: 10, records: [record] })
    await two.save(who, anchor, { from: 5, below: 10, records: [] })
    expect(await one.known(who, anchor)).toMatchObject({ recordsFrom: 0 })
    expect(await two.known(who, anchor)).toMatchObject({ recordsFrom: 5 })
    expect(await two.lookUpHash(who, `0x${'00'.repeat(32)}`, anchor)).toBeUndefined()
  })

  it('weigh exactly what they hold, and remove what has left', async () => {
    const url = await createTestDatabase()
    let nowMs = 0
    const cache = open(url, 1, () => nowMs++).ofChain(1)
    const records = Array.from({ length: 3_000 }, (_, at) => ({ ...record, id: at }))
    await cache.save(who, anchor, { from: 0, below: 10, records })
    for (let other = 1; other <= 6; other++) {
      const address = `0x${String(other).padStart(40, '0')}` as const
      await cache.save(address, anchor, { from: 0, below: 10, records: [] })
    }
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    const { rows } = await client.query(
      `SELECT (SELECT count(*)::int FROM chain_data_deep.part WHERE list = 0) AS parts, u.weight::int AS weight,
         (SELECT sum(weight)::int FROM chain_data_deep.entry) AS sum FROM chain_data_deep.usage u`
    )
    await client.end()
    expect(rows).toEqual([{ parts: 1, weight: rows[0].sum, sum: rows[0].weight }])
    expect(rows[0].weight).toBeGreaterThan(0)
  })
})
