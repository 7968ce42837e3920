import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../../devnet/src/platform/createRandom.ts'
import type { Caller } from '../projects/createKeyRing.ts'
import { createQuota, type Quota, type RateLimits } from './quota.ts'

const server: Caller = { projectId: 'one', kind: 'server' }
const page: Caller = { projectId: 'one', kind: 'client', origins: ['https://app.test'] }
const rule = { requestsPerSecond: 1, burst: 40 }

function startQuota(limits: RateLimits | false) {
  const clock = { ms: 0, now: () => clock.ms }
  return { clock, of: createQuota(limits, clock.now) }
}

function allowed(take: ReturnType<Quota>, calls = 1_000): number {
  return take(calls).allowed
}

describe('the quota', () => {
  it('gives client keys a quarter, counted apart from the server keys', () => {
    const quota = startQuota(rule)
    expect(allowed(quota.of(page, undefined))).toBe(10)
    expect(allowed(quota.of(server, undefined))).toBe(40)
  })

  it('gives client keys what is set for them', () => {
    const quota = startQuota({ ...rule, clientKeys: { requestsPerSecond: 1, burst: 3 } })
    expect(allowed(quota.of(page, undefined))).toBe(3)
  })

  it('leaves client keys at least one call', () => {
    expect(allowed(startQuota({ requestsPerSecond: 1, burst: 2 }).of(page, undefined))).toBe(1)
  })

  it('counts each project by itself, over all of its callers', () => {
    const quota = startQuota(rule)
    expect(allowed(quota.of(page, undefined))).toBe(10)
    expect(allowed(quota.of({ ...page, origins: ['https://other.test'] }, '192.0.2.1'))).toBe(0)
    expect(allowed(quota.of({ ...page, projectId: 'two' }, undefined))).toBe(10)
  })

  it('is the project’s own where it has one, client keys getting a quarter of that', () => {
    const quota = startQuota({ ...rule, clientKeys: { requestsPerSecond: 1, burst: 3 } })
    const rateLimit = { requestsPerSecond: 1, burst: 100 }
    expect(allowed(quota.of({ ...server, rateLimit }, undefined))).toBe(100)
    expect(allowed(quota.of({ ...page, rateLimit }, undefined))).toBe(25)
    expect(allowed(quota.of({ ...server, rateLimit: false }, undefined))).toBe(1_000)
  })

  it('is kept for thousands of projects, each with a quota that no other one has', () => {
    const quota = startQuota(rule)
    const own = Array.from({ length: 5_000 }, (_, index) => ({
      projectId: `project ${index}`,
      rateLimit: { requestsPerSecond: 1, burst: 1 + index }
    }))
    for (const expected of [1, 0]) {
      for (const one of own) {
        const take = quota.of({ ...one, kind: 'server' }, undefined)
        expect(Math.min(1, allowed(take, 10_000))).toBe(expected)
      }
    }
  })

  it('limits a project that has a quota of its own where others have none', () => {
    const quota = startQuota(false)
    expect(allowed(quota.of(server, undefined))).toBe(1_000)
    expect(allowed(quota.of({ ...server, projectId: 'two', rateLimit: rule }, undefined))).toBe(40)
  })

  it('lets no address use up the client keys of a project, and none use up another project', () => {
    const quota = startQuota({ ...rule, perAddress: { requestsPerSecond: 1, burst: 4 } })
    const refusal = quota.of(page, '192.0.2.1')(6)
    expect(refusal).toEqual({ scope: 'address', allowed: 4, retryAfterMs: 1_000, msPerCall: 1_000 })
    expect(allowed(quota.of(page, '192.0.2.1'))).toBe(0)
    expect(allowed(quota.of(page, '192.0.2.2'))).toBe(4)
    expect(allowed(quota.of({ ...page, projectId: 'two' }, '192.0.2.1'))).toBe(4)
    // Refused calls took nothing from the project.
    expect(allowed(quota.of(page, undefined))).toBe(2)
  })

  it('takes nothing from a project for an address that is refused', () => {
    const quota = startQuota({ ...rule, perAddress: { requestsPerSecond: 1, burst: 4 } })
    quota.of(page, '192.0.2.1')(4)
    expect(allowed(quota.of(page, '192.0.2.1'), 100)).toBe(0)
    expect(allowed(quota.of(page, '192.0.2.2'), 100)).toBe(4)
    expect(allowed(quota.of(page, '192.0.2.3'), 100)).toBe(2)
  })

  it('does not take from an address what its project refuses', () => {
    const quota = startQuota({ ...rule, perAddress: { requestsPerSecond: 0.01, burst: 12 } })
    expect(quota.of(page, '192.0.2.1')(12)).toMatchObject({ scope: 'project', allowed: 10 })
    quota.clock.ms += 8_000
    expect(allowed(quota.of(page, '192.0.2.1'))).toBe(2)
  })

  it('takes none where all are wanted and do not fit, and tells when all will', () => {
    const quota = startQuota({ ...rule, clientKeys: rule, perAddress: { requestsPerSecond: 2, burst: 30 } })
    const take = quota.of(page, '192.0.2.1')
    take(25)
    const refused = take(10, 'all')
    expect(refused).toMatchObject({ scope: 'address', allowed: 0, retryAfterMs: 2_500 })
    quota.clock.ms += refused.retryAfterMs - 1
    expect(take(10, 'all')).toMatchObject({ allowed: 0 })
    quota.clock.ms += 1
    expect(take(10, 'all')).toMatchObject({ allowed: 10 })
    // 40, less 25 and 10, and 2 that came back.
    expect(allowed(quota.of(page, '192.0.2.2'))).toBe(7)
  })

  it('does not count the calls of a backend by address', () => {
    const quota = startQuota({ ...rule, perAddress: { requestsPerSecond: 1, burst: 1 } })
    expect(allowed(quota.of(server, '192.0.2.1'))).toBe(40)
  })

  it('lets a burst pass and then calls at their rate, without a moment at which two bursts fit', () => {
    const quota = startQuota({ requestsPerSecond: 10, burst: 20 })
    const take = quota.of(server, undefined)
    expect(allowed(take, 1)).toBe(1)
    quota.clock.ms += 1_999
    expect(allowed(take)).toBe(20)
    quota.clock.ms += 2
    expect(allowed(take)).toBe(0)
    quota.clock.ms += 500
    expect(allowed(take)).toBe(5)
  })

  it('does not hold refused calls against their caller', () => {
    const quota = startQuota({ requestsPerSecond: 10, burst: 20 })
    const take = quota.of(server, undefined)
    take(20)
    for (let calls = 0; calls < 1_000; calls++) expect(allowed(take, 1)).toBe(0)
    quota.clock.ms += 100
    expect(allowed(take, 1)).toBe(1)
  })
})

describe('the quota, over random rules and times', () => {
  const seed = Number(process.env.CHAIN_DATA_TEST_SEED ?? 1)

  it(`never allows more than a burst and the rate, and is never late (CHAIN_DATA_TEST_SEED=${seed})`, () => {
    const { below } = createRandom(seed)
    const random = () => below(2 ** 32) / 2 ** 32
    for (let round = 0; round < 30; round++) {
      const requestsPerSecond = 10 ** (random() * 5 - 2)
      const burst = 1 + Math.floor(random() * 300)
      const quota = startQuota({ requestsPerSecond, burst })
      const take = quota.of(server, undefined)
      const passed: { ms: number; calls: number }[] = []
      for (let step = 0; step < 60; step++) {
        quota.clock.ms += Math.floor(random() ** 4 * ((2_000 * burst) / requestsPerSecond))
        const wanted = 1 + Math.floor(random() ** 2 * 100)
        const taken = take(wanted)
        passed.push({ ms: quota.clock.ms, calls: taken.allowed })
        if (taken.allowed === wanted) continue
        // Whoever waits as long as told is let in.
        quota.clock.ms += Math.ceil(taken.retryAfterMs)
        expect(allowed(take, 1)).toBe(1)
        passed.push({ ms: quota.clock.ms, calls: 1 })
        const further = Math.min(wanted - taken.allowed - 1, burst - 1)
        quota.clock.ms += Math.ceil(further * taken.msPerCall)
        expect(allowed(take, further)).toBe(further)
        passed.push({ ms: quota.clock.ms, calls: further })
      }
      for (const [start, { ms: from }] of passed.entries()) {
        let calls = 0
        for (const one of passed.slice(start)) {
          calls += one.calls
          const most = burst + ((one.ms - from) / 1_000) * requestsPerSecond
          expect(calls).toBeLessThanOrEqual(most + 1e-3)
        }
      }
    }
  })
})
