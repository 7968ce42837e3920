import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type MetadataCache, openMetadataCache } from '@chain-data/index'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { exactJson } from '../../src/platform/exactJson.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { inTurn, json, type RogueHost, silent, status } from './startRogueHost.ts'
import { useMetadataService } from './useMetadataService.ts'

const { startHosts, over } = useMetadataService()
const eventually = (check: () => void | Promise<void>) =>
  vi.waitFor(check, { timeout: patient(10_000), interval: 10 })
const hour = 60 * 60 * 1000
const folderCid = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'

let folder: string
let host: RogueHost
let time = 0
let cache: MetadataCache
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chain-data-persistence-'))
  const [first] = await startHosts(1)
  if (first === undefined) throw new Error('no host')
  host = first
  time = 1_700_000_000_000
  cache = openCache()
})
afterEach(async () => {
  await cache.close()
  rmSync(folder, { recursive: true, force: true })
})

function openCache(): MetadataCache {
  const bounds = { content: 1e8, url: 1e8 }
  return openMetadataCache({ kind: 'sqlite', folder }, { bounds, logger: silentLogger, now: () => time })
}

const startService = () => over([host], { cache, now: () => time })

/** A new process, as far as metadata is concerned. */
async function restart() {
  await cache.close()
  cache = openCache()
  return startService()
}

it('an answer past its date is given at once after a restart, and fetched anew behind it', async () => {
  const uri = host.serve('/1', inTurn(json('{"n":1}'), json('{"n":2}')))
  await startService().read(uri)
  time += hour
  const service = await restart()
  expect((await service.read(uri))?.data).toEqual({ n: 1 })
  await eventually(async () => expect((await service.read(uri))?.data).toEqual({ n: 2 }))
  expect((await (await restart()).read(uri))?.data).toEqual({ n: 2 })
  expect(host.requests('/1')).toBe(2)
})

it('pauses after failures go on doubling over restarts, up to a day', async () => {
  const uri = host.serve('/1', status(404))
  let pauseMs = 60_000
  for (let failures = 1; failures <= 14; failures++) {
    const service = await restart()
    expect(await service.read(uri)).toBeUndefined()
    expect(host.requests('/1')).toBe(failures)
    time += pauseMs - 1
    expect(await (await restart()).read(uri)).toBeUndefined()
    expect(host.requests('/1')).toBe(failures)
    time += 1
    pauseMs = Math.min(pauseMs * 2, 24 * hour)
  }
  expect(pauseMs).toBe(24 * hour)
})

it('one content address is found again under every spelling and with other gateways', async () => {
  host.serve(`/ipfs/${folderCid}/1`, json('{"n":1}'))
  await startService().read(`ipfs://${folderCid}/1`)
  await cache.close()
  cache = openCache()
  const [other] = await startHosts(1)
  const service = over([other ?? host], { cache, now: () => time })
  for (const uri of [`ipfs://ipfs/${folderCid}/1`, `/ipfs/${folderCid}/1`]) {
    expect((await service.read(uri))?.data).toEqual({ n: 1 })
  }
  expect(service.figures().lookups).toEqual({ fresh: 2, stale: 0, negative: 0, missing: 0 })
})

it('documents come back with every digit, every key and their own text', async () => {
  const text = '{"__proto__":{"a":null},"n":18446744073709551615,"é":"\\u0000 \\ud83d\\ude00"}'
  const uri = host.serve('/1', json(`\ufeff${text}`))
  const before = (await startService().read(uri))?.data
  const after = (await (await restart()).read(uri))?.data
  expect(exactJson(after)).toBe(exactJson(before))
  expect(exactJson(after)).toBe('{"__proto__":{"a":null},"n":18446744073709551615,"é":"\\u0000 😀"}')
})

it('neither our own end nor our own overload is remembered as a failure', async () => {
  const slow = host.serve('/slow', inTurn(silent, json('{"n":1}')))
  const waiting = host.serve('/waiting', json('{"n":2}'))
  const refused = host.serve('/refused', json('{"n":3}'))
  const concurrency = { total: 1, perHost: 1, waiting: 1 }
  const service = over([host], { cache, now: () => time, concurrency }, { timeoutMs: 60_000 })
  const first = service.read(slow)
  await eventually(() => expect(host.requests('/slow')).toBe(1))
  const second = service.read(waiting)
  await eventually(() => expect(service.figures().waiting).toBe(1))
  expect(await service.read(refused)).toBeUndefined()
  service.close()
  expect(await Promise.all([first, second])).toEqual([undefined, undefined])
  const next = await restart()
  const found = await next.readAll([slow, waiting, refused].map(uri => ({ uri })))
  expect(found.map(each => each?.data)).toEqual([{ n: 1 }, { n: 2 }, { n: 3 }])
})

it('what is forgotten in memory is read from the store, not fetched again', async () => {
  const service = over([host], { cache, now: () => time, cacheBytes: 0 })
  const uris = Array.from({ length: 40 }, (_, i) => ({ uri: host.serve(`/${i}`, json(`{"n":${i}}`)) }))
  await service.readAll(uris)
  const again = await service.readAll(uris)
  expect(again.map(found => found?.data.n)).toEqual(uris.map((_, i) => i))
  expect(service.figures().fetches).toEqual({ ok: 40 })
})
