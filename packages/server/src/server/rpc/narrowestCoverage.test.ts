import { expect, it } from 'vitest'
import type { AnswerCoverage } from '../../model/coverage.ts'
import { narrowestCoverage } from './narrowestCoverage.ts'

const whole: AnswerCoverage = { chainId: 1, from: 0, to: 9, transfersFrom: 0, internalFrom: 3 }

it('names each chain once, in the order of their ids', () => {
  const other = { chainId: 10, from: 1, to: 2 }
  expect(narrowestCoverage([other, whole, other, whole])).toEqual([whole, other])
})

it.each<[string, Partial<AnswerCoverage>, Partial<AnswerCoverage>]>([
  ['a head that moved', { to: 12 }, {}],
  ['a head that was rolled back', { to: 4 }, { to: 4 }],
  ['an index that begins later', { from: 2, deepHistory: 'node' }, { from: 2, deepHistory: 'node' }],
  ['transfers that are known later', { transfersFrom: 4 }, { transfersFrom: 4 }],
  ['traces that are known earlier', { internalFrom: 0 }, {}],
  ['nobody below', { deepHistory: 'none' }, { deepHistory: 'none' }]
])('says no more than both do: %s', (_what, change, expected) => {
  const changed = { ...whole, ...change }
  expect(narrowestCoverage([whole, changed])).toEqual([{ ...whole, ...expected }])
  expect(narrowestCoverage([changed, whole])).toEqual([{ ...whole, ...expected }])
})

it('knows nothing that one of them does not know', () => {
  expect(narrowestCoverage([whole, { chainId: 1 }])).toEqual([{ chainId: 1 }])
  expect(narrowestCoverage([whole, { chainId: 1, from: 20, to: 30 }])).toEqual([{ chainId: 1 }])
})
