import { describe, expect, it } from 'vitest'
import { NodeContradictionError } from '../../../platform/errors.ts'
import type { TraceableBlock } from './frames.ts'
import { readTraceBlock } from './readTraceBlock.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}` as const
const [a, b, c] = ['a', 'b', 'c'].map(digit => `0x${digit.repeat(40)}` as const) as [
  `0x${string}`,
  `0x${string}`,
  `0x${string}`
]

const block: TraceableBlock = {
  ref: { number: 5, hash: hash('5') },
  transactions: [
    { hash: hash('1'), from: a, to: b, value: 7n, status: 3 },
    { hash: hash('2'), from: a, value: 0n, status: 3 }
  ]
}

const entry = (transactionHash: string, traceAddress: unknown, change: object = {}) => ({
  ...{
    blockHash: hash('5'),
    blockNumber: 5,
    transactionHash,
    transactionPosition: 0,
    traceAddress,
    subtraces: 0
  },
  type: 'call',
  action: { callType: 'call', from: a, to: b, value: '0x7', gas: '0x0', input: '0x' },
  result: { gasUsed: '0x0', output: '0x' },
  ...change
})
const creation = (change: object = {}) =>
  entry(hash('2'), [], {
    type: 'create',
    action: { from: a, value: '0x0', init: '0x', gas: '0x0' },
    result: { address: c, code: '0x60', gasUsed: '0x0' },
    ...change
  })
const sound = [
  entry(hash('1'), []),
  entry(hash('1'), [0], { action: { callType: 'delegatecall', from: b, to: c, value: '0x7' } }),
  entry(hash('1'), [0, 0], { action: { callType: 'staticcall', from: b, to: c, value: '0x0' } }),
  entry(hash('1'), [2], {
    type: 'suicide',
    action: { address: b, refundAddress: c, balance: '0x9' },
    result: null
  }),
  entry(hash('1'), [10], { error: 'Reverted', result: undefined }),
  creation()
]

describe('readTraceBlock', () => {
  const expected = [
    [
      { kind: 'call', depth: 0, from: a, to: b, value: 7n },
      { kind: 'delegate', depth: 1, from: b, to: c, value: 0n },
      { kind: 'call', depth: 2, from: b, to: c, value: 0n },
      { kind: 'selfdestruct', depth: 1, from: b, to: c, value: 9n },
      { kind: 'call', depth: 1, from: a, to: b, value: 7n, error: 'Reverted' }
    ],
    [{ kind: 'create', depth: 0, from: a, to: c, value: 0n, isEmpty: false }]
  ]

  it('reads the steps of each transaction in their order', () => {
    expect(readTraceBlock(sound, block)).toEqual({ frames: expected, rewards: new Map() })
  })

  it('needs no order of the list', () => {
    for (let turn = 1; turn < sound.length; turn++) {
      const turned = [...sound.slice(turn), ...sound.slice(0, turn)]
      expect(readTraceBlock(turned, block).frames).toEqual(expected)
      expect(readTraceBlock(turned.toReversed(), block).frames).toEqual(expected)
    }
  })

  it('sums what the block pays to each account', () => {
    const reward = (author: string, value: string) => ({
      ...{ blockHash: hash('5'), type: 'reward', traceAddress: [], transactionHash: null },
      action: { author, value, rewardType: 'block' }
    })
    const { rewards } = readTraceBlock(
      [...sound, reward(a, '0x2'), reward(b, '0x3'), reward(a.toUpperCase().replace('X', 'x'), '0x5')],
      block
    )
    expect(rewards).toEqual(
      new Map([
        [a, 7n],
        [b, 3n]
      ])
    )
  })

  it('takes the address of a failed creation from nobody', () => {
    const failed = creation({ error: 'Reverted', result: { address: c, code: '0x60' } })
    expect(readTraceBlock([...sound.slice(0, -1), failed], block).frames[1]).toEqual([
      { kind: 'create', depth: 0, from: a, value: 0n, error: 'Reverted' }
    ])
  })

  const only = (changed: unknown) => [entry(hash('1'), []), changed, creation()]
  it.each<[string, unknown, RegExp]>([
    ['no list', null, /traces is null; expected a list/],
    ['nothing for a block of two transactions', [], /the trace of 0x1+ is missing/],
    ['nothing for one of them', [creation()], /the trace of 0x1+ is missing/],
    [
      'another block',
      only(entry(hash('1'), [0], { blockHash: hash('6') })),
      /trace 1 is of block 0x6+, not 0x5/
    ],
    ['no block', only(entry(hash('1'), [0], { blockHash: undefined })), /trace 1: blockHash is nothing/],
    ['another transaction', only(entry(hash('3'), [])), /traces of 3 transactions, but it has 2/],
    ['no transaction', only(entry('', [0])), /trace 1: transactionHash/],
    ['no entry', only(7), /trace 1 is 7; expected an object/],
    ['a transaction twice', only(entry(hash('1'), [])), /step \[\] of 0 twice/],
    ['a step twice', [...only(entry(hash('1'), [0])), entry(hash('1'), [0])], /step \[0\] of 1 twice/],
    ['a step inside nothing', only(entry(hash('1'), [0, 0])), /has not the step around step \[0,0\] of 2/],
    ['only steps inside', [entry(hash('1'), [0]), creation()], /has no beginning/],
    ['no place', only(entry(hash('1'), undefined)), /traceAddress is nothing/],
    ['a place that is none', only(entry(hash('1'), [-1])), /traceAddress is -1/],
    ['more depth than the EVM has', only(entry(hash('1'), Array(2_000).fill(0))), /nested 2000 deep/],
    ['a step of no known type', only(entry(hash('1'), [0], { type: 'mint' })), /type "mint"/],
    [
      'a call of no known type',
      only(entry(hash('1'), [0], { action: { callType: 'constructor', from: a, to: b, value: '0x1' } })),
      /callType "constructor"/
    ],
    [
      'a call of no type',
      only(entry(hash('1'), [0], { action: { from: a, to: b, value: '0x1' } })),
      /callType nothing/
    ],
    ['neither result nor error', only(entry(hash('1'), [0], { result: null })), /neither result nor error/],
    [
      'a value that is none',
      only(entry(hash('1'), [0], { action: { callType: 'call', from: a, to: b, value: '12' } })),
      /value is "12"/
    ],
    [
      'no value',
      only(entry(hash('1'), [0], { action: { callType: 'call', from: a, to: b } })),
      /value is nothing/
    ],
    [
      'no receiver',
      only(entry(hash('1'), [0], { action: { callType: 'call', from: a, value: '0x1' } })),
      /to is nothing/
    ],
    [
      'a created contract without address',
      [entry(hash('1'), []), creation({ result: { code: '0x' } })],
      /address is nothing/
    ]
  ])('refuses %s', (_, raw, message) => {
    expect(() => readTraceBlock(raw, block)).toThrow(NodeContradictionError)
    expect(() => readTraceBlock(raw, block)).toThrow(message)
  })
})
