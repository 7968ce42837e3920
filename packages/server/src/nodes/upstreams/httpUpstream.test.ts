import { afterEach, expect, test, vi } from 'vitest'
import { readRetryAfter } from './httpUpstream.ts'

afterEach(() => {
  vi.useRealTimers()
})

test.each([
  [undefined, undefined],
  ['', undefined],
  ['soon', undefined],
  ['0', 0],
  [' 120 ', 120_000],
  ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
  ['Wed, 31 Dec 2025 23:59:59 GMT', 0]
])('%j asks for %j ms', (header, waitMs) => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 1) })
  expect(readRetryAfter(header)).toBe(waitMs)
})
