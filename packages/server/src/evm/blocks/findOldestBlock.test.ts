import { expect, it } from 'vitest'
import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { findOldestBlock } from './findOldestBlock.ts'

/** A node whose blocks have a transaction each, but for those that `isEmpty`. */
function nodeOf(kept: {
  readonly blocksFrom?: number
  readonly receiptsFrom?: number
  readonly isEmpty?: (height: number) => boolean
}) {
  const { blocksFrom = 0, receiptsFrom = 0, isEmpty = () => false } = kept
  const requests: number[] = []
  const pruned = new NodeRpcError('pruned history unavailable (4444)', 4444, undefined, {
    nodeMessage: 'missingData'
  })
  const node: Pick<EvmNode, 'batch'> = {
    async batch(calls) {
      if (calls.length > 0) requests.push(calls.length)
      return calls.map(({ method, params: [subject] }) => {
        const height = Number(subject)
        if (method === 'eth_getTransactionReceipt') {
          return { ok: true, value: height < receiptsFrom ? null : {} }
        }
        if (height > 0 && height < blocksFrom) return { ok: false, error: pruned }
        return { ok: true, value: { transactions: isEmpty(height) ? [] : [String(subject)] } }
      })
    }
  }
  return { node, requests }
}

it.each([0, 1, 2, 3, 17, 20_000_000])('a node that has dropped nothing up to block %i', async head => {
  const { node, requests } = nodeOf({})
  expect(await findOldestBlock(node, head)).toBe(0)
  expect(requests.length).toBeLessThanOrEqual(2)
})

it.each([2, 3, 4, 5, 16, 17, 18, 99, 15_537_393, 19_999_999, 20_000_000])(
  'blocks or receipts dropped below block %i',
  async from => {
    const head = Math.max(100, from > 100 ? 20_000_000 : 0)
    for (const kept of [{ blocksFrom: from }, { receiptsFrom: from }]) {
      const { node, requests } = nodeOf(kept)
      expect(await findOldestBlock(node, head)).toBe(from)
      expect(requests.length).toBeLessThanOrEqual(16)
      expect(Math.max(...requests)).toBeLessThanOrEqual(16)
    }
  }
)

it('dropped receipts of a chain whose first blocks are empty', async () => {
  const { node } = nodeOf({ receiptsFrom: 15_537_394, isEmpty: height => height < 46_147 })
  expect(await findOldestBlock(node, 20_000_000)).toBe(15_537_394)
})

it('a method that the node refuses is no dropped block', async () => {
  const error = new NodeRpcError('eth_getBlockByNumber: no (-32601)', -32601, undefined)
  const refusing = { batch: async () => [{ ok: false as const, error }] }
  await expect(findOldestBlock(refusing, 100)).rejects.toThrow(error)
})
