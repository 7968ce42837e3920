import { describe, expect, it } from 'vitest'
import { arrival, runGuard } from '../../../test/http/runGuard.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Caller } from '../projects/createKeyRing.ts'
import { createLogin } from './login.ts'

const rule = { attempts: 20, windowMs: 60_000, longestPauseMs: 900_000 }

/** What came of credentials: a caller, a wait, or nothing where they are wrong. */
type Outcome = { readonly caller: Caller } | { readonly retryAfterMs: number } | undefined

function startThrottle(isSlow = false) {
  const clock = { ms: 0, now: () => clock.ms }
  let compared = 0
  const login = createLogin({
    keyRing: {
      has: () => !isSlow,
      find(projectId, key) {
        compared++
        return key === 'right' ? { projectId, kind: 'server' } : undefined
      }
    },
    verifier: {
      async verify() {
        await new Promise(resolve => setImmediate(resolve))
        return undefined
      },
      forget() {}
    },
    rule,
    now: clock.now
  })
  const attempt = async (address: string | undefined, projectId: string, key: string): Promise<Outcome> => {
    const authorization = `Basic ${btoa(`${projectId}:${key}`)}`
    try {
      return (await runGuard(login.guard, { ...arrival({ authorization }), address })).found
    } catch (refusal) {
      if (!(refusal instanceof Refusal)) throw refusal
      if (refusal.reason === 'UNAUTHENTICATED') return undefined
      expect(refusal.reason).toBe('RATE_LIMITED')
      return refusal.data as { retryAfterMs: number }
    }
  }
  const wrong = (address: string | undefined) => attempt(address, 'one', 'wrong')
  return {
    clock,
    throttle: login,
    compared: () => compared,
    right: (address: string | undefined, projectId = 'one') => attempt(address, projectId, 'right'),
    wrong,
    async wrongTimes(address: string, times: number): Promise<Outcome[]> {
      const outcomes: Outcome[] = []
      for (let time = 0; time < times; time++) outcomes.push(await wrong(address))
      return outcomes
    }
  }
}

const passed = { caller: { projectId: 'one', kind: 'server' } }

describe('the login throttle', () => {
  it('tells an address to wait after twenty wrong keys in a minute, and no other address', async () => {
    const { wrongTimes, wrong, throttle } = startThrottle()
    expect(await wrongTimes('192.0.2.1', 20)).toEqual(Array(20).fill(undefined))
    expect(throttle.throttled()).toBe(0)
    expect(await wrong('192.0.2.1')).toEqual({ retryAfterMs: 60_000 })
    expect(throttle.throttled()).toBe(1)
    expect(await wrong('192.0.2.2')).toBeUndefined()
  })

  it('compares no key while the address waits, so that a right guess looks like a wrong one', async () => {
    const { wrongTimes, right, compared } = startThrottle()
    await wrongTimes('192.0.2.1', 20)
    expect(await right('192.0.2.1')).toEqual({ retryAfterMs: 60_000 })
    expect(compared()).toBe(20)
  })

  it('lets pass who waited as long as told', async () => {
    const { wrongTimes, right, wrong, clock } = startThrottle()
    await wrongTimes('192.0.2.1', 20)
    clock.ms += 20_000
    expect(await wrong('192.0.2.1')).toEqual({ retryAfterMs: 40_000 })
    clock.ms += 40_000
    expect(await right('192.0.2.1')).toEqual(passed)
  })

  it('doubles the pause with each wrong key after one, up to a quarter of an hour', async () => {
    const { wrongTimes, wrong, clock } = startThrottle()
    await wrongTimes('192.0.2.1', 20)
    const pauses: unknown[] = []
    for (let round = 0; round < 6; round++) {
      const login = await wrong('192.0.2.1')
      if (login === undefined || !('retryAfterMs' in login)) throw new Error('expected a pause')
      pauses.push(login.retryAfterMs / 60_000)
      clock.ms += login.retryAfterMs
      expect(await wrong('192.0.2.1')).toBeUndefined()
    }
    expect(pauses).toEqual([1, 2, 4, 8, 15, 15])
  })

  it('begins anew once the address was quiet for as long as the longest pause', async () => {
    const { wrongTimes, clock } = startThrottle()
    await wrongTimes('192.0.2.1', 20)
    clock.ms += 60_000 + 900_000
    expect(await wrongTimes('192.0.2.1', 20)).toEqual(Array(20).fill(undefined))
  })

  it('bears fewer wrong keys than that for ever', async () => {
    const { wrong, clock } = startThrottle()
    for (let minute = 0; minute < 60; minute++) {
      for (let time = 0; time < 10; time++) expect(await wrong('192.0.2.1')).toBeUndefined()
      clock.ms += 60_000
    }
  })

  it('goes on serving projects that sent a right key from there, and no other one', async () => {
    const { wrongTimes, right, wrong } = startThrottle()
    await right('192.0.2.1')
    await wrongTimes('192.0.2.1', 20)
    expect(await right('192.0.2.1')).toEqual(passed)
    expect(await right('192.0.2.1', 'two')).toEqual({ retryAfterMs: 60_000 })
    expect(await wrong('192.0.2.1')).toEqual({ retryAfterMs: 60_000 })
  })

  it('compares no keys of other projects while the address waits, whoever is known there', async () => {
    const { wrongTimes, right, compared } = startThrottle()
    await right('192.0.2.1')
    await wrongTimes('192.0.2.1', 20)
    const before = compared()
    expect(await right('192.0.2.1', 'two')).toEqual({ retryAfterMs: 60_000 })
    expect(compared()).toBe(before)
  })

  it('remembers sixteen projects of an address, new ones in place of those of more than an hour ago', async () => {
    const { wrongTimes, right, clock } = startThrottle()
    const served = async (projectId: string) => 'caller' in ((await right('192.0.2.1', projectId)) ?? {})
    for (let project = 0; project < 17; project++) await right('192.0.2.1', `project ${project}`)
    await wrongTimes('192.0.2.1', 20)
    expect([await served('project 15'), await served('project 16')]).toEqual([true, false])
    clock.ms += 3_600_000
    await right('192.0.2.1', 'project 16')
    await wrongTimes('192.0.2.1', 20)
    expect([await served('project 15'), await served('project 16')]).toEqual([false, true])
  })

  it('remembers a right key for an hour, counted from its last use', async () => {
    const { wrongTimes, right, clock } = startThrottle()
    await right('192.0.2.1')
    clock.ms += 3_000_000
    await right('192.0.2.1')
    clock.ms += 3_000_000
    await wrongTimes('192.0.2.1', 20)
    expect(await right('192.0.2.1')).toEqual(passed)
    clock.ms += 3_600_000
    await wrongTimes('192.0.2.1', 20)
    expect(await right('192.0.2.1')).toEqual({ retryAfterMs: 60_000 })
  })

  it('does not let a right key of one project pay for guesses at others', async () => {
    const { wrong, right } = startThrottle()
    for (let time = 0; time < 20; time++) {
      expect(await wrong('192.0.2.1')).toBeUndefined()
      expect(await right('192.0.2.1', 'own')).toMatchObject({ caller: {} })
    }
    expect(await wrong('192.0.2.1')).toEqual({ retryAfterMs: 60_000 })
  })

  it('counts attempts that run at the same time', async () => {
    const { wrong } = startThrottle(true)
    const logins = await Promise.all(Array.from({ length: 100 }, () => wrong('192.0.2.1')))
    expect(logins.filter(login => login === undefined)).toHaveLength(20)
  })

  it('keeps a pause while a hundred thousand other addresses fail', async () => {
    const { wrongTimes, wrong } = startThrottle()
    await wrongTimes('192.0.2.1', 20)
    for (let address = 0; address < 110_000; address++) await wrong(`address ${address}`)
    expect(await wrong('192.0.2.1')).toEqual({ retryAfterMs: 60_000 })
  })

  it('counts nothing where the address is not known', async () => {
    const { wrong, right } = startThrottle()
    for (let time = 0; time < 50; time++) expect(await wrong(undefined)).toBeUndefined()
    expect(await right(undefined)).toEqual(passed)
  })
})
