import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { DeepHistoryCache, DeepRecord } from '../model/deepHistory.ts'
import type { Address, BlockRef, HoldingCandidate } from '../model/evm.ts'
import { StoreUnavailableError } from '../platform/errors.ts'

/** A cache in a place of its own. */
export interface DeepHistoryCacheUnderTest {
  /** As a server opens it; several may be open at once. */
  open(bound?: number): Promise<DeepHistoryCache>
  /** Changes the tables past the cache, by SQL that every engine understands. */
  changeByHand(sql: string): Promise<void>
  /** Number of times that a cache has met something damaged. */
  damages(): number
  /** Moves the clock of every cache that is open, or opened later. */
  advance(ms: number): void
  /** Closes what is still open. */
  dispose(): Promise<void>
}

const anchor: BlockRef = { number: 1_000, hash: `0x${'a1'.repeat(32)}` }
const otherBranch: BlockRef = { number: 1_000, hash: `0x${'b2'.repeat(32)}` }
const person = (place: number): Address => `0x${place.toString(16).padStart(40, '0')}`
const hour = 3_600_000

/** The first transaction of a block, or a later one. A record begins with a byte and its hash. */
const idAt = (block: number, index = 0) => block * 65_536 + index
function recordAt(id: number, length = 40): DeepRecord {
  const bytes = new Uint8Array(length).fill(id % 251)
  new DataView(bytes.buffer).setFloat64(1, id)
  return { id, bytes }
}
const hashOfId = (id: number) =>
  `0x${Buffer.from(recordAt(id).bytes.subarray(1, 33)).toString('hex')}` as const

async function idsOf(
  cache: DeepHistoryCache,
  address: Address,
  part: Partial<Parameters<DeepHistoryCache['records']>[2]> = {},
  below = anchor
) {
  const ids: number[] = []
  for await (const chunk of cache.records(address, below, { belowId: Number.MAX_SAFE_INTEGER, ...part })) {
    expect(chunk.ids.length).toBeGreaterThan(0)
    ids.push(...chunk.ids)
  }
  return ids
}

/** What every engine's deep history cache must do. Call it in a test file, once for each engine and driver. */
export function describeDeepHistoryCache(
  name: string,
  create: () => Promise<DeepHistoryCacheUnderTest>
): void {
  describe(`deep history cache ${name}`, () => {
    let place: DeepHistoryCacheUnderTest
    beforeEach(async () => {
      place = await create()
    })
    afterEach(() => place.dispose())

    it('knows nothing at first', async () => {
      const cache = await place.open()
      expect(await cache.known(person(1), anchor)).toEqual({
        recordsFrom: 1_000,
        candidatesFrom: 1_000,
        gaps: []
      })
      expect(await idsOf(cache, person(1))).toEqual([])
      expect(await cache.candidates(person(1), anchor)).toEqual([])
      expect(await cache.lookUpHash(person(1), hashOfId(5), anchor)).toBeUndefined()
    })

    it('gives back what was laid below what was known, newest first, also after a restart', async () => {
      let cache = await place.open()
      const ids = Array.from({ length: 700 }, (_, at) => idAt(999 - at, at % 7))
      await cache.save(person(1), anchor, {
        from: 650,
        below: 1_000,
        records: ids.slice(0, 350).map(id => recordAt(id))
      })
      await cache.save(person(1), anchor, {
        from: 0,
        below: 650,
        records: ids.slice(350).map(id => recordAt(id))
      })
      await cache.save(person(2), anchor, { from: 0, below: 1_000, records: [recordAt(7)] })
      for (let round = 0; round < 2; round++) {
        expect(await cache.known(person(1), anchor)).toEqual({
          recordsFrom: 0,
          candidatesFrom: 1_000,
          gaps: []
        })
        expect(await idsOf(cache, person(1))).toEqual(ids)
        expect(await idsOf(cache, person(1), { limit: 3 })).toEqual(ids.slice(0, 3))
        expect(await idsOf(cache, person(1), { belowId: ids[300] ?? 0, limit: 300 })).toEqual(
          ids.slice(301, 601)
        )
        expect(await idsOf(cache, person(2))).toEqual([7])
        const bytes: Buffer[] = []
        for await (const chunk of cache.records(person(1), anchor, { belowId: 2 ** 50 }))
          bytes.push(Buffer.from(chunk.bytes))
        expect(Buffer.concat(bytes)).toEqual(Buffer.concat(ids.map(id => recordAt(id).bytes)))
        expect(await cache.lookUpHash(person(1), hashOfId(ids[600] ?? 0), anchor)).toBe(ids[600])
        expect(await cache.lookUpHash(person(1), hashOfId(ids[600] ?? 0), otherBranch)).toBeUndefined()
        expect(await cache.lookUpHash(person(2), hashOfId(ids[600] ?? 0), anchor)).toBeUndefined()
        await cache.close()
        cache = await place.open()
      }
    })

    it('keeps candidates of every kind, and how far they are known, apart from records', async () => {
      const cache = await place.open()
      const owner = person(1)
      const held: HoldingCandidate[] = [
        { owner, contract: person(90), standard: 'erc20' },
        { owner, contract: person(91), standard: 'erc721', tokenId: 0n },
        { owner, contract: person(91), standard: 'erc721', tokenId: 2n ** 256n - 1n },
        { owner, contract: person(91), standard: 'erc721', tokenId: 5n, lastTokenId: 500n },
        { owner, contract: person(92), standard: 'erc1155', tokenId: 77n }
      ]
      await cache.save(owner, anchor, { from: 500, below: 1_000, candidates: held.slice(0, 3) })
      await cache.save(owner, anchor, { from: 100, below: 500, candidates: held.slice(2) })
      expect(await cache.known(owner, anchor)).toEqual({ recordsFrom: 1_000, candidatesFrom: 100, gaps: [] })
      const found = await cache.candidates(owner, anchor)
      expect(found).toHaveLength(held.length)
      expect(found).toEqual(expect.arrayContaining(held))
      expect(await cache.candidates(person(2), anchor)).toEqual([])
    })

    it('keeps what may be missing among the records of any stretch', async () => {
      const cache = await place.open()
      const own = person(1)
      const gaps = ['zero-value-receipts', 'authorities'] as const
      await cache.save(own, anchor, { from: 900, below: 1_000, records: [], gaps: gaps.slice(0, 1) })
      expect(await cache.known(own, anchor)).toMatchObject({ gaps: gaps.slice(0, 1) })
      await cache.save(own, anchor, { from: 700, below: 900, records: [], gaps: gaps.slice(1) })
      await cache.save(own, anchor, { from: 500, below: 700, records: [], candidates: [] })
      const known = { recordsFrom: 500, candidatesFrom: 1_000, gaps }
      expect(await cache.known(own, anchor)).toEqual(known)
      await cache.close()
      expect(await (await place.open()).known(own, anchor)).toEqual(known)
    })

    it('knows nothing more of an account that was forgotten, and all of the others', async () => {
      const cache = await place.open()
      for (const own of [1, 2])
        await cache.save(person(own), anchor, { from: 0, below: 1_000, records: [recordAt(own)] })
      await cache.forget(person(1))
      expect(await cache.known(person(1), anchor)).toMatchObject({ recordsFrom: 1_000 })
      expect([await idsOf(cache, person(1)), await idsOf(cache, person(2))]).toEqual([[], [2]])
      expect(await cache.lookUpHash(person(1), hashOfId(1), anchor)).toBeUndefined()
    })

    it('passes over a stretch that leaves a gap, or is known, and takes one that overlaps', async () => {
      const cache = await place.open()
      const save = (from: number, below: number, ...ids: number[]) =>
        cache.save(person(1), anchor, { from, below, records: ids.map(id => recordAt(id)) })
      const [high, middle, low] = [idAt(900), idAt(850), idAt(750)]
      await save(100, 900, idAt(500))
      expect(await cache.known(person(1), anchor)).toEqual({
        recordsFrom: 1_000,
        candidatesFrom: 1_000,
        gaps: []
      })
      await save(800, 1_000, middle, high)
      await save(850, 1_000, high)
      await save(700, 900, low, middle)
      expect(await cache.known(person(1), anchor)).toMatchObject({ recordsFrom: 700 })
      expect(await idsOf(cache, person(1))).toEqual([high, middle, low])
    })

    it('begins anew below another first block', async () => {
      const cache = await place.open()
      await cache.save(person(1), anchor, { from: 0, below: 1_000, records: [recordAt(9)] })
      expect(await cache.known(person(1), otherBranch)).toMatchObject({ recordsFrom: 1_000 })
      expect(await idsOf(cache, person(1), {}, otherBranch)).toEqual([])
      await cache.save(person(1), otherBranch, { from: 900, below: 1_000, records: [recordAt(8)] })
      expect(await idsOf(cache, person(1), {}, otherBranch)).toEqual([8])
      expect(await cache.known(person(1), anchor)).toMatchObject({ recordsFrom: 1_000 })
    })

    it('lets whole accounts leave that were not used for longest, never the one just written', async () => {
      const cache = await place.open(200_000)
      const fill = (who: number, length = 1_000) =>
        cache.save(person(who), anchor, {
          from: 0,
          below: 1_000,
          records: Array.from({ length: 50 }, (_, at) => recordAt(at + 1, length))
        })
      for (const who of [1, 2, 3]) {
        await fill(who)
        place.advance(hour)
      }
      await cache.known(person(1), anchor)
      place.advance(hour)
      await fill(4)
      const lowest = async (who: number) => (await cache.known(person(who), anchor)).recordsFrom
      expect(await Promise.all([1, 2, 3, 4].map(lowest))).toEqual([0, 1_000, 0, 0])
      await fill(5, 10_000)
      expect(await Promise.all([1, 2, 3, 4, 5].map(lowest))).toEqual([1_000, 1_000, 1_000, 1_000, 0])
      expect(await idsOf(cache, person(5))).toHaveLength(50)
      expect(await idsOf(cache, person(1))).toEqual([])
    })

    it('ends a reading with an error when its account leaves in the middle', async () => {
      const cache = await place.open(1_000)
      const save = async (who: number) => {
        for (let below = 1_000; below > 0; below -= 100) {
          const from = below - 100
          await cache.save(person(who), anchor, { from, below, records: [recordAt(idAt(from))] })
        }
      }
      await save(1)
      const reading = cache.records(person(1), anchor, { belowId: 2 ** 50 })[Symbol.asyncIterator]()
      await reading.next()
      place.advance(hour)
      await save(2)
      await save(1)
      await expect(reading.next()).rejects.toThrow(StoreUnavailableError)
    })

    it.each([
      ['UPDATE part SET body = marks WHERE list = 0 AND low = 500'],
      ['UPDATE part SET low = 501 WHERE list = 0 AND low = 500'],
      ['UPDATE part SET above = 900 WHERE list = 0 AND low = 500'],
      ['DELETE FROM part WHERE list = 0 AND low = 800'],
      ['DELETE FROM part WHERE list = 0 AND low = 500'],
      ['DELETE FROM part WHERE list = 0 AND low = 200'],
      ['DELETE FROM part WHERE list = 0'],
      ['UPDATE entry SET body = key'],
      ['UPDATE entry SET sum = sum + 1'],
      ['DELETE FROM part WHERE list = 1'],
      ['DELETE FROM part WHERE list = 1 AND low = 200'],
      ['UPDATE part SET body = (SELECT body FROM entry) WHERE list = 1']
    ])('takes an account for unknown of which something was changed: %s', async sql => {
      const cache = await place.open()
      const own = person(1)
      const [high, middle, low, lowest] = [idAt(950), idAt(850), idAt(600), idAt(300)]
      const candidates: HoldingCandidate[] = [
        { owner: own, contract: person(90), standard: 'erc721', tokenId: 5n }
      ]
      const stretches = [
        { from: 800, below: 1_000, records: [recordAt(high), recordAt(middle)], candidates },
        { from: 500, below: 800, records: [recordAt(low)], candidates },
        { from: 200, below: 500, records: [recordAt(lowest)], candidates }
      ]
      const readAll = async () => [
        (await cache.known(own, anchor)).recordsFrom,
        await idsOf(cache, own),
        await cache.candidates(own, anchor)
      ]
      for (const stretch of stretches) await cache.save(own, anchor, stretch)
      expect(await readAll()).toEqual([200, [high, middle, low, lowest], candidates])
      await place.changeByHand(sql)
      const answered = await readAll().catch((error: unknown) => error)
      if (!(answered instanceof StoreUnavailableError)) expect(answered).toEqual([1_000, [], []])
      expect(place.damages()).toBe(1)
      expect(await readAll()).toEqual([1_000, [], []])
      for (const stretch of stretches) await cache.save(own, anchor, stretch)
      expect(await readAll()).toEqual([200, [high, middle, low, lowest], candidates])
    })

    it('does not find a transaction by its hash whose record was changed', async () => {
      const cache = await place.open()
      await cache.save(person(1), anchor, { from: 0, below: 1_000, records: [recordAt(9), recordAt(8)] })
      expect(await cache.lookUpHash(person(1), hashOfId(9), anchor)).toBe(9)
      await place.changeByHand('UPDATE part SET body = marks')
      await expect(cache.lookUpHash(person(1), hashOfId(8), anchor)).rejects.toThrow(StoreUnavailableError)
      expect(await cache.lookUpHash(person(1), hashOfId(8), anchor)).toBeUndefined()
      expect(place.damages()).toBe(1)
    })

    it('is shared by two servers that read the same account', async () => {
      const [one, two] = [await place.open(), await place.open()]
      await one.save(person(1), anchor, { from: 500, below: 1_000, records: [recordAt(idAt(700))] })
      const records = [recordAt(idAt(400))]
      await Promise.all([
        one.save(person(1), anchor, { from: 200, below: 500, records }),
        two.save(person(1), anchor, { from: 300, below: 500, records })
      ])
      expect((await two.known(person(1), anchor)).recordsFrom).toBe(200)
      expect(await idsOf(two, person(1))).toEqual([idAt(700), idAt(400)])
    })
  })
}
