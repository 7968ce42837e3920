import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { type MetadataCache, type MetadataRecord, noMetadataCache } from '@chain-data/index'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { afterEach, expect, test, vi } from 'vitest'
import { patient } from '../../../../../.config/patience.ts'
import { type TestMetadataService, withRead } from '../../../test/metadata/readOne.ts'
import { createGuardedFetch, type GuardedFetch } from './guardedFetch.ts'
import { metadataFailure } from './metadataFailure.ts'
import { createMetadataService, type MetadataServiceOptions } from './metadataService.ts'

const cid = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
const gateways = { ipfs: ['https://one.gateway.art', 'https://two.gateway.art'], arweave: [] }
const services: TestMetadataService[] = []

afterEach(() => {
  for (const service of services.splice(0)) service.close()
})

/** A service over a fetcher that answers from `answer` and notes what it was asked. */
function serviceOver(
  answer: (url: string, signal: AbortSignal) => unknown,
  options: Partial<MetadataServiceOptions> = {}
) {
  const asked: string[] = []
  const guardedFetch: GuardedFetch = async (url, { signal = new AbortController().signal } = {}) => {
    asked.push(url)
    const body = Buffer.from(JSON.stringify(await answer(url, signal)))
    return { url, contentType: 'application/json', body }
  }
  const service = withRead(createMetadataService({ guardedFetch, gateways, ...options }))
  services.push(service)
  return { service, asked }
}

/** A cache that keeps documents, for services one after the other. */
function keepDocuments(): MetadataCache {
  const stored = new Map<string, MetadataRecord>()
  return {
    ...noMetadataCache,
    isWorking: () => true,
    read: async keys => new Map([...stored].filter(([key]) => keys.includes(key))),
    saveDocument: (_kind, key, document) => void stored.set(key, { document })
  }
}

const never = () => new Promise<never>(() => {})
const eventually = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: patient(10_000), interval: 5 })
/** Whatever was going to happen by itself has happened: the fetcher here answers within the same turn. */
const settled = async () => {
  for (let i = 0; i < 5; i++) await new Promise(resolve => setImmediate(resolve))
}

const cidOf = (codec: number, block: Uint8Array) =>
  CID.createV1(codec, createMultihash(0x12, createHash('sha256').update(block).digest())).toString()
const rawCid = (text: string) => cidOf(0x55, Buffer.from(text))
/** For texts of fewer than 100 bytes, whose lengths take one byte. */
const dagPbCid = (text: string) => {
  const unixFs = [0x08, 2, 0x12, text.length, ...Buffer.from(text), 0x18, text.length]
  return cidOf(0x70, Buffer.from([0x0a, unixFs.length, ...unixFs]))
}

test('gives the whole object and its picture', async () => {
  const data = {
    name: 'One',
    image: `ipfs://${cid}/1.png`,
    attributes: [{ value: null }],
    extra: { deep: [1] }
  }
  const { service } = serviceOver(() => data)
  expect(await service.read('https://a.names.art/1.json')).toEqual({
    data,
    image: `https://one.gateway.art/ipfs/${cid}/1.png`
  })
})

test('replaces {id} in the address and the picture of an ERC-1155 token', async () => {
  const { service, asked } = serviceOver(() => ({ image: 'https://a.names.art/{id}.png' }))
  const id = 'a'.padStart(64, '0')
  const found = await service.read('https://a.names.art/{id}.json', { tokenId: 10n })
  expect(asked).toEqual([`https://a.names.art/${id}.json`])
  expect(found?.image).toBe(`https://a.names.art/${id}.png`)
})

test('takes an address that leads to a picture for the picture, also after a restart', async () => {
  const cache = keepDocuments()
  let fetches = 0
  const guardedFetch: GuardedFetch = async url => {
    fetches++
    return { url, contentType: 'image/png', body: Buffer.from('89504e470d0a1a0a', 'hex') }
  }
  const url = 'https://a.names.art/1.png'
  for (let start = 0; start < 2; start++) {
    const service = withRead(createMetadataService({ guardedFetch, gateways, cache }))
    services.push(service)
    expect(await service.read(url)).toEqual({ data: {}, image: url })
    expect(await service.read(`ipfs://${cid}/1.png`)).toEqual({
      data: {},
      image: `https://one.gateway.art/ipfs/${cid}/1.png`
    })
  }
  expect(fetches).toBe(2)
  const inline = 'data:image/svg+xml;base64,PHN2Zz48L3N2Zz4='
  const { service } = serviceOver(never)
  expect(await service.read(inline)).toEqual({ data: {}, image: inline })
})

test('heeds the charset of a fetched object, also after a restart', async () => {
  const cache = keepDocuments()
  const guardedFetch: GuardedFetch = async url => ({
    url,
    contentType: 'application/json; charset=shift_jis',
    // "ア" in Shift JIS.
    body: Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0x83, 0x41]), Buffer.from('"}')])
  })
  for (let start = 0; start < 2; start++) {
    const service = withRead(createMetadataService({ guardedFetch, gateways, cache }))
    services.push(service)
    expect((await service.read('https://a.names.art/1.json'))?.data).toEqual({ name: 'ア' })
  }
})

test('a path that answers 429 leaves the other documents of its host alone', async () => {
  const { service, asked } = serviceOver(url => {
    if (url.endsWith('/greedy.json')) {
      throw metadataFailure('STATUS', 'HTTP status 429', url, { status: 429, retryAfterMs: 600_000 })
    }
    return { name: url }
  })
  expect(await service.read('https://a.names.art/greedy.json')).toBeUndefined()
  const other = 'https://a.names.art/other.json'
  expect((await service.read(other))?.data).toEqual({ name: other })
  expect(await service.read('https://a.names.art/greedy.json')).toBeUndefined()
  expect(asked).toEqual(['https://a.names.art/greedy.json', other])
})

test.each(['test', 'example', 'invalid', 'localhost', 'alt', 'onion'])(
  'a document below the reserved name .%s is unavailable, which holdings list as incomplete',
  async name => {
    const service = withRead(createMetadataService({ guardedFetch: createGuardedFetch(), gateways }))
    services.push(service)
    expect(await service.read(`https://tokens.${name}/1.json`)).toBeUndefined()
  }
)

test('reads inline metadata without any fetch', async () => {
  const { service, asked } = serviceOver(never)
  expect((await service.read('data:application/json;base64,eyJhIjoxfQ=='))?.data).toEqual({ a: 1 })
  expect(await service.read('data:application/json,not json')).toBeUndefined()
  expect(await service.read('data:application/json;charset=nonsense,{}')).toBeUndefined()
  expect(asked).toEqual([])
})

test('asks the next gateway when one fails', async () => {
  const { service, asked } = serviceOver(url => {
    if (url.startsWith('https://one')) throw metadataFailure('STATUS', 'HTTP status 504')
    return { name: 'found' }
  })
  expect((await service.read(`ipfs://${cid}`))?.data).toEqual({ name: 'found' })
  expect(asked).toEqual([`https://one.gateway.art/ipfs/${cid}`, `https://two.gateway.art/ipfs/${cid}`])
})

test('an answer of a URL is in date for an hour, then given out once more while a new one is fetched', async () => {
  let time = 0
  let version = 1
  const { service, asked } = serviceOver(() => ({ version: version++ }), { now: () => time })
  const read = async () => (await service.read('https://a.names.art/1'))?.data.version
  expect(await read()).toBe(1)
  time = 3_599_999
  expect(await read()).toBe(1)
  expect(asked).toHaveLength(1)
  time = 3_600_000
  expect(await read()).toBe(1)
  await eventually(async () => expect(await read()).toBe(2))
  expect(asked).toHaveLength(2)
  expect(service.figures().lookups).toMatchObject({ missing: 1, stale: expect.any(Number), negative: 0 })
})

test('what cannot be had anew stays, and is not tried with every call', async () => {
  let time = 0
  let isDown = false
  const { service, asked } = serviceOver(
    () =>
      isDown ? Promise.reject(metadataFailure('STATUS', 'HTTP status 500', '', { status: 500 })) : { a: 1 },
    { now: () => time }
  )
  const read = async () => (await service.read('https://a.names.art/1'))?.data
  await read()
  isDown = true
  time = 3_600_000
  expect(await read()).toEqual({ a: 1 })
  await eventually(() => expect(service.figures().fetches).toMatchObject({ status: 1 }))
  await settled()
  time += 59_999
  expect(await read()).toEqual({ a: 1 })
  await settled()
  expect(asked).toHaveLength(2)
  time += 1
  expect(await read()).toEqual({ a: 1 })
  await eventually(() => expect(asked).toHaveLength(3))
})

test('what is proven by its content address is never asked for again, the rest after a week', async () => {
  let time = 0
  const { service, asked } = serviceOver(() => ({}), { now: () => time })
  const proven = rawCid('{}')
  for (time of [0, 1e12]) await service.read(`ipfs://${proven}`)
  await settled()
  expect(asked).toHaveLength(1)
  for (time of [0, 7 * 24 * 3_600_000 - 1]) await service.read(`ipfs://${cid}/1`)
  await settled()
  expect(asked).toHaveLength(2)
  time++
  expect(await service.read(`ipfs://${cid}/1`)).toBeDefined()
  await eventually(() => expect(asked).toHaveLength(3))
})

test('a gateway that gives something else than the content of the address is passed over', async () => {
  const honest = { name: 'honest' }
  const { service } = serviceOver(url => (url.startsWith('https://one') ? { name: 'false' } : honest))
  expect((await service.read(`ipfs://${rawCid(JSON.stringify(honest))}`))?.data).toEqual(honest)
  expect(service.figures().fetches).toEqual({ content: 1, ok: 1 })
})

test('an answer that can be proven is preferred to one that cannot', async () => {
  const honest = 'hello world\n'
  const { service } = serviceOver(url => (url.startsWith('https://one') ? { name: 'false' } : honest))
  // The content of this address is no object: so only the unproven answer is left.
  const helloFile = 'QmT78zSuBmuS4z925WZfrqQ1qHaJ56DQaTfyMUF7F8ff5o'
  expect((await service.read(`ipfs://${helloFile}`))?.data).toEqual({ name: 'false' })
  const asDagPb = dagPbCid(JSON.stringify({ name: 'true' }))
  const { service: second, asked } = serviceOver(url => ({
    name: url.startsWith('https://one') ? 'false' : 'true'
  }))
  expect((await second.read(`ipfs://${asDagPb}`))?.data).toEqual({ name: 'true' })
  expect(asked).toHaveLength(2)
})

test('a host that wants a pause gets one, and the address is not blamed', async () => {
  let time = 0
  const { service, asked } = serviceOver(
    url =>
      time === 0 ? Promise.reject(metadataFailure('STATUS', 'HTTP status 429', url, { status: 429 })) : {},
    { now: () => time }
  )
  expect(await service.read('https://a.names.art/1')).toBeUndefined()
  expect(await service.read('https://a.names.art/2')).toBeUndefined()
  // Two paths: it means all of them.
  expect(await service.read('https://a.names.art/3')).toBeUndefined()
  expect(asked).toHaveLength(2)
  time = 10_000
  expect(await service.read('https://a.names.art/1')).toBeDefined()
  expect(await service.read('https://a.names.art/2')).toBeDefined()
})

test('a gateway that fails often is asked last for a while', async () => {
  let time = 0
  const { service, asked } = serviceOver(
    url => (url.startsWith('https://one') ? Promise.reject(metadataFailure('TIMEOUT', 'slow')) : {}),
    { now: () => time }
  )
  for (let i = 0; i < 6; i++) await service.read(`ipfs://${cid}/${i}`)
  const first = asked.filter(url => url.startsWith('https://one'))
  expect(first).toHaveLength(4)
  time = 60_000
  await service.read(`ipfs://${cid}/later`)
  expect(asked.filter(url => url.startsWith('https://one'))).toHaveLength(5)
})

test('remembers a failure for a minute, then twice as long each time, up to a day', async () => {
  let time = 0
  const { service, asked } = serviceOver(() => Promise.reject(metadataFailure('TIMEOUT', 'slow')), {
    now: () => time
  })
  const attemptsAfter = async (pauseMs: number) => {
    time += pauseMs
    const before = asked.length
    expect(await service.read('https://a.names.art/1')).toBeUndefined()
    return asked.length - before
  }
  expect(await attemptsAfter(0)).toBe(1)
  expect(await attemptsAfter(59_999)).toBe(0)
  expect(await attemptsAfter(1)).toBe(1)
  expect(await attemptsAfter(119_999)).toBe(0)
  expect(await attemptsAfter(1)).toBe(1)
  for (let i = 0; i < 20; i++) await attemptsAfter(24 * 60 * 60 * 1000)
  expect(await attemptsAfter(24 * 60 * 60 * 1000 - 1)).toBe(0)
  expect(await attemptsAfter(1)).toBe(1)
})

test('what is no JSON object counts as unavailable', async () => {
  const { service } = serviceOver(url => (url.endsWith('list') ? [] : 'text'))
  expect(await service.read('https://a.names.art/list')).toBeUndefined()
  expect(await service.read('https://a.names.art/text')).toBeUndefined()
})

test('the same address asked twice at once is fetched once', async () => {
  const { service, asked } = serviceOver(() => ({}))
  await Promise.all([service.read('https://a.names.art/1'), service.read('https://a.names.art/1')])
  expect(asked).toHaveLength(1)
})

test('a call waits no longer than its budget, and late answers serve the next one', async () => {
  let release = (_value: unknown) => {}
  const late = new Promise(resolve => {
    release = resolve
  })
  const { service, asked } = serviceOver(url => (url.endsWith('late') ? late : { name: 'prompt' }))
  const requests = [
    { uri: 'https://a.names.art/late' },
    { uri: 'https://a.names.art/prompt' },
    { uri: 'nonsense' },
    { uri: 'data:,{"name":"inline"}' }
  ]
  const first = await service.readAll(requests, { budgetMs: 50 })
  expect(first.map(found => found?.data.name)).toEqual([undefined, 'prompt', undefined, 'inline'])
  release({ name: 'late' })
  const second = await service.readAll(requests, { budgetMs: 5_000 })
  expect(second.map(found => found?.data.name)).toEqual(['late', 'prompt', undefined, 'inline'])
  expect(asked).toHaveLength(2)
})

test('an aborted call gets what is there and leaves the rest', async () => {
  const { service } = serviceOver(never)
  const controller = new AbortController()
  const waiting = service.readAll([{ uri: 'https://a.names.art/1' }, { uri: '{"a":1}' }], {
    signal: controller.signal
  })
  await settled()
  controller.abort()
  expect((await waiting).map(found => found?.data)).toEqual([undefined, { a: 1 }])
  expect(await service.read('https://a.names.art/1', { signal: AbortSignal.abort() })).toBeUndefined()
})

// One call alone leaves a quarter of the 32 places to others.
test.each([
  { hosts: 20, expected: { total: 24, host: 4 } },
  { hosts: 2, expected: { total: 8, host: 4 } }
])(
  'at most 24 fetches of one call run at once, and 4 to one host: $hosts hosts',
  async ({ hosts, expected }) => {
    const running = new Map<string, number>()
    const peak = { total: 0, host: 0 }
    const { service } = serviceOver(async url => {
      const { host } = new URL(url)
      running.set(host, (running.get(host) ?? 0) + 1)
      peak.host = Math.max(peak.host, running.get(host) ?? 0)
      peak.total = Math.max(
        peak.total,
        [...running.values()].reduce((a, b) => a + b, 0)
      )
      await new Promise(resolve => setImmediate(resolve))
      running.set(host, (running.get(host) ?? 0) - 1)
      return {}
    })
    // The first host is wanted much more than the others.
    const requests = Array.from({ length: 400 }, (_, i) => ({
      uri: `https://host${i < 100 ? 0 : i % hosts}.names.art/${i}`
    }))
    const found = await service.readAll(requests, { budgetMs: 20_000 })
    expect(found.every(item => item !== undefined)).toBe(true)
    expect(peak).toEqual(expected)
  }
)

test('overload is not held against the address', async () => {
  const { service, asked } = serviceOver(
    async () => {
      await new Promise(resolve => setImmediate(resolve))
      return {}
    },
    { concurrency: { total: 1, perHost: 1, waiting: 1 } }
  )
  const uris = ['1', '2', '3'].map(path => ({ uri: `https://a.names.art/${path}` }))
  expect((await service.readAll(uris)).map(found => found !== undefined)).toEqual([true, true, false])
  expect(await service.read('https://a.names.art/3')).toBeDefined()
  expect(asked).toHaveLength(3)
})

test('what is remembered stays within its bound', async () => {
  const { service, asked } = serviceOver(() => ({ text: 'x'.repeat(1000) }), { cacheBytes: 5_000 })
  const uris = Array.from({ length: 10 }, (_, i) => `https://a.names.art/${i}`)
  for (const uri of uris) await service.read(uri)
  await service.read('https://a.names.art/9')
  expect(asked).toHaveLength(10)
  await service.read('https://a.names.art/0')
  expect(asked).toHaveLength(11)
})

test('one call takes in at most 64 MiB', async () => {
  const { service } = serviceOver(() => ({ text: 'x'.repeat(2_000_000) }))
  const found = await service.readAll(
    Array.from({ length: 40 }, () => ({ uri: 'https://a.names.art/large' }))
  )
  expect(found.filter(item => item !== undefined)).toHaveLength(33)
})

test('closing cuts off what is under way', async () => {
  const { service } = serviceOver(
    (_url, signal) =>
      new Promise((_resolve, reject) => {
        const cut = () => reject(metadataFailure('ABORTED', 'cut off'))
        if (signal.aborted) cut()
        signal.addEventListener('abort', cut)
      })
  )
  const waiting = service.read('https://a.names.art/1')
  service.close()
  expect(await waiting).toBeUndefined()
})

test('a document too large for what is left of 64 MiB leaves it to smaller ones', async () => {
  const { service } = serviceOver(url => ({
    text: 'x'.repeat(url.endsWith('small') ? 1_000 : 2_090_000)
  }))
  const urls = [
    ...Array.from({ length: 33 }, (_, i) => `https://${i}.names.art/large`),
    'https://a.names.art/small'
  ]
  for (const uri of urls) await service.read(uri)
  const found = await service.readAll(urls.map(uri => ({ uri })))
  // Which one of the large ones comes last is nobody's promise.
  expect(found.slice(0, -1).filter(one => one !== undefined)).toHaveLength(32)
  expect(found.at(-1)).toBeDefined()
})

test('documents inside URIs are read no further once the time of a call is up, and not beyond 64 MiB', async () => {
  const { service } = serviceOver(() => ({ name: 'remembered' }))
  await service.read('https://a.names.art/1')
  const inline = 'data:application/json,{"name":"inline"}'
  const upAtSecond = new AbortController()
  const second = {
    get uri() {
      upAtSecond.abort()
      return inline
    }
  }
  const requests = [{ uri: inline }, second, { uri: inline }, { uri: 'https://a.names.art/1' }]
  const found = await service.readAll(requests, { signal: upAtSecond.signal })
  expect(found.map(one => one?.data.name)).toEqual(['inline', 'inline', undefined, 'remembered'])

  const large = gzipSync(`{"text":"${'x'.repeat(2_090_000)}"}`).toString('base64')
  const bombs = Array.from({ length: 40 }, () => ({ uri: `data:application/json;base64,${large}` }))
  const shown = await service.readAll([...bombs, { uri: inline }], { budgetMs: 600_000 })
  expect(shown.flatMap((one, i) => (one === undefined ? [] : i))).toEqual(
    Array.from({ length: 32 }, (_, i) => i)
  )
})

test('documents of very many small values count for the memory they take, not for their text', async () => {
  const crowded = { list: Array.from({ length: 100_000 }, () => ({})) }
  const { service, asked } = serviceOver(() => crowded, { cacheBytes: 8 * 1024 * 1024 })
  const urls = Array.from({ length: 20 }, (_, i) => `https://${i}.names.art/1`)
  for (const uri of urls) await service.read(uri)
  expect(asked).toHaveLength(20)
  await service.read('https://0.names.art/1')
  expect(asked).toHaveLength(21)

  const uri = `data:application/json,${JSON.stringify(crowded)}`
  const found = await service.readAll(
    Array.from({ length: 20 }, () => ({ uri })),
    { budgetMs: 600_000 }
  )
  expect(found.filter(one => one !== undefined)).toHaveLength(13)
})

test('a failure does not take away what only the cache still remembers', async () => {
  let time = 0
  let isDown = false
  const stored = new Map<string, MetadataRecord>()
  const cache: MetadataCache = {
    ...noMetadataCache,
    isWorking: () => true,
    read: async keys => new Map(keys.flatMap(key => (stored.has(key) ? [[key, stored.get(key) ?? {}]] : []))),
    saveDocument: (_kind, key, document) => stored.set(key, { document }),
    saveFailure: (_kind, key, failure) => stored.set(key, { ...stored.get(key), failure })
  }
  let fail = () => {}
  const { service, asked } = serviceOver(
    url => {
      if (!isDown || url !== 'https://a.names.art/1') return { text: 'x'.repeat(600) }
      return new Promise((_resolve, reject) => {
        fail = () => reject(metadataFailure('STATUS', 'HTTP status 500'))
      })
    },
    // Room for one document.
    { now: () => time, cache, cacheBytes: 1_500 }
  )
  const read = () => service.read('https://a.names.art/1')
  expect(await read()).toBeDefined()
  time = 2 * 3_600_000
  isDown = true
  expect(await read()).toBeDefined()
  await eventually(() => expect(asked).toHaveLength(2))
  await service.read('https://b.names.art/1')
  fail()
  await settled()
  expect([...stored.values()].filter(({ failure }) => failure !== undefined)).toHaveLength(1)
  expect(await read()).toBeDefined()
})
