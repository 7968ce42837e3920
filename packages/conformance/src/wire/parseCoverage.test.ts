import { expect, it } from 'vitest'
import { parseCoverage } from './parseCoverage.ts'

it('reads chains with their parameters, also parameters that nobody knows yet', () => {
  expect(parseCoverage('31337;from=0;to=128;deep=none, 8453;to=-1;new')).toEqual([
    { chainId: 31337, parameters: { from: 0, to: 128, deep: 'none' } },
    { chainId: 8453, parameters: { to: -1, new: '?1' } }
  ])
})

it.each([
  '',
  'none',
  '31337;',
  '31337;From=0',
  '31337;from=',
  '31337;from="0"',
  '31337 from=0',
  '1;to=1,',
  '1.5'
])('refuses %j', text => {
  expect(parseCoverage(text)).toBeUndefined()
})
