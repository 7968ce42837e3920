import { expect, it, vi } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { after, json, silent } from './startRogueHost.ts'
import { useMetadataService } from './useMetadataService.ts'

const { startHosts, over } = useMetadataService()
const eventually = (check: () => void) => vi.waitFor(check, { timeout: patient(20_000), interval: 10 })

it('a call waits three seconds for all together, and late answers are there for the next', async () => {
  const [host] = await startHosts(1)
  if (host === undefined) throw new Error('no host')
  let release = () => {}
  const released = new Promise<void>(resolve => {
    release = resolve
  })
  const late = host.serve('/late', (request, response) => {
    released.then(() => json('{"n":2}')(request, response)).catch(() => response.destroy())
  })
  const requests = [host.serve('/prompt', json('{"n":1}')), late, late].map(uri => ({ uri }))
  const service = over([host], {}, { timeoutMs: 30_000 })
  const first = await service.readAll(requests)
  expect(first.map(found => found?.data.n)).toEqual([1, undefined, undefined])
  release()
  await eventually(() => expect(service.figures().fetches.ok).toBe(2))
  const second = await service.readAll(requests)
  expect(second.map(found => found?.data.n)).toEqual([1, 2, 2])
  expect(host.requests('/late')).toBe(1)
})

it('an account with 10,000 NFTs of silent hosts does not starve another one', async () => {
  const hosts = await startHosts(10)
  const [honest, ...silentHosts] = hosts
  if (honest === undefined) throw new Error('no host')
  const service = over(hosts, {}, { timeoutMs: 30_000 })
  const large = Array.from({ length: 10_000 }, (_, i) => {
    const host = silentHosts[i % silentHosts.length]
    return { uri: host?.serve(`/${i}`, silent) ?? '' }
  })
  const small = Array.from({ length: 20 }, (_, i) => ({
    uri: honest.serve(`/${i}`, after(20, json('{"a":1}')))
  }))
  const flooding = service.readAll(large)
  await eventually(() => expect(service.figures().waiting).toBeGreaterThan(1_000))
  const found = await service.readAll(small)
  expect(found.filter(item => item !== undefined)).toHaveLength(20)
  expect((await flooding).every(item => item === undefined)).toBe(true)
  expect(service.figures().running).toBeLessThanOrEqual(32)
})

it('two accounts at one slow host get its answers in turns', async () => {
  const [host] = await startHosts(1)
  if (host === undefined) throw new Error('no host')
  const service = over([host], {}, { timeoutMs: 30_000 })
  const answered: string[] = []
  const requestsOf = (owner: string, count: number) =>
    Array.from({ length: count }, (_, i) => ({
      uri: host.serve(`/${owner}/${i}`, (request, response) => {
        response.on('finish', () => answered.push(owner))
        after(10, json('{"a":1}'))(request, response)
      })
    }))
  const [large, small] = [requestsOf('large', 300), requestsOf('small', 5)]
  const flooding = service.readAll(large, { budgetMs: 20_000 })
  await eventually(() => expect(answered.length).toBeGreaterThan(4))
  const found = await service.readAll(small)
  expect(found.filter(item => item !== undefined)).toHaveLength(5)
  expect(answered.length).toBeLessThan(100)
  expect((await flooding).filter(item => item !== undefined)).toHaveLength(300)
})

it('what a second call wants too comes at the turn of that call', async () => {
  const [host] = await startHosts(1)
  if (host === undefined) throw new Error('no host')
  const service = over([host], {}, { timeoutMs: 30_000 })
  const answered: string[] = []
  const requests = Array.from({ length: 200 }, (_, i) => ({
    uri: host.serve(`/${i}`, (request, response) => {
      response.on('finish', () => answered.push(`/${i}`))
      after(10, json('{"a":1}'))(request, response)
    })
  }))
  const flooding = service.readAll(requests, { budgetMs: 20_000 })
  await eventually(() => expect(answered.length).toBeGreaterThan(4))
  const last = requests.slice(-1)
  expect((await service.readAll(last, { budgetMs: 20_000 }))[0]).toBeDefined()
  expect(answered.indexOf('/199')).toBeLessThan(100)
  await flooding
  expect(host.requests('/199')).toBe(1)
})
