import { Wallet } from 'ethers'
import { expect, test, vi } from 'vitest'
import type { NodeCall, NodeOutcome } from '../../nodes/evm/nodeCall.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { createAuthorizationReader } from './createAuthorizationReader.ts'

const wallet = new Wallet(`0x${'11'.repeat(32)}`)
const authority = wallet.address.toLowerCase()
const { signature } = await wallet.authorize({ address: `0x${'22'.repeat(20)}`, chainId: 1, nonce: 3 })
const tuple = {
  ...{ chainId: '0x1', address: `0x${'22'.repeat(20)}`, nonce: '0x3' },
  ...{ yParity: `0x${signature.yParity}`, r: signature.r, s: signature.s }
}
const hash = (digit: string) => `0x${digit.repeat(64)}` as const
const headerAt = (number: number, raw: object) => ({
  ref: { number, hash: hash('9') },
  parentHash: hash('8'),
  transactions: [{ hash: hash('7'), index: 0, raw: { ...raw } }]
})
const setCode = { type: '0x4', chainId: '0x1', authorizationList: [tuple] }

function createReader(answer: (call: NodeCall) => NodeOutcome) {
  let nowMs = 0
  const batch = vi.fn(async (calls: readonly NodeCall[]) => calls.map(answer))
  const reader = createAuthorizationReader({ batch }, { now: () => nowMs })
  return { reader, batch, wait: (ms: number) => (nowMs += ms) }
}

test('nonces are read by the hashes of the block and its parent, and only where there is an authorization', async () => {
  const { reader, batch } = createReader(({ params: [, block] }) => ({
    ok: true,
    value: (block as { blockHash: string }).blockHash === hash('8') ? '0x3' : '0x4'
  }))
  expect(await reader.read(headerAt(5, { type: '0x2' }))).toEqual({ signed: new Map() })
  expect(await reader.read(headerAt(5, { ...setCode, type: '0x2' }))).toEqual({ signed: new Map() })
  expect(batch).not.toHaveBeenCalled()
  expect(await reader.read(headerAt(5, setCode))).toEqual({
    signed: new Map([[hash('7'), [{ authority, nonce: 3n }]]]),
    nonces: new Map([[authority, { before: 3n, after: 4n }]])
  })
  expect(batch).toHaveBeenCalledTimes(1)
})

test('a node without old state is asked about blocks half as old next, and after ten minutes again', async () => {
  const error = new NodeRpcError('missing trie node', -32000, undefined, { nodeMessage: 'missingData' })
  const { reader, batch, wait } = createReader(() => ({ ok: false, error }))
  reader.sawHead(1_000)
  const asked = async (number: number) => {
    batch.mockClear()
    expect((await reader.read(headerAt(number, setCode))).nonces).toBeUndefined()
    return batch.mock.calls.length > 0
  }
  const ages: number[] = []
  for (let number = 0; number <= 1_000; number++) if (await asked(number)) ages.push(1_000 - number)
  expect(ages).toEqual([1_000, 500, 250, 125, 62, 31, 15, 7, 3, 1, 0])
  expect(await asked(0)).toBe(false)
  wait(10 * 60_000 + 1)
  expect(await asked(0)).toBe(true)
})
