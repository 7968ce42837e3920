import { expect, test } from 'vitest'
import { patient } from '../../../.config/patience.ts'
import { startAnvil } from '../src/evm/startAnvil.ts'
import { createJsonRpc } from '../src/platform/jsonRpc.ts'

test('two nodes run side by side on ports of their own, each with its chain id', async () => {
  const [one, two] = await Promise.all([startAnvil(), startAnvil({ chainId: 4242 })])
  try {
    expect(one.rpcUrl).not.toBe(two.rpcUrl)
    expect(Number(await createJsonRpc(one.rpcUrl)('eth_chainId'))).toBe(31337)
    expect(Number(await createJsonRpc(two.rpcUrl)('eth_chainId'))).toBe(4242)
  } finally {
    await Promise.all([one.stop(), two.stop()])
  }
})

test('a stopped node is gone: its process has ended and its port refuses', async () => {
  const node = await startAnvil()
  await node.stop()
  await node.stop()
  expect(() => process.kill(node.pid, 0)).toThrow()
  await expect(createJsonRpc(node.rpcUrl)('eth_chainId')).rejects.toThrow()
})

test('a node that cannot start says why', async () => {
  await expect(startAnvil({ hardfork: 'no-such-fork' })).rejects.toMatchObject({
    reason: 'NODE_DID_NOT_START',
    message: expect.stringContaining('no-such-fork')
  })
})

test('with automatic mining a node makes blocks without being asked', async () => {
  const node = await startAnvil({ mining: 1 })
  try {
    const rpc = createJsonRpc(node.rpcUrl)
    const deadline = Date.now() + patient(10_000)
    let head = 0
    while (head === 0 && Date.now() < deadline) head = Number(await rpc('eth_blockNumber'))
    expect(head).toBeGreaterThan(0)
  } finally {
    await node.stop()
  }
})
