import { afterEach, describe, expect, it } from 'vitest'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { dumpStore, type StoreDump } from '../../src/store/test/dumpStore.ts'
import { readIndex, temporaryFolder } from '../support/indexHarness.ts'
import { type FaultProxy, startFaultProxy } from '../support/startFaultProxy.ts'
import { type ChaosNode, chaosNodes, finalDepth } from './chaosNodes.ts'
import { isFull, report, seed, sizes } from './chaosSizes.ts'
import { checkIndex, none } from './checkIndex.ts'
import { type ChaosChain, createChaosChain } from './createChaosChain.ts'
import type { Deed, LifePlan } from './indexerLife.ts'
import { type Death, type Life, startLife } from './startLife.ts'

const chainId = 31337

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

describe.each(chaosNodes)('on $name', ({ name, start }) => {
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
      const [killed, straight] = [await folder(), await folder()]

      const counts = { commit: 0, rollback: 0, pool: 0, elsewhere: 0, 'from outside': 0, reorgs: 0 }
      for (let round = 0; round < rounds; round++) {
        const wish = await prepareRound(chain, killed, round, random)
        if (wish.replaced) counts.reorgs++
        const plan = lifePlan(node, proxy, killed)
        const life = startLife(wish.death === undefined ? plan : { ...plan, death: wish.death })
        cleanUps.push(async () => life.kill('SIGKILL'))
        if (wish.death === undefined) strikeFromOutside(life, proxy, random)
        // A life that comes to the end of its work before its death is killed there.
        life.killAt((await headOf(chain)).hash)
        const death = await life.death
        proxy.setFault()
        expect(death, `seed ${seed}, round ${round}`).toMatchObject({ signal: 'SIGKILL', errors: '' })
        counts[death.in ?? 'elsewhere']++
        if (wish.death === undefined) counts['from outside']++
      }

      for (const path of [killed, straight]) {
        const life = startLife(lifePlan(node, proxy, path))
        cleanUps.push(async () => life.kill('SIGKILL'))
        await life.follows((await headOf(chain)).hash)
        expect(await end(life, 'SIGTERM')).toMatchObject({ code: 0, errors: '' })
      }
      report('kills.test.ts', {
        ...{ node: name, rounds, ...counts, blocks: chain.head() },
        'transactions sent': chain.everHashes.size
      })
      expect(await checkIndex(killed, chain)).toEqual(none)
      const [dump, straightDump] = [dumpOf(killed), dumpOf(straight)]
      expect(dump.sha256).toBe(straightDump.sha256)
      expect(missingHoldings(killed, straight)).toEqual([])
      expect(await pendingOf(killed, chain)).toEqual(await pendingOf(straight, chain))
      if (isFull && name === 'anvil') {
        expect(Object.entries(counts).filter(([, times]) => times === 0)).toEqual([])
      }
    },
    60_000 + rounds * 5_000
  )
})

async function folder(): Promise<string> {
  const { path, remove } = await temporaryFolder()
  cleanUps.push(remove)
  return path
}

function lifePlan(node: ChaosNode, { url }: FaultProxy, path: string): LifePlan {
  // Short rounds: many small commits instead of a few large ones.
  const config = {
    chainId,
    rpcUrls: [url],
    startBlock: 0,
    ...node.config,
    pollIntervalMs: 20,
    roundBlocks: 4
  }
  return { folder: path, config }
}

/** A life that comes as far as the pool leaves an index at the head, and so the next one something to roll back. */
const deaths: readonly [Deed | undefined, ...(Deed | undefined)[]] = ['pool', 'rollback', 'commit', undefined]

/** Gives a life something to do, of the kind it is to die in. */
async function prepareRound(chain: ChaosChain, path: string, round: number, random: Random) {
  const wished = deaths[round % deaths.length]
  const stored = (await readIndex(path, snapshot => snapshot.indexedRange()))?.to.number
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
  const longest = { commit: 120, rollback: replaced ? 50 : 1, pool: 8 }
  const deed = wished === 'rollback' && !replaced ? 'commit' : wished
  return {
    replaced,
    ...(deed === undefined ? {} : { death: { in: deed, statement: 1 + random.below(longest[deed]) } })
  }
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

/** Holding candidates of blocks that are gone stay: both have those of the chain, and the killed one some more. */
const dumpOf = (path: string): StoreDump => dumpStore(path, chainId, { omit: ['holding'] })

function missingHoldings(killed: string, straight: string): string[] {
  const [all, wanted] = [killed, straight].map(path =>
    dumpStore(path, chainId)
      .text.split('\n')
      .filter(line => line.startsWith('holding '))
  )
  const found = new Set(all)
  return (wanted ?? []).filter(line => !found.has(line))
}

/** Every address's part of the pool; when each entry was first seen depends on the lives. */
function pendingOf(path: string, chain: ChaosChain): Promise<string[]> {
  return readIndex(path, async snapshot => {
    const lines: string[] = []
    for (const address of chain.everAddresses) {
      for (const { hash, status } of await snapshot.pending(address as `0x${string}`)) {
        lines.push(`${address} ${hash} ${status}`)
      }
    }
    return lines.sort()
  })
}
