import { describe, expect, it } from 'vitest'
import { arrival, runGuard } from '../../../test/http/runGuard.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Caller } from '../projects/createKeyRing.ts'
import { checkLogin, createLoginThrottle } from './login.ts'

const rule = { attempts: 20, windowMs: 60_000 }

/** What came of credentials: a caller, a wait, or nothing where they are wrong. */
type Outcome = { readonly caller: Caller } | { readonly retryAfterMs: number } | undefined

function startThrottle(isSlow = false) {
  const clock = { ms: 0, now: () => clock.ms }
  const revoked = new Set<string>()
  let compared = 0
  const throttle = createLoginThrottle(rule, clock.now)
  const guard = checkLogin({
    throttle,
    keyRing: {
      has: () => !isSlow,
      find(projectId, key) {
        compared++
        if (revoked.has(key)) return undefined
        return key.startsWith('right') ? { projectId, kind: 'server' } : undefined
      }
    },
    verifier: {
      async verify() {
        await new Promise(resolve => setImmediate(resolve))
        return undefined
      },
      forget() {}
    }
  })
  const attempt = async (address: string | undefined, projectId: string, key: string): Promise<Outcome> => {
    const authorization = `Basic ${btoa(`${projectId}:${key}`)}`
    try {
      return (await runGuard(guard, { ...arrival({ authorization }), address })).found
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
    throttle,
    attempt,
    compared: () => compared,
    revoke: (key: string) => revoked.add(key),
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
    expect(await right('192.0.2.1')).toMatchObject(passed)
  })

  it('begins anew after the wait', async () => {
    const { wrongTimes, clock } = startThrottle()
    for (let round = 0; round < 3; round++) {
      expect(await wrongTimes('192.0.2.1', 20)).toEqual(Array(20).fill(undefined))
      expect(await wrongTimes('192.0.2.1', 2)).toEqual(Array(2).fill({ retryAfterMs: 60_000 }))
      clock.ms += 60_000
    }
  })

  it('bears fewer wrong keys than that for ever', async () => {
    const { wrong, clock } = startThrottle()
    for (let minute = 0; minute < 60; minute++) {
      for (let time = 0; time < 10; time++) expect(await wrong('192.0.2.1')).toBeUndefined()
      clock.ms += 60_000
    }
  })

  it('goes on serving the very key that was right from there, and compares no other one', async () => {
    const { attempt, wrongTimes, right, compared } = startThrottle()
    await right('192.0.2.1')
    await wrongTimes('192.0.2.1', 20)
    const before = compared()
    expect(await right('192.0.2.1')).toMatchObject(passed)
    expect(compared()).toBe(before + 1)
    expect(await right('192.0.2.1', 'two')).toEqual({ retryAfterMs: 60_000 })
    // Another key of the same project, right too.
    expect(await attempt('192.0.2.1', 'one', 'right again')).toEqual({ retryAfterMs: 60_000 })
    // The same text, cut into project and key elsewhere.
    expect(await attempt('192.0.2.1', 'oner', 'ight')).toEqual({ retryAfterMs: 60_000 })
    expect(compared()).toBe(before + 1)
  })

  it('compares a key once in a wait that was right and is wrong by now', async () => {
    const { attempt, wrongTimes, compared, revoke } = startThrottle()
    await attempt('192.0.2.1', 'one', 'right until revoked')
    await wrongTimes('192.0.2.1', 20)
    revoke('right until revoked')
    const before = compared()
    expect(await attempt('192.0.2.1', 'one', 'right until revoked')).toBeUndefined()
    expect(await attempt('192.0.2.1', 'one', 'right until revoked')).toEqual({ retryAfterMs: 60_000 })
    expect(compared()).toBe(before + 1)
  })

  it('remembers a right key for an hour, counted from its last use', async () => {
    const { wrongTimes, right, clock } = startThrottle()
    await right('192.0.2.1')
    clock.ms += 3_000_000
    await right('192.0.2.1')
    clock.ms += 3_000_000
    await wrongTimes('192.0.2.1', 20)
    expect(await right('192.0.2.1')).toMatchObject(passed)
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

  it('keeps a wait while a hundred thousand other addresses fail', async () => {
    const { wrongTimes, wrong, throttle } = startThrottle()
    await wrongTimes('192.0.2.1', 20)
    for (let address = 0; address < 110_000; address++) throttle.begin(`address ${address}`, undefined)(false)
    expect(await wrong('192.0.2.1')).toEqual({ retryAfterMs: 60_000 })
  })

  it('counts nothing where the address is not known', async () => {
    const { wrong, right } = startThrottle()
    for (let time = 0; time < 50; time++) expect(await wrong(undefined)).toBeUndefined()
    expect(await right(undefined)).toMatchObject(passed)
  })
})
