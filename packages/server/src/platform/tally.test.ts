import { expect, it } from 'vitest'
import { createTally } from './tally.ts'

it('counts each measurement once, under the smallest bound that holds it', () => {
  const tally = createTally([1, 5])
  const before = tally.read()
  for (const value of [0, 1, 1.5, 5, 5.5, 100]) tally.note(value)
  expect(tally.read()).toEqual({ counts: [2, 2, 2], sum: 113 })
  expect(before).toEqual({ counts: [0, 0, 0], sum: 0 })
})
