import { expect, test } from 'vitest'
import { BlockLostError } from '../../../evm/state/pinBlock.ts'
import type { EvmNode, NodeOutcome } from '../../../nodes/evm/nodeCall.ts'
import { NodeRpcError } from '../../../platform/errors.ts'
import { createAccountState } from './accountState.ts'

const hash = `0x${'ab'.repeat(32)}` as const
const told = (value: string): NodeOutcome => ({ ok: true, value })
const lost: NodeOutcome = { ok: false, error: new NodeRpcError('header not found', -32000, undefined) }

/** A node that told a balance of 5 when the block was pinned. */
function createState(outcomes: readonly NodeOutcome[]) {
  const node = { batch: async () => outcomes } as unknown as EvmNode
  return createAccountState({
    node,
    pinned: { number: 7, hash, timestampSeconds: 1, parameter: { blockHash: hash }, byHash: true },
    address: `0x${'a1'.repeat(20)}`,
    nativeWei: 5n,
    deadlineMs: Date.now() + 1_000,
    readBlock: async () => undefined
  })
}

test('an account is read at the pinned block', async () => {
  const state = await createState([told('0x2'), told('0x5'), told('0x')])
  expect(state.now).toEqual({ nonce: 2n, balance: 5n, code: 'none' })
})

test.each([
  { what: 'is not told of any more', outcomes: [lost, lost, lost] },
  { what: 'has another balance now', outcomes: [told('0x2'), told('0x6'), told('0x')] }
])(
  'an account that $what has lost its block: a reorg has passed, and all is asked for again',
  async ({ outcomes }) => {
    await expect(createState(outcomes)).rejects.toBeInstanceOf(BlockLostError)
  }
)
