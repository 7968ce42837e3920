import { expect, it } from 'vitest'
import { formatSpans, joinSpans, parseSpans } from './blockSpans.ts'

const spansOf = (...numbers: readonly number[]) => numbers.map(number => ({ from: number, to: number }))

it('joins spans that overlap or follow each other, in any order', () => {
  expect(joinSpans([...spansOf(9, 3, 4), { from: 4, to: 6 }, ...spansOf(5)])).toEqual([
    { from: 3, to: 6 },
    { from: 9, to: 9 }
  ])
  expect(joinSpans([])).toEqual([])
})

it('keeps the newest spans apart, and joins the oldest with the blocks between them', () => {
  const many = spansOf(...Array.from({ length: 18 }, (_, i) => 10 * i))
  const joined = joinSpans(many)
  expect(joined).toHaveLength(16)
  expect(joined.slice(0, 2)).toEqual([
    { from: 0, to: 20 },
    { from: 30, to: 30 }
  ])
  expect(joined.at(-1)).toEqual(many.at(-1))
})

it('reads what it writes', () => {
  const spans = [
    { from: 7, to: 7 },
    { from: 10, to: 12 }
  ]
  expect(formatSpans(spans)).toBe('7 10-12')
  expect(parseSpans('7 10-12')).toEqual(spans)
})
