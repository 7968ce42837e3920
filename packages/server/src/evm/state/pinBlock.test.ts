import type { Hash } from '@chain-data/index'
import { expect, it } from 'vitest'
import { NodeRpcError } from '../../platform/errors.ts'
import { BlockLostError, type BlockReader, confirmPinned, type PinnedBlock, pinBlock } from './pinBlock.ts'

const wanted: Hash = `0x${'a'.repeat(64)}`
const other: Hash = `0x${'b'.repeat(64)}`
const block = { number: 7, hash: wanted, timestampSeconds: 1 }
const owner = `0x${'1'.repeat(40)}` as const

/** A node that reads state of every block it has ever seen. `canonical` is what it has at height 7 now. */
function nodeThatForgetsNothing(canonical: Hash): BlockReader {
  return {
    request: async () => ({ number: '0x7', hash: canonical }),
    batch: async calls =>
      calls.map(({ method, params }) => {
        if (method === 'eth_getBlockByNumber') return { ok: true, value: { number: '0x7', hash: canonical } }
        const at = (params[1] as { blockHash?: Hash }).blockHash
        if (at === undefined || at === wanted || at === other) return { ok: true, value: '0x5' }
        return { ok: false, error: new NodeRpcError('header not found', -32000, undefined) }
      })
  }
}

it('a block is read by its hash while it is the one at its height', async () => {
  const { pinned, nativeWei } = await pinBlock(nodeThatForgetsNothing(wanted), block, owner)
  expect(pinned).toMatchObject({ byHash: true, parameter: { blockHash: wanted } })
  expect(nativeWei).toBe(5n)
})

it('a block that a reorg has put aside is lost, although the node can still read it', async () => {
  const reading = pinBlock(nodeThatForgetsNothing(other), block, owner)
  await expect(reading).rejects.toBeInstanceOf(BlockLostError)
})

it.each([true, false])(
  'a block that is put aside while it is read is lost at the end, by hash: %s',
  async byHash => {
    const pinned: PinnedBlock = { ...block, byHash, parameter: byHash ? { blockHash: wanted } : '0x7' }
    await expect(confirmPinned(nodeThatForgetsNothing(other), pinned)).rejects.toBeInstanceOf(BlockLostError)
    await expect(confirmPinned(nodeThatForgetsNothing(wanted), pinned)).resolves.toBeUndefined()
  }
)
