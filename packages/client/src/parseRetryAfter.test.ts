import { expect, test } from 'vitest'
import { parseRetryAfter } from './parseRetryAfter.ts'

const nowMs = Date.parse('2026-11-21T10:00:00Z')

test.each([
  ['0', 0],
  ['7', 7_000],
  [' 120 ', 120_000],
  ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ['Sat, 21 Nov 2026 10:00:30 GMT', 30_000],
  ['Saturday, 21-Nov-26 10:01:00 GMT', 60_000],
  ['Sat, 21 Nov 2026 09:00:00 GMT', 0]
])('reads %j as %d ms', (header, expected) => {
  expect(parseRetryAfter(header, nowMs)).toBe(expected)
})

test.each([undefined, '', '-5', '1.5', '10s', '2026-11-21', 'soon', 'Sometime next week'])(
  'takes %j for no statement',
  header => {
    expect(parseRetryAfter(header, nowMs)).toBeUndefined()
  }
)
