import type { StoreLocation } from '@chain-data/index'
import { afterAll, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import type { IndexerConfig } from '../../src/server/indexer/startIndexer.ts'
import { readIndex } from '../support/indexHarness.ts'
import { type FaultProxy, startFaultProxy } from '../support/startFaultProxy.ts'
import { dumpIndex, type Engine, engines } from '../support/testStores.ts'
import { type ChaosNode, finalDepth } from './chaosNodes.ts'
import { chaosPlaces } from './chaosPlaces.ts'
import { isFull, report, seed, sizes } from './chaosSizes.ts'
import { checkIndex, none } from './checkIndex.ts'
import { type ChaosChain, createChaosChain } from './createChaosChain.ts'
import type { Deed, LifePlan } from './indexerLife.ts'
import { type Death, type Life, startLife } from './startLife.ts'
import type { Loss } from './takeAway.ts'

const chainId = 31337

const cleanUps: (() => Promise<void>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Short ones run beside each other: much of the time they wait. */
const beside = { concurrent: !isFull }

describe.each(chaosPlaces)('in $engine.name, on $node.name', beside, ({ engine, node: { name, start } }) => {
  const { rounds } = name === 'anvil' ? sizes.kills : sizes.killsElsewhere

  it(
    'an index killed again and again, also while it writes, ends as one that never was',
    async () => {
      const node = await start()
      cleanUps.push(() => node.stop())
      const random = createRandom(seed)
      const chain = await createChaosChain(node, random)
      await chain.grow(20)
      const proxy = await startFaultProxy(node.rpcUrl)
      cleanUps.push(() => proxy.close())
      // What one engine went through ends as what another one holds that went through nothing.
      const [killed, straight] = [await place(engine), await place(engines[0])]

      const counts = {
        commit: 0,
        prepend: 0,
        rollback: 0,
        pool: 0,
        elsewhere: 0,
        'from outside': 0,
        reorgs: 0
      }
      const lost = { backend: 0, server: 0, connection: 0, answer: 0 }
      for (let round = 0; round < rounds; round++) {
        const { death: wished, replaced } = await prepareRound(chain, killed, round, random)
        if (replaced) counts.reorgs++
        const plan = lifePlan(node, proxy, killed, { recentBlocks: 4 })
        const life = startLife(wished === undefined ? plan : { ...plan, death: wished })
        cleanUps.push(async () => life.kill('SIGKILL'))
        if (wished === undefined) strikeFromOutside(life, proxy, random)
        // A life that comes to the end of its work before its death, or after the loss of its database, is killed there.
        life.killAt((await headOf(chain)).hash)
        const death = await life.death
        proxy.setFault()
        expect(death, `seed ${seed}, round ${round}`).toMatchObject({ signal: 'SIGKILL', errors: '' })
        counts[death.in ?? death.lostIn ?? 'elsewhere']++
        if (wished === undefined) counts['from outside']++
        if (wished?.loses !== undefined && death.lostIn !== undefined) lost[wished.loses]++
      }

      for (const index of [killed, straight]) {
        const life = startLife(lifePlan(node, proxy, index))
        cleanUps.push(async () => life.kill('SIGKILL'))
        await life.follows((await headOf(chain)).hash)
        expect(await end(life, 'SIGTERM')).toMatchObject({ code: 0, errors: '' })
      }
      report('kills.test.ts', {
        ...{ engine: engine.name, node: name, rounds, ...counts },
        ...(engine.name === 'postgres' ? lost : {}),
        ...{ blocks: chain.head(), 'transactions sent': chain.everHashes.size }
      })
      expect(await checkIndex(killed, chain)).toEqual(none)
      const [dump, straightDump] = [await dumpIndex(killed, chainId), await dumpIndex(straight, chainId)]
      expect(dump.sha256).toBe(straightDump.sha256)
      expect(await pendingOf(killed, chain)).toEqual(await pendingOf(straight, chain))
      if (!isFull || name !== 'anvil') return
      const wanted = { ...counts, ...(engine.name === 'postgres' ? lost : {}) }
      expect(Object.entries(wanted).filter(([, times]) => times === 0)).toEqual([])
    },
    patient(60_000 + rounds * 5_000)
  )
})

async function place(engine: Engine): Promise<StoreLocation> {
  const { location, remove } = await engine.create()
  cleanUps.push(remove)
  return location
}

function lifePlan(
  node: ChaosNode,
  { url }: FaultProxy,
  store: StoreLocation,
  more: Pick<IndexerConfig, 'recentBlocks'> = {}
): LifePlan {
  // Short rounds: many small commits instead of a few large ones.
  const config = {
    chainId,
    rpcUrls: [url],
    startBlock: 0,
    ...node.config,
    pollIntervalMs: 20,
    roundBlocks: 4,
    ...more
  }
  return { store, config }
}

/** A life that comes as far as the pool leaves an index at the head, and so the next one something to roll back. */
const deaths: readonly [Deed | undefined, ...(Deed | undefined)[]] = [
  // Only of an index that is new.
  'prepend',
  'pool',
  'rollback',
  'commit',
  undefined
]
const losses: readonly [Loss, ...Loss[]] = ['backend', 'server', 'connection', 'answer']
/** Steps of one deed, more or less. */
const steps = {
  sqlite: { commit: 120, prepend: 60, rollback: 50, pool: 8 },
  postgres: { commit: 10, prepend: 6, rollback: 8, pool: 4 }
}

/** Gives a life something to do, of the kind it is to die in. */
async function prepareRound(
  chain: ChaosChain,
  store: StoreLocation,
  round: number,
  random: Random
): Promise<{ readonly replaced: boolean; readonly death?: NonNullable<LifePlan['death']> }> {
  const wished = deaths[round % deaths.length]
  const stored = (await readIndex(store, snapshot => snapshot.indexedRange()))?.to.number
  await chain.grow(1 + random.below(8))
  let replaced = false
  if (stored !== undefined && stored > chain.firstFree && (wished === 'rollback' || random.below(3) === 0)) {
    const depth = chain.head() - stored + 1 + random.below(30)
    const deepest = Math.min(finalDepth, chain.head() - chain.firstFree)
    // An index far behind would not see a reorg of the newest blocks.
    replaced = depth <= deepest || chain.head() - stored < deepest
    if (replaced) await chain.replace(Math.min(depth, deepest))
  }
  if (wished === 'pool') await chain.fillPool(3 + random.below(6))
  const deed = wished === 'rollback' && !replaced ? 'commit' : wished
  if (deed === undefined) return { replaced }
  const step = 1 + random.below(steps[store.kind][deed])
  const losesDatabase = store.kind === 'postgres' && random.below(2) === 0
  return { replaced, death: { in: deed, step, ...(losesDatabase ? { loses: random.pick(losses) } : {}) } }
}

/** Kills at a call to the node, or some time after the first one. */
function strikeFromOutside(life: Life, proxy: FaultProxy, random: Random): void {
  const byTimer = random.below(2) === 0
  let left = byTimer ? 1 : 1 + random.below(80)
  const waitMs = random.below(200)
  proxy.setFault((_, result) => {
    if (--left !== 0) return result
    if (byTimer) setTimeout(() => life.kill('SIGKILL'), waitMs)
    else life.kill('SIGKILL')
    return result
  })
}

function end(life: Life, signal: 'SIGKILL' | 'SIGTERM'): Promise<Death> {
  life.kill(signal)
  return life.death
}

async function headOf({ rpc }: ChaosChain): Promise<{ hash: string }> {
  return (await rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
}

/** Every address's part of the pool; when each entry was first seen depends on the lives. */
function pendingOf(store: StoreLocation, chain: ChaosChain): Promise<string[]> {
  return readIndex(store, async snapshot => {
    const lines: string[] = []
    for (const address of chain.everAddresses) {
      for (const { hash, status } of await snapshot.pending(address as `0x${string}`)) {
        lines.push(`${address} ${hash} ${status}`)
      }
    }
    return lines.sort()
  })
}
