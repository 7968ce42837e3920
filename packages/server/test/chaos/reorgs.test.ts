import { afterAll, describe, expect, it } from 'vitest'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { type RunningIndexer, runTestIndexer } from '../support/indexHarness.ts'
import { dumpIndex, type Engine, engines } from '../support/testStores.ts'
import type { WalkedBlocks } from '../support/walkChain.ts'
import { type ChaosNode, finalDepth } from './chaosNodes.ts'
import { chaosPlaces } from './chaosPlaces.ts'
import { isFull, report, reportSkipped, seed, sizes } from './chaosSizes.ts'
import { checkIndex, none } from './checkIndex.ts'
import { type ChaosChain, createChaosChain } from './createChaosChain.ts'

const chainId = 31337
const noReorg = 'the node can only go back to a snapshot and mine anew'
/** One in so many reorgs is waited for; the others come on top of each other. */
const waitedFor = 4
/** One in so many is followed by a look at everything. */
const lookedAt = 20

const cleanUps: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Short ones run beside each other: much of the time they wait. */
const beside = { concurrent: !isFull }

describe.each(chaosPlaces)('in $engine.name, on $node.name', beside, ({ engine, node: { name, start } }) => {
  const { count, deeper } = name === 'anvil' ? sizes.reorgs : sizes.reorgsElsewhere

  it(
    'random reorgs, and some behind final blocks, leave exactly the chain of the node, and nothing of what was',
    async () => {
      const node = await start()
      cleanUps.push(() => node.stop())
      const random = createRandom(seed)
      const chain = await createChaosChain(node, random)
      await chain.grow(finalDepth + 6)
      const { indexer, store } = await startIndexer(node, engine)
      await atHead(indexer, chain)

      const log: string[] = []
      const known: WalkedBlocks = new Map()
      let [looks, undone] = [0, 0]
      const compare = async () => {
        await atHead(indexer, chain)
        looks++
        const disagreement = await checkIndex(store, chain, known)
        expect(disagreement, `seed ${seed}, after: ${log.slice(-10).join('; ')}`).toEqual(none)
        return disagreement.count
      }
      const play = async (depth: number) => {
        undone += depth
        log.push(await chain.replace(depth))
        await chain.grow(random.below(5))
      }

      for (let i = 1; i <= count; i++) {
        // The index has seen this chain at its present height, never at a greater one: so deep is not yet final.
        await play(1 + random.below(random.below(3) === 0 ? finalDepth : 12))
        if (i % lookedAt === 0) await compare()
        else if (random.below(waitedFor) === 0) await atHead(indexer, chain)
      }
      await compare()
      expect(indexer.statuses.some(({ degraded }) => degraded)).toBe(false)

      for (let i = 1; i <= deeper; i++) {
        // Once the head has been seen, this is behind what was final.
        await atHead(indexer, chain)
        const seen = indexer.statuses.length
        await play(finalDepth + 1 + random.below(Math.min(40, chain.head() - chain.firstFree - finalDepth)))
        await compare()
        expect(indexer.statuses.slice(seen).some(({ degraded }) => degraded)).toBe(true)
        await chain.grow(finalDepth + 1)
        await atHead(indexer, chain)
        expect(indexer.status().degraded, 'until as much is final again').toBe(false)
      }
      const differences = await compare()
      await indexer.stop()

      const straight = await startIndexer(node, engines[0])
      await atHead(straight.indexer, chain)
      await straight.indexer.stop()
      const dump = await dumpIndex(store, chainId)
      const straightDump = await dumpIndex(straight.store, chainId)
      if (name !== 'anvil') reportSkipped('reorgs.test.ts', name, 'reorgs without a lower head', noReorg)
      report('reorgs.test.ts', {
        ...{
          engine: engine.name,
          node: name,
          reorgs: count,
          'behind final blocks': deeper,
          'blocks undone': undone
        },
        ...{
          blocks: chain.head(),
          'transactions sent': chain.everHashes.size,
          confirmed: dump.counts.tx
        },
        comparisons: looks,
        differences
      })
      expect(dump.sha256).toBe(straightDump.sha256)
    },
    60_000 + (count + deeper * 3) * 3_000
  )
})

async function startIndexer({ rpcUrl, config }: ChaosNode, engine: Engine) {
  const { location, remove } = await engine.create()
  const indexer = runTestIndexer(location, { rpcUrls: [rpcUrl], ...config })
  cleanUps.push(remove, () => indexer.stop())
  return { indexer, store: location }
}

async function atHead(indexer: RunningIndexer, { rpc }: ChaosChain): Promise<void> {
  const { hash } = (await rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  await indexer.until(
    `block ${hash} is indexed`,
    ({ indexedTo, phase }) => phase === 'following' && indexedTo?.hash === hash,
    30_000
  )
}
