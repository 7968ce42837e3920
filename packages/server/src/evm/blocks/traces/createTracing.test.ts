import type { IndexedBlock } from '@chain-data/index'
import { expect, it } from 'vitest'
import type { EvmNode } from '../../../nodes/evm/nodeCall.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { createTracing } from './createTracing.ts'

const address = (digit: string) => `0x${digit.repeat(40)}` as const
const hash = (digit: string) => `0x${digit.repeat(64)}` as const
const [a, b, c] = [address('a'), address('b'), address('c')]

const transaction = {
  ...{ hash: hash('1'), from: a, to: b, value: 7n, data: '0x' as const, gasLimit: 0n, nonce: 0n, type: 0 },
  ...{ blockNumber: 5, index: 0, timestampSeconds: 9, status: 3 as const },
  ...{ gasPrice: 0n, gasSpent: 0n, feeWei: 0n }
}
const block: IndexedBlock = {
  ...{ ref: { number: 5, hash: hash('5') }, parentHash: hash('4'), timestampSeconds: 9 },
  transactions: [
    { transaction, parties: [a, b], candidates: [] },
    { transaction: { ...transaction, hash: hash('2'), index: 1 }, parties: [a, b], candidates: [] }
  ],
  events: [
    { address: c, events: [{ kind: 'withdrawal', amount: 1n }] },
    { address: b, events: [{ kind: 'tip', amount: 2n }] }
  ]
}

const step = (transactionHash: string, traceAddress: readonly number[], action: object) => ({
  ...{ blockHash: hash('5'), transactionHash, traceAddress, type: 'call', result: {} },
  action: { callType: 'call', ...action }
})
const traces = [
  step(hash('1'), [], { from: a, to: b, value: '0x7' }),
  step(hash('1'), [0], { from: b, to: c, value: '0x3' }),
  step(hash('1'), [1], { from: b, to: a, value: '0x4' }),
  step(hash('2'), [], { from: a, to: b, value: '0x7' }),
  { blockHash: hash('5'), type: 'reward', action: { author: b, value: '0x8' } }
]

it('adds internal transfers with their parties, and joins the events of an account', async () => {
  const node = { attempt: (_: string, ask: () => unknown) => ask(), request: async () => traces }
  const rpc = { onOneNode: (_: string, work: (node: EvmNode) => unknown) => work(node as unknown as EvmNode) }
  const addTraces = createTracing({ rpc: rpc as unknown as EvmUpstreams, mode: 'on' })
  const before = structuredClone(block)
  const [first, second] = block.transactions
  expect(await addTraces(block, true)).toEqual({
    ...block,
    isTraced: true,
    transactions: [
      {
        ...first,
        parties: [a, b, c],
        internal: [
          { kind: 'call', from: b, to: c, value: 3n },
          { kind: 'call', from: b, to: a, value: 4n }
        ]
      },
      { ...second, internal: [] }
    ],
    events: [
      { address: c, events: [{ kind: 'withdrawal', amount: 1n }] },
      {
        address: b,
        events: [
          { kind: 'tip', amount: 2n },
          { kind: 'reward', amount: 8n }
        ]
      }
    ]
  })
  expect(block).toEqual(before)
})
