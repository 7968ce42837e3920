import { afterEach, expect, test, vi } from 'vitest'
import { metadataBudget } from './MethodContext.ts'

afterEach(() => {
  vi.useRealTimers()
})

test('the wait for metadata never takes more than half of what is left of a call', () => {
  vi.useFakeTimers({ now: 1_000_000 })
  expect(metadataBudget(3_000, 1_025_000)).toBe(3_000)
  expect(metadataBudget(3_000, 1_002_000)).toBe(1_000)
  expect(metadataBudget(3_000, 999_000)).toBe(0)
})
