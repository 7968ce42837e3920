import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { poolOf, runTestIndexer } from '../support/indexHarness.ts'
import { Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { poolNodes } from './poolNode.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** An indexer over an anvil without the pool's methods, whose pending block may be the newest one. */
async function runWithoutPool({ pendingIsLatest = false } = {}) {
  const node = await poolNodes.anvil()
  cleanUps.push(() => node.stop())
  const proxy = await startFaultProxy(node.rpcUrl)
  cleanUps.push(() => proxy.close())
  proxy.setFault((call, result) => {
    if (/txpool|eth_pendingTransactions/.test(call.method)) throw new Refusal(-32601)
    const isPending = call.method === 'eth_getBlockByNumber' && call.params[0] === 'pending'
    return isPending && pendingIsLatest ? node.call(call.method, 'latest', call.params[1]) : result
  })
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  const indexer = runTestIndexer(folder.path, { rpcUrls: [proxy.url] })
  cleanUps.push(() => indexer.stop())
  const seen = await indexer.until('the pool is seen', ({ poolSeenAtMs }) => poolSeenAtMs !== undefined)
  return { node, indexer, path: folder.path, seenAtMs: seen.poolSeenAtMs ?? 0 }
}

it('a node without pool methods shows what its pending block would take, and not what is queued', async () => {
  const { node, indexer, path } = await runWithoutPool()
  const [sender = ''] = node.accounts
  await node.send({ from: sender, nonce: 7 })
  const next = await node.send({ from: sender, nonce: 0 })
  await eventually('it is pending', async () => (await poolOf(path, sender)).length > 0)
  expect(await poolOf(path, sender)).toMatchObject([{ hash: next, status: 1 }])
  expect(indexer.status().poolCovered).toBe(false)
})

it('a node whose pending block is the newest one shows no pool, which is not an empty one', async () => {
  const { node, indexer, path, seenAtMs } = await runWithoutPool({ pendingIsLatest: true })
  const [sender = ''] = node.accounts
  await node.send({ from: sender, nonce: 0 })
  await indexer.until('the next look', ({ poolSeenAtMs }) => (poolSeenAtMs ?? 0) > seenAtMs)
  expect(await poolOf(path, sender)).toEqual([])
  expect(indexer.status().poolCovered).toBe(false)
})
