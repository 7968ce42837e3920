import { createHash } from 'node:crypto'
import { CID } from 'multiformats/cid'
import { create as createMultihash } from 'multiformats/hashes/digest'
import { expect, it, vi } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createGuardedFetch, type GuardedFetch } from '../../src/features/metadata/guardedFetch.ts'
import { after, json, type RogueHost, silent, status } from './startRogueHost.ts'
import { useMetadataService } from './useMetadataService.ts'

const { startHosts, over } = useMetadataService()
const folder = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
const eventually = (check: () => void) => vi.waitFor(check, { timeout: patient(10_000), interval: 10 })
const rawCid = (text: string) =>
  CID.createV1(0x55, createMultihash(0x12, createHash('sha256').update(text).digest())).toString()
const countAll = (hosts: readonly RogueHost[], path: string) => hosts.map(host => host.requests(path))

it('the next gateway is asked at once when one fails', async () => {
  const hosts = await startHosts(3)
  const path = `/ipfs/${folder}/1.json`
  hosts[0]?.serve(path, status(504))
  hosts[1]?.serve(path, status(404))
  hosts[2]?.serve(path, json('{"from":3}'))
  // A stagger that never passes: only failures may move the race on.
  const service = over(hosts, { gatewayStaggerMs: 60_000 })
  expect((await service.read(`ipfs://${folder}/1.json`))?.data).toEqual({ from: 3 })
  expect(countAll(hosts, path)).toEqual([1, 1, 1])
})

it('the next gateway is asked beside a slow one, whose request is cut off once another has answered', async () => {
  const hosts = await startHosts(3)
  const path = `/ipfs/${folder}/1.json`
  hosts[0]?.serve(path, silent)
  hosts[1]?.serve(path, silent)
  hosts[2]?.serve(path, json('{"from":3}'))
  const service = over(hosts, { gatewayStaggerMs: 30 }, { timeoutMs: 60_000 })
  expect((await service.read(`ipfs://${folder}/1.json`))?.data).toEqual({ from: 3 })
  await eventually(() => expect(hosts.map(({ connections }) => connections.now)).toEqual([0, 0, 0]))
  expect(service.figures()).toMatchObject({ fetches: { ok: 1, overtaken: 2 }, running: 0, waiting: 0 })
})

it('gateways that fit the configured order are not asked while the first one answers in time', async () => {
  const hosts = await startHosts(2)
  const path = `/ipfs/${folder}/1.json`
  for (const [i, host] of hosts.entries()) host.serve(path, json(`{"from":${i + 1}}`))
  const service = over(hosts, { gatewayStaggerMs: 10_000 })
  expect((await service.read(`ipfs://${folder}/1.json`))?.data).toEqual({ from: 1 })
  expect(countAll(hosts, path)).toEqual([1, 0])
})

it('a gateway with much to do is passed over for one with little', async () => {
  const hosts = await startHosts(2)
  const uris = Array.from({ length: 8 }, (_, i) => `/ipfs/${folder}/${i}`)
  for (const path of uris) for (const host of hosts) host.serve(path, after(50, json('{"a":1}')))
  const service = over(hosts, { gatewayStaggerMs: 10_000 })
  const found = await service.readAll(uris.map(path => ({ uri: path })))
  expect(found.every(item => item !== undefined)).toBe(true)
  expect(hosts.map(host => uris.filter(path => host.requests(path) > 0).length)).toEqual([4, 4])
})

it('a gateway that lies about a raw block is found out, and counts as one that fails', async () => {
  const hosts = await startHosts(2)
  const service = over(hosts, { gatewayStaggerMs: 10_000 })
  for (let i = 0; i < 10; i++) {
    const text = `{"honest":${i}}`
    const path = `/ipfs/${rawCid(text)}`
    hosts[0]?.serve(path, json('{"honest":false}'))
    hosts[1]?.serve(path, json(text))
    expect((await service.read(`ipfs://${rawCid(text)}`))?.data).toEqual({ honest: i })
  }
  // After four lies it is asked last.
  expect(service.figures().fetches).toEqual({ content: 4, ok: 10 })
})

it("a stranger's gateway does not speak for a content address", async () => {
  const [stranger, own] = await startHosts(2)
  if (stranger === undefined || own === undefined) throw new Error('no hosts')
  const path = `/ipfs/${folder}/1.json`
  stranger.serve(path, json('{"from":"stranger"}'))
  own.serve(path, json('{"from":"own"}'))
  const allowHosts = [stranger.hostPort, own.hostPort]
  const service = over([stranger, own], { gateways: { ipfs: [own.url], arweave: [] }, allowHosts })
  expect((await service.read(`${stranger.url}${path}`))?.data).toEqual({ from: 'stranger' })
  expect((await service.read(`ipfs://${folder}/1.json`))?.data).toEqual({ from: 'own' })
})

it('every request of a race counts: at most 32 at once, and 4 to one gateway', async () => {
  const hosts = await startHosts(12)
  const paths = Array.from({ length: 120 }, (_, i) => `/ipfs/${folder}/${i}`)
  for (const host of hosts) for (const path of paths) host.serve(path, after(60, json('{"a":1}')))
  const allowHosts = hosts.map(({ hostPort }) => hostPort)
  const realFetch = createGuardedFetch({ allowHosts })
  const running = new Map<string, number>()
  const peak = { total: 0, host: 0 }
  const change = (host: string, by: number) => {
    running.set(host, (running.get(host) ?? 0) + by)
    peak.host = Math.max(peak.host, running.get(host) ?? 0)
    peak.total = Math.max(
      peak.total,
      [...running.values()].reduce((a, b) => a + b, 0)
    )
  }
  const guardedFetch: GuardedFetch = async (url, options) => {
    const { host } = new URL(url)
    change(host, 1)
    return realFetch(url, options).finally(() => change(host, -1))
  }
  // Every request is overtaken by the clock, so that every place is wanted.
  const service = over(hosts, { gatewayStaggerMs: 5, guardedFetch })
  const halves = [paths.slice(0, 60), paths.slice(60)]
  const found = await Promise.all(
    halves.map(half =>
      service.readAll(
        half.map(path => ({ uri: path })),
        { budgetMs: 20_000 }
      )
    )
  )
  expect(found.flat().every(item => item !== undefined)).toBe(true)
  expect(peak.host).toBe(4)
  expect(peak.total).toBeLessThanOrEqual(32)
  // Two calls: six sevenths of the places.
  expect(peak.total).toBeGreaterThanOrEqual(24)
})
