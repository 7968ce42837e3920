import { expect, it } from 'vitest'
import { coverageHeader } from './coverageHeader.ts'

const headerOf = (...told: Parameters<typeof coverageHeader>) =>
  coverageHeader(...told)['x-chain-data-coverage']

it('says what is known of a chain, and leaves out what is not', () => {
  expect(
    headerOf([
      { chainId: 31337, from: 0, to: 128, transfersFrom: 0, internalFrom: 7, deepHistory: 'none' },
      { chainId: 1, from: 5, to: 5, deepHistory: 'node' },
      { chainId: 10 }
    ])
  ).toBe('31337;from=0;to=128;transfers=0;internal=7;deep=none, 1;from=5;to=5;deep=node, 10')
})

it('is no header where nothing was told', () => {
  expect([coverageHeader(), coverageHeader([])]).toEqual([{}, {}])
})

it.each([10 ** 15, -1, 1.5, Number.NaN])(
  'leaves out a chain with %s, which such a header cannot hold',
  number => {
    expect(coverageHeader([{ chainId: number }])).toEqual({})
    expect(headerOf([{ chainId: 1, from: 0, to: number }, { chainId: 2 }])).toBe('2')
    expect(headerOf([{ chainId: 10 ** 15 - 1 }])).toBe('999999999999999')
  }
)
