import { expect, it } from 'vitest'
import { createHistogram } from './figures.ts'

it('counts each measurement once, under the smallest bound that holds it', () => {
  const histogram = createHistogram([1, 5])
  const before = histogram.read()
  for (const value of [0, 1, 1.5, 5, 5.5, 100]) histogram.note(value)
  expect(histogram.read()).toEqual({ counts: [2, 2, 2], sum: 113 })
  expect(before).toEqual({ counts: [0, 0, 0], sum: 0 })
})
