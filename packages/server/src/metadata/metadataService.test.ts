import { afterEach, expect, test } from 'vitest'
import type { GuardedFetch } from './guardedFetch.ts'
import { metadataFailure } from './metadataFailure.ts'
import {
  createMetadataService,
  type MetadataService,
  type MetadataServiceOptions
} from './metadataService.ts'

const cid = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
const gateways = { ipfs: ['https://one.gateway.art', 'https://two.gateway.art'], arweave: [] }
const services: MetadataService[] = []

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
  const service = createMetadataService({ guardedFetch, gateways, ...options })
  services.push(service)
  return { service, asked }
}

const never = () => new Promise<never>(() => {})

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

test('remembers an answer for an hour, a content address for good', async () => {
  let time = 0
  const { service, asked } = serviceOver(() => ({}), { now: () => time })
  for (time of [0, 3_599_999, 3_600_000]) await service.read('https://a.names.art/1')
  expect(asked).toHaveLength(2)
  for (time of [0, 1e12]) await service.read(`ipfs://${cid}`)
  expect(asked).toHaveLength(3)
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
  controller.abort()
  expect((await waiting).map(found => found?.data)).toEqual([undefined, { a: 1 }])
  expect(await service.read('https://a.names.art/1', { signal: AbortSignal.abort() })).toBeUndefined()
})

test.each([
  { hosts: 20, expected: { total: 32, host: 4 } },
  { hosts: 2, expected: { total: 8, host: 4 } }
])('at most 32 fetches run at once, and 4 to one host: $hosts hosts', async ({ hosts, expected }) => {
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
})

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

test('one call takes in at most 32 MiB of text', async () => {
  const { service } = serviceOver(() => ({ text: 'x'.repeat(2_000_000) }))
  const found = await service.readAll(
    Array.from({ length: 20 }, () => ({ uri: 'https://a.names.art/large' }))
  )
  expect(found.filter(item => item !== undefined)).toHaveLength(16)
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
