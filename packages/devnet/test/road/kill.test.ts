import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { dumpStore } from '@chain-data/index/test'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  createEvmCalls,
  type Devnet,
  type EvmDevnet,
  evmAddressesOf,
  evmContract,
  startDevnet
} from '../../src/index.ts'
import { createRandom } from '../../src/platform/createRandom.ts'
import { evmChainId as chainId, credentials, succeed } from './support/callService.ts'
import { expectedHistory, gasUsedOf } from './support/confirmedTruth.ts'
import { endServeProcesses, startServe } from './support/serveCommand.ts'
import { temporaryFolder, untilStatus } from './support/startRoad.ts'
import { type SlowNode, startSlowNode } from './support/startSlowNode.ts'

/** Blocks to index beside those of the story. */
const extraBlocks = 330

/** When each life ends: within its first requests, or once it has stored more than the lives before it. */
const lives = ['early', 'later', 'early', 'later', 'early'] as const
/** Of the requests of one undisturbed run. */
const earlyShare = 0.1
/** Slow enough for several commits in one run. */
const nodeDelayMs = 60

let devnet: Devnet
let evm: EvmDevnet
let node: SlowNode
let folder: Awaited<ReturnType<typeof temporaryFolder>>

beforeAll(async () => {
  devnet = await startDevnet({ seed: 34, solana: false })
  evm = devnet.evm!
  node = await startSlowNode(evm.node.rpcUrl, nodeDelayMs)
  folder = await temporaryFolder()
  const { driver, world } = evm
  const people = ['alice', 'bob', 'carol', 'dave'] as const
  const token = evmContract(world, 'gold')
  const calls = createEvmCalls(world)
  for (let number = 0; number < extraBlocks; number++) {
    const [from, to] = [people[number % 4]!, people[(number * 7 + 1) % 4]!]
    if (number % 3 === 0) {
      await driver.send({ label: `extra gold ${number}`, ...calls.erc20Transfer(from, token, to, 1n) })
    } else if (number % 3 === 1) {
      await driver.send({ label: `extra ${number}`, from, to: world.accounts[to]!.address, valueWei: 1n })
    }
    await driver.mine()
  }
})

afterAll(async () => {
  await endServeProcesses()
  await node?.close()
  await devnet?.stop()
  await folder?.remove()
})

const config = (store: string) => ({
  listen: { port: 0 },
  store: `sqlite:${store}`,
  projects: [credentials],
  chains: { evm: [{ chainId, rpcUrls: [node.url], traces: 'on', pollIntervalMs: 100 }] },
  // Ready once older blocks are there, too.
  history: { serveWhileSyncing: false },
  rateLimit: false,
  overload: false
})

/** Blocks in the index of a store; 0 while there is none. */
function storedBlocks(store: string): number {
  try {
    const omit = ['meta', 'tx', 'extra'] as const
    return dumpStore(store, chainId, { omit }).counts.block
  } catch {
    return 0
  }
}

/** Serves until everything is indexed, looks, and ends in order. */
async function serveToTheEnd(store: string, look: (baseUrl: string) => Promise<void>): Promise<void> {
  const serving = await startServe(config(store), { cwd: store })
  const baseUrl = await serving.listening()
  await untilStatus(`${baseUrl}/health/ready`, 200, 60_000)
  await look(baseUrl)
  serving.kill('SIGTERM')
  expect(await serving.ended).toEqual({ code: 0, signal: null })
}

test('killed with -9 again and again while it syncs, it ends with the very index of an undisturbed run', async () => {
  const seed = Number(process.env.ROAD_SEED ?? 1)
  process.stdout.write(`ROAD_SEED=${seed} repeats these kills\n`)
  const random = createRandom(seed)
  const [calm, rough] = [join(folder.path, 'calm'), join(folder.path, 'rough')]
  await Promise.all([mkdir(calm), mkdir(rough)])

  await serveToTheEnd(calm, async () => {})
  const requestsOfOneRun = node.requests()
  const undisturbed = dumpStore(calm, chainId)
  expect(undisturbed.counts.block).toBe(evm.world.blocks.length)
  expect(undisturbed.counts.tx).toBe(evm.world.transactions.filter(t => t.position !== undefined).length)

  const reached: number[] = []
  for (const life of lives) {
    const serving = await startServe(config(rough), { cwd: rough })
    const storedBefore = storedBlocks(rough)
    const first = node.requests() + 1
    let requestsLeft = random.below(life === 'early' ? Math.ceil(requestsOfOneRun * earlyShare) : 10)
    node.onRequest(count => {
      if (count < first || (life === 'later' && storedBlocks(rough) <= storedBefore)) return
      if (requestsLeft-- === 0) serving.kill('SIGKILL')
    })
    expect(await serving.ended).toEqual({ code: null, signal: 'SIGKILL' })
    node.onRequest(() => {})
    reached.push(storedBlocks(rough))
  }
  process.stdout.write(
    `blocks stored after each kill: ${reached.join(', ')} of ${undisturbed.counts.block}\n`
  )
  // Otherwise nothing was interrupted, and nothing shown.
  expect(new Set(reached).size).toBeGreaterThan(1)
  expect(reached.some(count => count > 0 && count < undisturbed.counts.block)).toBe(true)
  expect(reached).toEqual(reached.toSorted((a, b) => a - b))

  await serveToTheEnd(rough, async baseUrl => {
    const gas = await gasUsedOf(evm.driver)
    for (const address of evmAddressesOf(evm.world)) {
      const call = { method: 'svc_getTransactionsByAddress', params: [address] } as const
      const records = (await succeed(baseUrl, call)).result as { hash: string; timestamp: number }[]
      const timestamps = new Map(records.map(({ hash, timestamp }) => [hash, timestamp]))
      const truth = expectedHistory(evm.driver, address, gas, hash => timestamps.get(hash)!)
      expect(records, address).toStrictEqual(truth)
    }
  })
  const after = dumpStore(rough, chainId)
  expect(after.counts).toEqual(undisturbed.counts)
  expect(after.sha256).toBe(undisturbed.sha256)
})
