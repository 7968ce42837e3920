import { setImmediate as nextTurn } from 'node:timers/promises'
import { eventually, readChunks, temporaryFolder } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { poolOf, type RunningIndexer, readIndex, runTestIndexer } from '../support/indexHarness.ts'
import { type Fault, type FaultProxy, startFaultProxy } from '../support/startFaultProxy.ts'
import { type PoolNode, poolNodes } from './poolNode.ts'

let node: PoolNode
let proxy: FaultProxy
let path: string
let indexer: RunningIndexer
let nextSender = 0
let sender: `0x${string}`
const cleanUps: (() => Promise<void>)[] = []

beforeAll(async () => {
  node = await poolNodes.anvil()
})
afterAll(() => node.stop())
beforeEach(async () => {
  sender = (node.accounts[nextSender++] ?? '').toLowerCase() as `0x${string}`
  proxy = await startFaultProxy(node.rpcUrl)
  cleanUps.push(() => proxy.close())
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  path = folder.path
  indexer = runTestIndexer(path, { rpcUrls: [proxy.url], rpcTimeoutMs: 20_000 })
  cleanUps.push(() => indexer.stop())
  await indexer.until('following', ({ phase }) => phase === 'following')
})
afterEach(async () => {
  proxy.setFault()
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A place where answers to some calls wait; each `release` lets through those that wait by then. */
function createGate() {
  const waiting: (() => void)[] = []
  let isOpen = false
  cleanUps.push(async () => gate.open())
  const gate = {
    pass: () => (isOpen ? Promise.resolve() : new Promise<void>(resolve => waiting.push(resolve))),
    held: (what: string) => eventually(what, () => waiting.length > 0),
    release() {
      for (const resolve of waiting.splice(0)) resolve()
    },
    open() {
      isOpen = true
      gate.release()
    }
  }
  return gate
}

/** Where the sender's transactions are in one snapshot: `hash status`. */
const places = () =>
  readIndex(path, async snapshot => {
    const found = [...(await snapshot.pending(sender))].map(({ hash, status }) => `${hash} ${status}`)
    for await (const chunk of readChunks(snapshot, sender)) {
      found.push(...chunk.map(({ hash, status }) => `${hash} ${status}`))
    }
    return found
  })

/** Looks again and again, and tells what it has seen, each once. */
function watchPlaces() {
  const seen = new Set<string>()
  let isOver = false
  const done = (async () => {
    while (!isOver) {
      seen.add((await places()).join())
      // SQLite answers at once: without a pause nothing else in this thread would get its turn.
      await nextTurn()
    }
  })()
  const stop = async () => {
    isOver = true
    await done
    return [...seen]
  }
  cleanUps.push(async () => void (await stop()))
  return stop
}

const holdLooks = (gate: ReturnType<typeof createGate>, rest: Fault = (_, result) => result): Fault =>
  async function hold(call, result) {
    if (call.method !== 'txpool_content') return rest(call, result)
    await gate.pass()
    return result
  }

async function pending(nonce: number, gwei?: number): Promise<string> {
  const hash = await node.send({ from: sender, nonce, ...(gwei === undefined ? {} : { gwei }) })
  await eventually('pending', async () => (await poolOf(path, sender)).some(entry => entry.hash === hash))
  return hash
}

const mined = (hash: string) => eventually('mined', async () => (await places()).includes(`${hash} 3`))

it('a transaction that is mined while the pool is read is in one place at any time', async () => {
  const hash = await pending(0)
  const stopWatching = watchPlaces()
  const gate = createGate()
  proxy.setFault(holdLooks(gate))
  await gate.held('a look that shows it')
  await node.mine()
  await mined(hash)
  gate.release()
  // The next look begins only when that one is over.
  await gate.held('the next look')
  expect(await places()).toEqual([`${hash} 3`])
  expect((await stopWatching()).sort()).toEqual([`${hash} 1`, `${hash} 3`])
})

it('a look from before the block does not bring back what the block has ended', async () => {
  const replaced = await pending(0, 100)
  const gate = createGate()
  proxy.setFault(holdLooks(gate))
  await gate.held('a look that shows it')
  const better = await node.send({ from: sender, nonce: 0, gwei: 200 })
  await node.mine()
  await mined(better)
  expect(await places()).toEqual([`${better} 3`])
  gate.release()
  await gate.held('the next look')
  expect(await places(), replaced).toEqual([`${better} 3`])
})

it('what the pool has no more stays pending while the index is behind the block that has it', async () => {
  const hash = await pending(0)
  const stopWatching = watchPlaces()
  const looks = createGate()
  const blocks = createGate()
  proxy.setFault(async (call, result) => {
    if (call.method === 'eth_getBlockReceipts') await blocks.pass()
    if (call.method !== 'txpool_content') return result
    await looks.pass()
    // As it is by now.
    return node.call('txpool_content')
  })
  await looks.held('a look')
  await node.mine()
  await blocks.held('the block')
  const seenBefore = indexer.status().poolSeenAtMs ?? 0
  looks.release()
  await indexer.until('the look is over', ({ poolSeenAtMs }) => (poolSeenAtMs ?? 0) > seenBefore)
  expect(await places()).toEqual([`${hash} 1`])
  blocks.open()
  await mined(hash)
  expect((await stopWatching()).sort()).toEqual([`${hash} 1`, `${hash} 3`])
})
