import { expect, test } from 'vitest'
import { inTurns } from './inTurns.ts'

test('owners take turns, in the order of their items', () => {
  const items = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']
  expect(inTurns(items, item => item.charAt(0))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(inTurns([], item => item)).toEqual([])
})
