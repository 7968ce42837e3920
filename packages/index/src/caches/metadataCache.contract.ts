import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CachedDocument, MetadataCache, MetadataRecord } from '../model/metadata.ts'

/** A cache in a place of its own. */
export interface MetadataCacheUnderTest {
  /** As a server opens it; several may be open at once. */
  open(bounds?: { readonly content?: number; readonly url?: number }): Promise<MetadataCache>
  /** Changes the table past the cache, by SQL that every engine understands. */
  changeByHand(sql: string): Promise<void>
  /** Number of rows that a cache has found damaged. */
  damages(): number
  /** Moves the clock of every cache that is open, or opened later. */
  advance(ms: number): void
  /** Closes what is still open and removes everything. */
  dispose(): Promise<void>
}

const hour = 60 * 60 * 1000
const documentOf = (text: string, isProven = false): CachedDocument => ({
  body: new Uint8Array(Buffer.from(text)),
  fetchedAtMs: 1_700_000_000_000,
  isProven
})

/** What every engine's metadata cache must do. Call it in a test file, once for each engine and driver. */
export function describeMetadataCache(name: string, create: () => Promise<MetadataCacheUnderTest>): void {
  describe(`metadata cache ${name}`, () => {
    let place: MetadataCacheUnderTest
    beforeEach(async () => {
      place = await create()
    })
    afterEach(() => place.dispose())

    /** Bytes may come as any kind of byte array. */
    const plain = (record: MetadataRecord | undefined): MetadataRecord | undefined =>
      record?.document === undefined
        ? record
        : { ...record, document: { ...record.document, body: new Uint8Array(record.document.body) } }
    const readOne = async (cache: MetadataCache, key: string) => plain((await cache.read([key])).get(key))
    const textOf = async (cache: MetadataCache, key: string) => {
      const body = (await readOne(cache, key))?.document?.body
      return body && Buffer.from(body).toString()
    }
    /** Another server over the same place, opened once all that was saved is stored. */
    const reopen = async (cache: MetadataCache) => {
      await cache.close()
      return place.open()
    }

    it('knows nothing at first', async () => {
      const cache = await place.open()
      expect(cache.isWorking()).toBe(true)
      expect(await cache.read(['a', 'b'])).toEqual(new Map())
      expect(await cache.read([])).toEqual(new Map())
    })

    it('gives back what was saved, at once and after a restart', async () => {
      const cache = await place.open()
      const known = { a: documentOf('{"a":"é"}', true), b: documentOf('{"b":1}') }
      cache.saveDocument('content', 'a', known.a)
      cache.saveDocument('url', 'b', known.b)
      cache.saveFailure('url', 'c', { count: 3, atMs: 5 })
      const expected = [{ document: known.a }, { document: known.b }, { failure: { count: 3, atMs: 5 } }]
      const readAll = async (from: MetadataCache) =>
        [...(await from.read(['a', 'b', 'c', 'd'])).values()].map(plain)
      expect(await readAll(cache)).toEqual(expected)
      expect(await readAll(await reopen(cache))).toEqual(expected)
    })

    it('keeps the document beside a later failure, and forgets the failure with the next document', async () => {
      let cache = await place.open()
      cache.saveDocument('url', 'a', documentOf('{"n":1}'))
      cache.saveFailure('url', 'a', { count: 1, atMs: 9 })
      const both = { document: documentOf('{"n":1}'), failure: { count: 1, atMs: 9 } }
      expect(await readOne(cache, 'a')).toEqual(both)
      cache = await reopen(cache)
      expect(await readOne(cache, 'a')).toEqual(both)
      cache.saveFailure('url', 'a', { count: 2, atMs: 10 })
      cache = await reopen(cache)
      expect(await readOne(cache, 'a')).toEqual({ ...both, failure: { count: 2, atMs: 10 } })
      cache.saveDocument('url', 'a', documentOf('{"n":2}'))
      expect(await readOne(cache, 'a')).toEqual({ document: documentOf('{"n":2}') })
      expect(await readOne(await reopen(cache), 'a')).toEqual({ document: documentOf('{"n":2}') })
    })

    it.each([
      ['UPDATE entry SET body = key WHERE id = 1', { failure: { count: 1, atMs: 9 } }],
      ['UPDATE entry SET sum = sum + 1 WHERE id = 1', { failure: { count: 1, atMs: 9 } }],
      ['UPDATE entry SET space = 1 WHERE id = 1', { failure: { count: 1, atMs: 9 } }],
      ['UPDATE entry SET body = key WHERE id = 2', { document: documentOf('{"n":1}') }],
      ['UPDATE entry SET sum = sum - 1 WHERE id = 2', { document: documentOf('{"n":1}') }]
    ])('leaves out what was changed: %s', async (sql, left) => {
      let cache = await place.open()
      cache.saveDocument('url', 'a', documentOf('{"n":1}'))
      cache.saveFailure('url', 'a', { count: 1, atMs: 9 })
      cache = await reopen(cache)
      await place.changeByHand(sql)
      expect(await readOne(cache, 'a')).toEqual(left)
      expect(place.damages()).toBe(1)
      cache.saveDocument('url', 'a', documentOf('{"n":2}'))
      expect(await readOne(await reopen(cache), 'a')).toEqual({ document: documentOf('{"n":2}') })
      expect(place.damages()).toBe(1)
    })

    it('tells long addresses apart by their last character, and takes any text', async () => {
      const cache = await place.open()
      const keys = ['x'.repeat(100_000), `${'x'.repeat(99_999)}y`, '', '\0', "'; DROP TABLE entry; --", '𝒶é']
      for (const [i, key] of keys.entries()) cache.saveDocument('url', key, documentOf(`{"n":${i}}`))
      const again = await reopen(cache)
      for (const [i, key] of keys.entries()) expect(await textOf(again, key)).toBe(`{"n":${i}}`)
    })

    it('forgets what was used longest ago once its bound is passed, and counts a read as a use', async () => {
      const bounds = { url: 100_000 }
      let cache = await place.open(bounds)
      const large = `{"x":"${'x'.repeat(20_000)}"}`
      const save = async (key: string) => {
        cache.saveDocument('url', key, documentOf(large))
        await cache.close()
        cache = await place.open(bounds)
      }
      for (const key of ['a', 'b', 'c', 'd']) {
        await save(key)
        place.advance(2 * hour)
      }
      await cache.read(['a'])
      place.advance(2 * hour)
      cache.saveDocument('content', 'other kind', documentOf(large))
      await save('e')
      const left = await cache.read(['a', 'b', 'c', 'd', 'e', 'other kind'])
      expect([...left.keys()]).toEqual(['a', 'c', 'd', 'e', 'other kind'])
    })

    it('stays within its bound under many documents and failures', async () => {
      const cache = await place.open({ url: 50_000 })
      for (let i = 0; i < 500; i++) {
        cache.saveDocument('url', `document ${i}`, documentOf(`{"x":"${'x'.repeat(1_000)}"}`))
        cache.saveFailure('url', `failure ${i}`, { count: 1, atMs: 1 })
      }
      const again = await reopen(cache)
      const keys = Array.from({ length: 500 }, (_, i) => [`document ${i}`, `failure ${i}`]).flat()
      const records = [...(await again.read(keys)).values()]
      const bytes = records.reduce((sum, { document }) => sum + (document?.body.length ?? 0), 0)
      expect(bytes).toBeLessThanOrEqual(50_000)
      expect(records.length).toBeGreaterThan(5)
    })

    it('two servers share what either has saved', async () => {
      const [one, two] = [await place.open(), await place.open()]
      one.saveDocument('url', 'a', documentOf('{"from":1}'))
      await one.close()
      expect(await textOf(two, 'a')).toBe('{"from":1}')
      two.saveDocument('url', 'a', documentOf('{"from":2}'))
      two.saveDocument('content', 'b', documentOf('{"from":2}'))
      const three = await reopen(two)
      expect([await textOf(three, 'a'), await textOf(three, 'b')]).toEqual(['{"from":2}', '{"from":2}'])
    })

    it('closed, finds nothing and takes nothing, and may be closed again', async () => {
      const cache = await place.open()
      cache.saveDocument('url', 'a', documentOf('{}'))
      await cache.close()
      expect(await cache.read(['a'])).toEqual(new Map())
      cache.saveDocument('url', 'b', documentOf('{}'))
      cache.saveFailure('url', 'c', { count: 1, atMs: 1 })
      await cache.close()
      expect(cache.isWorking()).toBe(false)
      expect([...(await (await place.open()).read(['a', 'b', 'c'])).keys()]).toEqual(['a'])
    })
  })
}
