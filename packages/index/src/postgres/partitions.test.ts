import { describe, expect, test } from 'vitest'
import { partitionBlocks } from './partitions.ts'

const sizes = { smallest: 2_000_000, largest: 16_000_000 }
const million = 1_000_000

describe('a partition takes as many blocks as are expected to fill it', () => {
  test.each([
    ['the smallest size while little is stored', { transactions: 0, blocks: 0, density: 200 }, 10_000],
    ['an eighth of what is stored', { transactions: 40 * million, blocks: 400_000, density: 100 }, 50_000],
    [
      'the largest size at most',
      { transactions: 2_900 * million, blocks: 24 * million, density: 200 },
      80_000
    ],
    ['one block at least', { transactions: 0, blocks: 5, density: 60_000_000 }, 1],
    ['part of a block more than it needs', { transactions: 0, blocks: 0, density: 150 }, 13_334]
  ])('%s', (_, stored, blocks) => {
    expect(partitionBlocks(stored, sizes)).toBe(blocks)
  })

  test.each([
    ['a young chain without transactions', { transactions: 0, blocks: 0, density: 0 }, 65_536],
    ['a young chain with few', { transactions: 10, blocks: 1_000, density: 0.01 }, 65_536],
    [
      'an old chain with few: an eighth of its blocks',
      { transactions: 10, blocks: 8 * million, density: 0.01 },
      million
    ]
  ])('bounded where too few transactions come to tell, as in %s', (_, stored, blocks) => {
    expect(partitionBlocks(stored, sizes)).toBe(blocks)
  })
})
