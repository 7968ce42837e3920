import { expect, it } from 'vitest'
import { HeightSet } from './HeightSet.ts'

it('has each height once, newest first, whatever order they came in', () => {
  const heights = new HeightSet()
  const added = [7, 2 ** 37 - 1, 0, 32_767, 32_768, 7, 70_001, 0, 8]
  for (const height of added) heights.add(height)
  expect([...heights.newestFirst()]).toEqual([2 ** 37 - 1, 70_001, 32_768, 32_767, 8, 7, 0])
  expect(heights.size).toBe(7)
})

it('counts heights from one on', () => {
  const heights = new HeightSet()
  expect([heights.countFrom(0), heights.size]).toEqual([0, 0])
  for (let height = 10; height < 100_000; height += 10) heights.add(height)
  expect([0, 10, 11, 99_990, 99_991, undefined].map(from => heights.countFrom(from))).toEqual([
    9_999, 9_999, 9_998, 1, 0, 0
  ])
})
