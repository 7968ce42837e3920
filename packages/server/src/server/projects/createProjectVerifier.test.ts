import { describe, expect, it } from 'vitest'
import { createLogger } from '../../platform/logger.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { VerifiedProject, VerifyLimits, VerifyProject } from './createProjectVerifier.ts'
import { createProjectVerifier } from './createProjectVerifier.ts'

const credentials = { projectId: 'demo', key: 'top-secret', origin: undefined }

function start(verifyProject: VerifyProject, limits: VerifyLimits = {}) {
  const lines: string[] = []
  const logger = createLogger({ level: 'debug', write: line => lines.push(line) })
  const clock = { ms: 0 }
  const verifier = createProjectVerifier(verifyProject, { limits, logger, now: () => clock.ms })
  return { verifier, clock, lines }
}

/** A host that counts what it is asked, and answers when it is told to. */
function countingHost() {
  const asked: Parameters<VerifyProject>[0][] = []
  const host = {
    asked,
    answer: { projectId: 'demo' } as VerifiedProject | undefined,
    verify: async (question: Parameters<VerifyProject>[0]) => {
      asked.push(question)
      return host.answer
    }
  }
  return host
}

describe('what a host verifies', () => {
  it.each<[string, VerifiedProject | undefined | null, object | undefined]>([
    ['a server key', { projectId: 'demo' }, { projectId: 'demo', kind: 'server' }],
    [
      'a client key',
      { projectId: 'demo', origins: ['https://a.example'] },
      { projectId: 'demo', kind: 'client', origins: ['https://a.example'] }
    ],
    [
      'another name for the quota',
      { projectId: 'account 7', rateLimit: false },
      { projectId: 'account 7', kind: 'server', rateLimit: false }
    ],
    [
      'no quota of its own, as a database has it',
      { projectId: 'demo', rateLimit: null },
      { projectId: 'demo', kind: 'server' }
    ],
    ['wrong credentials', undefined, undefined],
    ['what a database has not found', null, undefined]
  ])('becomes the caller: %s', async (_what, answer, caller) => {
    expect(await start(async () => answer).verifier.verify(credentials)).toEqual(caller)
  })

  it('is asked with project, key, origin and a signal, and not about what no database has', async () => {
    const host = countingHost()
    const { verifier } = start(host.verify)
    await verifier.verify({ projectId: 'grüße', key: 'schlüssel:1', origin: 'https://a.example' })
    expect(host.asked).toEqual([
      { projectId: 'grüße', key: 'schlüssel:1', origin: 'https://a.example', signal: expect.any(AbortSignal) }
    ])
    for (const [projectId, key] of [
      ['', 'k'],
      ['a\0', 'k'],
      ['a', ''],
      ['a', 'k\0'],
      ['a', 'k'.repeat(513)]
    ]) {
      expect(await verifier.verify({ projectId: projectId!, key: key!, origin: undefined })).toBeUndefined()
    }
    expect(host.asked).toHaveLength(1)
  })
})

describe('a host that cannot tell', () => {
  it.each<[string, () => unknown, RegExp]>([
    [
      'throws',
      () => {
        throw new TypeError('connect to postgres://u:top-secret@db failed')
      },
      /"TypeError"/
    ],
    ['rejects with a text', () => Promise.reject('top-secret'), /threw no error/],
    ['answers a text', async () => 'demo', /no projectId; expected/],
    ['answers true', async () => true, /no projectId; expected/],
    ['answers an empty project', async () => ({ projectId: '' }), /no projectId; expected/],
    [
      'answers one origin',
      async () => ({ projectId: 'a', origins: 'https://a.example' }),
      /origins .* no list/
    ],
    [
      'answers a wrong quota',
      async () => ({ projectId: 'a', rateLimit: { burst: 0 } }),
      /rateLimit .* is none/
    ]
  ])(
    'and %s is OVERLOADED to the caller, never wrong, and an error in the log without the key',
    async (_what, answer, problem) => {
      const { verifier, lines } = start(answer as VerifyProject)
      const failure = await verifier.verify(credentials).catch((error: unknown) => error)
      expect(failure).toMatchObject({ reason: 'OVERLOADED', data: { retryAfterMs: 1_000 } })
      expect(failure).toBeInstanceOf(Refusal)
      expect(lines.join('')).toMatch(problem)
      expect(lines).toHaveLength(1)
      expect(lines.join('') + String(failure)).not.toContain('top-secret')
    }
  )

  it('many times in a row fills no log, and is told when it is over', async () => {
    let isBroken = true
    const { verifier, lines } = start(async () => {
      if (isBroken) throw new Error('away')
      return undefined
    })
    for (let time = 0; time < 9; time++) await verifier.verify(credentials).catch(() => {})
    isBroken = false
    await verifier.verify(credentials)
    await verifier.verify(credentials)
    const seen = lines.map(line => JSON.parse(line) as { msg: string; count: number })
    expect(seen.map(({ msg, count }) => [msg, count])).toEqual([
      ...[1, 2, 4, 8].map(count => ['verifyProject failed', count]),
      ['verifyProject answers again', 9]
    ])
  })

  it('in time is told to stop, and makes room for the next question', async () => {
    let signal: AbortSignal | undefined
    const hanging: VerifyProject = question => {
      signal = question.signal
      return new Promise(() => {})
    }
    let host = hanging
    const { verifier } = start(question => host(question), { timeoutMs: 20, atOnce: 1 })
    await expect(verifier.verify(credentials)).rejects.toMatchObject({ reason: 'OVERLOADED' })
    expect(signal?.aborted).toBe(true)
    host = countingHost().verify
    expect(await verifier.verify(credentials)).toBeDefined()
  })

  it('to more than so many at once is not asked by the next one, and is again afterwards', async () => {
    let answer = (_project: VerifiedProject) => {}
    const { verifier } = start(
      () =>
        new Promise(resolve => {
          answer = resolve
        }),
      { atOnce: 1 }
    )
    const first = verifier.verify(credentials)
    const same = verifier.verify(credentials)
    const other = { ...credentials, key: 'another' }
    await expect(verifier.verify(other)).rejects.toMatchObject({ reason: 'OVERLOADED' })
    answer({ projectId: 'demo' })
    expect(await first).toEqual(await same)
    const next = verifier.verify(other)
    answer({ projectId: 'demo' })
    expect(await next).toBeDefined()
  })

  it('to ever new credentials of one address is asked by others all the same', async () => {
    const answers: (() => void)[] = []
    const { verifier } = start(() => new Promise(resolve => answers.push(() => resolve(undefined))), {
      atOnce: 20
    })
    let asked = 0
    const askFrom = (address: string | undefined) =>
      verifier.verify({ ...credentials, origin: `https://${asked++}.example`, address })
    const under = [askFrom('192.0.2.1'), askFrom('192.0.2.1')]
    await expect(askFrom('192.0.2.1')).rejects.toMatchObject({ reason: 'OVERLOADED' })
    under.push(askFrom('192.0.2.2'), askFrom(undefined), askFrom(undefined), askFrom(undefined))
    expect(answers).toHaveLength(6)
    for (const answer of answers) answer()
    await Promise.all(under)
    const again = askFrom('192.0.2.1')
    answers.at(-1)?.()
    expect(await again).toBeUndefined()
  })
})

describe('a right answer', () => {
  it('is good until the time is over, counted from the question', async () => {
    const host = countingHost()
    const { verifier, clock } = start(host.verify, { cacheMs: 5_000 })
    await verifier.verify(credentials)
    host.answer = undefined
    clock.ms = 4_999
    expect(await verifier.verify(credentials)).toBeDefined()
    clock.ms = 5_000
    expect(await verifier.verify(credentials)).toBeUndefined()
    expect(host.asked).toHaveLength(2)
  })

  it('is good for the same key and origin only', async () => {
    const host = countingHost()
    const { verifier } = start(host.verify)
    await verifier.verify(credentials)
    await verifier.verify({ ...credentials, key: 'top-secret2' })
    await verifier.verify({ ...credentials, origin: 'https://a.example' })
    await verifier.verify({ ...credentials, projectId: 'demotop', key: '-secret' })
    expect(host.asked).toHaveLength(4)
  })

  it('is forgotten on demand, also one that is on its way', async () => {
    const answers: ((project: VerifiedProject) => void)[] = []
    const { verifier } = start(
      () =>
        new Promise(resolve => {
          answers.push(resolve)
        })
    )
    const early = verifier.verify(credentials)
    verifier.forget()
    // Its question may be from before, so it is not waited for.
    const meanwhile = verifier.verify(credentials)
    expect(answers).toHaveLength(2)
    answers[1]?.({ projectId: 'demo' })
    await meanwhile
    verifier.forget()
    answers[0]?.({ projectId: 'demo' })
    await early
    const late = verifier.verify(credentials)
    expect(answers).toHaveLength(3)
    answers[2]?.({ projectId: 'demo' })
    await late
  })

  it('is not kept where that is turned off, and a wrong one never is', async () => {
    for (const [answer, cacheMs] of [
      [{ projectId: 'demo' }, 0],
      [undefined, 5_000]
    ] as const) {
      const host = countingHost()
      const { verifier } = start(
        async question => {
          await host.verify(question)
          return answer
        },
        { cacheMs }
      )
      await verifier.verify(credentials)
      await verifier.verify(credentials)
      expect(host.asked).toHaveLength(2)
    }
  })
})
