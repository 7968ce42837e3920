import { expect, test } from 'vitest'
import { parseCoverage } from './parseCoverage.ts'

test('every chain of the header is read, with what is known of it', () => {
  expect(
    parseCoverage('31337;from=0;to=128;transfers=0;internal=7;deep=none, 1;from=5;to=9;deep=node,10')
  ).toEqual([
    { chainId: 31337, from: 0, to: 128, transfersFrom: 0, internalFrom: 7, deepHistory: 'none' },
    { chainId: 1, from: 5, to: 9, deepHistory: 'node' },
    { chainId: 10 }
  ])
})

test('what history from old states lacks is read, and from where on it is known', () => {
  const header = '1;from=90;to=99;deep-from=40;deep=state;lacks=zero-value-receipts;reason=delegated'
  expect(parseCoverage(`${header}, 2;from=90;to=99;deep=none;reason=contract`)).toEqual([
    {
      ...{ chainId: 1, from: 90, to: 99, deepFrom: 40 },
      ...{ deepHistory: 'state', lacks: 'zero-value-receipts', reason: 'delegated' }
    },
    { chainId: 2, from: 90, to: 99, deepHistory: 'none', reason: 'contract' }
  ])
})

test('blocks with a part unknown are read', () => {
  expect(parseCoverage('25;from=0;to=30;unknown="7 20-22";deep=none, 1;unknown=""')).toEqual([
    {
      ...{ chainId: 25, from: 0, to: 30, deepHistory: 'none' },
      unknownBlocks: [
        { from: 7, to: 7 },
        { from: 20, to: 22 }
      ]
    },
    { chainId: 1, unknownBlocks: [] }
  ])
})

test('what a newer host adds is passed over, and so is what is no height', () => {
  expect(parseCoverage('1;from=3;pool;x-new=word;deep=archive;to=-4;internal=a')).toEqual([
    { chainId: 1, from: 3 }
  ])
  expect(parseCoverage('1;constructor=1;__proto__=2')).toEqual([])
})

test.each([null, undefined, '', 'x', '1,', '1;;to=2', '1; to=2, "a"', '1.5', '1;to=12345678901234567', '-1'])(
  'nothing is told by %j',
  header => {
    expect(parseCoverage(header)).toEqual([])
  }
)
