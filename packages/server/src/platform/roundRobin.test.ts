import { expect, test } from 'vitest'
import { roundRobin } from './roundRobin.ts'

test('owners take turns, in the order of their items', () => {
  const items = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']
  expect(roundRobin(items, item => item.charAt(0))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  expect(roundRobin([], item => item)).toEqual([])
})
