import { expect, test } from 'vitest'
import { MetadataError } from '../../platform/errors.ts'
import { createHostHealth } from './hostHealth.ts'

const failure = (reason: string, context: { status?: number; retryAfterMs?: number } = {}) =>
  new MetadataError('failed', { reason, ...context })

function create() {
  let time = 0
  return {
    health: createHostHealth(() => time),
    at: (ms: number) => {
      time = ms
    }
  }
}

test('four failures in a row put a host last for a minute, one more failure afterwards again', () => {
  const { health, at } = create()
  for (let i = 0; i < 3; i++) health.failed('a', failure('TIMEOUT'), 'https://a/1')
  expect(health.isLast('a')).toBe(false)
  health.failed('a', failure('TIMEOUT'), 'https://a/1')
  expect([health.isLast('a'), health.isLast('b')]).toEqual([true, false])
  at(59_999)
  expect(health.isLast('a')).toBe(true)
  at(60_000)
  expect(health.isLast('a')).toBe(false)
  health.failed('a', failure('CONNECT'), 'https://a/1')
  expect(health.isLast('a')).toBe(true)
})

test('being overtaken counts as a failure, an answer against it', () => {
  const { health } = create()
  for (let i = 0; i < 20; i++) {
    health.overtaken('a')
    health.succeeded('a')
  }
  expect(health.isLast('a')).toBe(false)
  for (let i = 0; i < 4; i++) health.overtaken('a')
  expect(health.isLast('a')).toBe(true)
})

test('"not found" and our own troubles do not count', () => {
  const { health } = create()
  for (let i = 0; i < 20; i++) {
    for (const status of [404, 410, 403]) health.failed('a', failure('STATUS', { status }), 'https://a/1')
    for (const reason of ['BUSY', 'ABORTED']) health.failed('a', failure(reason), 'https://a/1')
    health.failed('a', new Error('a bug'), 'https://a/1')
  }
  expect(health.isLast('a')).toBe(false)
})

const awake = (health: ReturnType<typeof createHostHealth>, url: string) => {
  try {
    health.requireAwake('a', url)
    return true
  } catch (error) {
    expect(error).toMatchObject({ context: { reason: 'STATUS', status: 429 } })
    return false
  }
}

test.each([
  [{ status: 429 }, 10_000],
  [{ status: 429, retryAfterMs: 90_000 }, 90_000],
  [{ status: 503, retryAfterMs: 5_000 }, 5_000],
  [{ status: 429, retryAfterMs: 1e12 }, 600_000]
])('after %j a URL is left alone for %d ms, and no other one of its host', (context, pauseMs) => {
  const { health, at } = create()
  for (let time = 0; time < 3; time++) health.failed('a', failure('STATUS', context), 'https://a/1')
  at(pauseMs - 1)
  expect([awake(health, 'https://a/1'), awake(health, 'https://a/2')]).toEqual([false, true])
  expect(health.isLast('a')).toBe(false)
  at(pauseMs)
  expect(awake(health, 'https://a/1')).toBe(true)
})

test('a host rests that answers 429 for several URLs, ever longer until it serves one, never longer than it asked', () => {
  const { health, at } = create()
  let nowMs = 0
  let path = 0
  const throttled = (retryAfterMs: number) =>
    health.failed('a', failure('STATUS', { status: 429, retryAfterMs }), `https://a/${path++}`)
  const restMs = () => {
    const fromMs = nowMs
    for (; !awake(health, 'https://a/another'); at(nowMs)) nowMs += 1_000
    return nowMs - fromMs
  }
  throttled(90_000)
  expect(restMs()).toBe(0)
  const rests = Array.from({ length: 5 }, () => {
    throttled(90_000)
    return restMs()
  })
  expect(rests).toEqual([10_000, 20_000, 40_000, 80_000, 90_000])
  health.succeeded('a')
  throttled(90_000)
  expect(restMs()).toBe(0)
  throttled(5_000)
  expect(restMs()).toBe(5_000)
})
