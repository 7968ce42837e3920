import { expect, it } from 'vitest'
import { chooseStart } from './chooseStart.ts'

it('begins at block 0 on a small chain', () => {
  const start = chooseStart({ head: 999, oldestBlock: 0, olderHistory: 'ots', blockMs: 2 })
  expect(start).toEqual({
    settings: { startBlock: 0 },
    why: ['The index begins at block 0: 1,000 blocks, a minute or so at the speed of this node.']
  })
})

it('begins at the oldest block of a pruned node, and says what is lost', () => {
  const { settings, why } = chooseStart({
    head: 99_999,
    oldestBlock: 50_000,
    olderHistory: 'none',
    blockMs: 100
  })
  expect(settings).toEqual({ startBlock: 50_000 })
  expect(why[0]).toContain('50,000 blocks, about 5 minutes')
  expect(why[1]).toContain('dropped its blocks below 50000')
})

it('begins at the newest block of a big chain, and reads older history from the node where it can', () => {
  const big = { head: 21_999_999, oldestBlock: 0, blockMs: 80 }
  const deep = chooseStart({ ...big, olderHistory: 'ots' })
  expect(deep.settings).toEqual({ startBlock: 'latest', deepHistory: 'node' })
  expect(deep.why[0]).toContain('it would read 22,000,000 blocks, about 31 hours at the speed of this node')
  expect(deep.whole?.startBlock).toBe(0)
  const fromState = chooseStart({ ...big, olderHistory: 'state' })
  expect(fromState.settings).toEqual({ startBlock: 'latest', deepHistory: 'node' })
  expect(fromState.why[1]).toContain('all but receipts of no value that log nothing')
  const plain = chooseStart({ ...big, olderHistory: 'none' })
  expect(plain.settings).toEqual({ startBlock: 'latest' })
  expect(plain.why[1]).toContain(
    'Older history is not shown, nor tokens that were received before: this node'
  )
  const pruned = chooseStart({ ...big, oldestBlock: 1_000, olderHistory: 'ots' })
  expect(pruned.settings).toEqual({ startBlock: 'latest' })
  expect(pruned.why[2]).toContain('dropped its blocks below 1000')
})

it('begins at the newest block where nothing is known of older ones', () => {
  const { settings, why } = chooseStart({ head: 9, olderHistory: 'none' })
  expect(settings).toEqual({ startBlock: 'latest' })
  expect(why[0]).toContain('it is not known which older blocks the node has')
})
