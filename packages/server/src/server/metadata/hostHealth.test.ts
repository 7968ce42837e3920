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
  for (let i = 0; i < 3; i++) health.failed('a', failure('TIMEOUT'))
  expect(health.isLast('a')).toBe(false)
  health.failed('a', failure('TIMEOUT'))
  expect([health.isLast('a'), health.isLast('b')]).toEqual([true, false])
  at(59_999)
  expect(health.isLast('a')).toBe(true)
  at(60_000)
  expect(health.isLast('a')).toBe(false)
  health.failed('a', failure('CONNECT'))
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
    for (const status of [404, 410, 403]) health.failed('a', failure('STATUS', { status }))
    for (const reason of ['BUSY', 'ABORTED']) health.failed('a', failure(reason))
    health.failed('a', new Error('a bug'))
  }
  expect(health.isLast('a')).toBe(false)
})

test.each([
  [{ status: 429 }, 10_000],
  [{ status: 429, retryAfterMs: 90_000 }, 90_000],
  [{ status: 503, retryAfterMs: 5_000 }, 5_000],
  [{ status: 429, retryAfterMs: 1e12 }, 600_000]
])('after %j a host is left alone for %d ms', (context, pauseMs) => {
  const { health, at } = create()
  health.failed('a', failure('STATUS', context))
  at(pauseMs - 1)
  expect(() => health.requireAwake('a')).toThrow(
    expect.objectContaining({ context: { reason: 'STATUS', status: 429 } })
  )
  expect(health.isLast('a')).toBe(true)
  at(pauseMs)
  expect(() => health.requireAwake('a')).not.toThrow()
})
