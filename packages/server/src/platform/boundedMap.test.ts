import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { BoundedMap } from './boundedMap.ts'

test('forgets what was used longest ago', () => {
  const map = new BoundedMap<string, number>(2)
  map.set('a', 1)
  map.set('b', 2)
  map.get('a')
  map.set('c', 3)
  expect([map.get('a'), map.get('b'), map.get('c')]).toEqual([1, undefined, 3])
})

test('counts weights, also when an entry is replaced or deleted', () => {
  const map = new BoundedMap<string, number>(10)
  map.set('a', 1, 6)
  map.set('a', 2, 4)
  map.set('b', 3, 6)
  expect([map.get('a'), map.get('b'), map.size]).toEqual([2, 3, 2])
  map.delete('a')
  map.set('c', 4, 4)
  expect([map.get('b'), map.get('c')]).toEqual([3, 4])
})

test('does not keep an entry heavier than the whole, nor its older value', () => {
  const map = new BoundedMap<string, number>(10)
  map.set('a', 1)
  map.set('b', 2)
  map.set('a', 3, 11)
  expect([map.get('a'), map.get('b')]).toEqual([undefined, 2])
})

test('goes on forgetting in order of use after it was emptied, and however many entries come', () => {
  const map = new BoundedMap<number, number>(3)
  for (let i = 0; i < 10; i++) map.set(i, i)
  for (let i = 0; i < 10; i++) map.delete(i)
  expect(map.size).toBe(0)
  for (let i = 20; i < 30; i++) {
    map.set(i, i)
    map.get(20)
  }
  expect([20, 27, 28, 29].map(key => map.get(key))).toEqual([20, undefined, 28, 29])
})

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

function heldBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

test.each([
  ['replaced', (map: BoundedMap<string, number>, value: number) => map.set('a', value)],
  [
    'deleted and set again',
    (map: BoundedMap<string, number>, value: number) => {
      map.delete('a')
      map.set('a', value)
    }
  ]
])('holds no memory for entries that were %s, before and after it has forgotten some', (_how, change) => {
  const map = new BoundedMap<string, number>(3)
  const changeOften = () => {
    for (let value = 0; value < 300_000; value++) change(map, value)
  }
  changeOften()
  for (const key of ['b', 'c', 'd', 'e', 'f']) map.set(key, 0)
  for (const key of ['d', 'e', 'f']) map.delete(key)
  const before = heldBytes()
  changeOften()
  expect(heldBytes() - before).toBeLessThan(5_000_000)
})
