import { describe, expect, it, type TestContext } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { faultNames } from '../support/chaosFaults.ts'
import { type RunningIndexer, runTestIndexer } from '../support/indexHarness.ts'
import { type ChaosProxy, startChaosProxy } from '../support/startChaosProxy.ts'
import type { Engine } from '../support/testStores.ts'
import type { ChaosNode } from './chaosNodes.ts'
import { chaosPlaces } from './chaosPlaces.ts'
import { isFull, report, reportSkipped, seed, sizes } from './chaosSizes.ts'
import { checkIndex, none } from './checkIndex.ts'
import { type ChaosChain, createChaosChain } from './createChaosChain.ts'

const faultyShare = 0.2
const mostLag = 20
const noLists = 'the node has no eth_getBlockReceipts'
/** Of the fault-free speed; what the full run holds the index to. */
const leastSpeed = 0.25

/** What is started in a test ends with it, the last first. */
type AtEnd = TestContext['onTestFinished']

/** Short ones run beside each other: most of the time they wait to try again. */
const beside = { concurrent: !isFull }

describe.each(chaosPlaces)('in $engine.name, on $node.name', beside, ({ engine, node: { name, start } }) => {
  const { blocks, grown } = name === 'anvil' ? sizes.faults : sizes.faultsElsewhere

  it(
    'an index behind two faulty upstreams, one of them lagging, is the chain of the node, and not slow',
    async ({ onTestFinished }) => {
      const node = await start()
      onTestFinished(() => node.stop())
      const chain = await createChaosChain(node, createRandom(seed))
      await chain.grow(blocks)
      const upstreams = [
        await startUpstream(node, 'first', onTestFinished),
        await startUpstream(node, 'second', onTestFinished)
      ]
      const target = chain.head()

      const calm = await startIndexer(node, engine, upstreams, onTestFinished)
      const calmMs = await timeTo(calm.indexer, target)
      await calm.indexer.stop()
      const calmAnswers = total(upstreams, ({ answers }) => answers.all)

      for (const upstream of upstreams) upstream.setShare(faultyShare)
      upstreams[1]?.setLag(mostLag)
      const { indexer, store } = await startIndexer(node, engine, upstreams, onTestFinished)
      const faultyMs = await timeTo(indexer, target)
      for (let left = grown; left > 0; left -= 10) await chain.grow(Math.min(10, left))
      await atHead(indexer, chain)
      await indexer.stop()

      const injected = Object.fromEntries(
        faultNames.map(fault => [fault, total(upstreams, ({ injected }) => injected.get(fault) ?? 0)])
      )
      const answers = total(upstreams, ({ answers }) => answers.all) - calmAnswers
      const faulty = total(upstreams, ({ answers }) => answers.faulty)
      const ratio = calmMs / faultyMs
      if (name !== 'anvil')
        reportSkipped('faults.test.ts', name, 'faults of whole lists of receipts', noLists)
      report('faults.test.ts', {
        ...{
          engine: engine.name,
          node: name,
          blocks: chain.head(),
          transactions: chain.everHashes.size,
          answers,
          faulty,
          ...injected
        },
        'fault-free blocks/s': Math.round((target / calmMs) * 1000),
        'blocks/s with faults': Math.round((target / faultyMs) * 1000),
        ratio: ratio.toFixed(2)
      })
      expect(upstreams.flatMap(({ mishaps }) => mishaps)).toEqual([])
      expect(await checkIndex(store, chain), `seed ${seed}`).toEqual(none)
      expect(indexer.status().degraded).toBe(false)
      if (!isFull || name !== 'anvil') return
      expect(Object.entries(injected).filter(([, times]) => times === 0)).toEqual([])
      expect(ratio).toBeGreaterThanOrEqual(leastSpeed)
    },
    patient(60_000 + blocks * 500)
  )
})

async function startUpstream({ rpcUrl }: ChaosNode, name: string, atEnd: AtEnd): Promise<ChaosProxy> {
  const proxy = await startChaosProxy({ nodeUrl: rpcUrl, seed, name })
  atEnd(() => proxy.close())
  return proxy
}

function total(upstreams: readonly ChaosProxy[], count: (upstream: ChaosProxy) => number): number {
  return upstreams.reduce((sum, upstream) => sum + count(upstream), 0)
}

async function startIndexer(node: ChaosNode, engine: Engine, upstreams: readonly ChaosProxy[], atEnd: AtEnd) {
  const { location, remove } = await engine.create()
  const indexer = runTestIndexer(location, { rpcUrls: upstreams.map(({ url }) => url), ...node.config })
  atEnd(remove)
  atEnd(() => indexer.stop())
  return { indexer, store: location }
}

/** @returns milliseconds until the block is indexed. */
async function timeTo(indexer: RunningIndexer, height: number): Promise<number> {
  const startedMs = performance.now()
  await indexer.until(
    `block ${height} is indexed`,
    ({ indexedTo }) => (indexedTo?.number ?? -1) >= height,
    50_000 + height * 400
  )
  return performance.now() - startedMs
}

async function atHead(indexer: RunningIndexer, { rpc }: ChaosChain): Promise<void> {
  const { hash } = (await rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  await indexer.until(`block ${hash} is indexed`, ({ indexedTo }) => indexedTo?.hash === hash, 120_000)
}
