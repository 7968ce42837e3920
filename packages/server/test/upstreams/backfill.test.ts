import { temporaryFolder } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/platform/logger.ts'
import { blockHash, type Raw, rawBlock } from '../blocks/rawBlock.ts'
import { type ScriptedChain, startScriptedChain } from '../blocks/startScriptedChain.ts'
import { runTestIndexer } from '../support/indexHarness.ts'
import { type NodeProxy, type ProxiedCall, type Rule, startNodeProxy } from './startNodeProxy.ts'

const head = 160
const finality = 20
let chain: ScriptedChain
const cleanUps: (() => Promise<void> | void)[] = []

beforeAll(async () => {
  chain = await startScriptedChain(Array.from({ length: head }, (_, i) => rawBlock(i + 1, [{}, {}])))
})
afterAll(() => chain.close())
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Height of a block that is asked for with its transactions; absent for any other call. */
const heightOf = ({ method, params }: ProxiedCall) =>
  method === 'eth_getBlockByNumber' && params[1] === true ? Number(params[0]) : undefined
const heightsOf = ({ calls }: NodeProxy) => calls.flatMap(call => heightOf(call) ?? [])

/** Fills an index from proxies that obey `rules`. @returns them, and the log, once it is level and was never stalled. */
async function fill(rules: readonly (Rule | undefined)[]) {
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  const proxies = await Promise.all(
    rules.map(async rule => {
      const proxy = await startNodeProxy(chain.url)
      proxy.obey(rule)
      cleanUps.push(() => proxy.close())
      return proxy
    })
  )
  const lines: Record<string, unknown>[] = []
  const logger = createLogger({ level: 'info', write: line => lines.push(JSON.parse(line)) })
  const rpcUrls = proxies.map(({ url }) => url)
  const indexer = runTestIndexer(folder.path, { rpcUrls, finality }, logger)
  cleanUps.push(() => indexer.stop())
  // Each stored block is the child of the one before, so that the last hash stands for all.
  await indexer.until(
    'it is level',
    ({ phase, indexedTo }) => phase === 'following' && indexedTo?.hash === blockHash(head)
  )
  expect(indexer.statuses.filter(({ phase, degraded }) => phase === 'stalled' || degraded)).toEqual([])
  return { proxies: proxies as [NodeProxy, ...NodeProxy[]], lines }
}

describe('a backfill', () => {
  it('asks for each final block together with its receipts, by height, and for newer receipts by hash', async () => {
    const sizes = new Map<number, number>()
    const rule: Rule = (call, _, size) => {
      const height = heightOf(call)
      if (height !== undefined) sizes.set(height, size)
      return undefined
    }
    const { proxies } = await fill([rule])
    expect(sizes.get(head - finality)).toBe(2)
    expect(sizes.get(head - finality + 1)).toBe(1)
    const receipts = proxies[0].asked('eth_getBlockReceipts').map(({ params }) => params[0])
    const newer = Array.from({ length: finality }, (_, i) => blockHash(head - i))
    expect(receipts).toEqual(expect.arrayContaining(newer))
    // Block 0 is empty, so that those asked for next may be, too.
    expect(receipts.filter(at => String(at).length < 66).length).toBeGreaterThan(head - finality - 20)
  })

  it('takes blocks from two nodes, from the quicker one more', async () => {
    const asked = new Set<number>()
    let quick = 0
    let slow = 0
    const note = (call: ProxiedCall) => {
      const height = heightOf(call)
      if (height !== undefined && height <= head - finality) asked.add(height)
      return height !== undefined && height <= head - finality
    }
    const rules: Rule[] = [
      call => {
        if (note(call)) quick++
        return undefined
      },
      async call => {
        if (!note(call)) return undefined
        // It answers once for four times that the other one is asked, as long as there are blocks to ask for.
        const until = 4 * ++slow
        while (quick < until && asked.size < head - finality)
          await new Promise(resolve => setImmediate(resolve))
        return undefined
      }
    ]
    const { proxies } = await fill(rules)
    const [first, second] = proxies.map(heightsOf)
    expect(second?.length).toBeGreaterThan(5)
    expect(first?.length).toBeGreaterThan(2 * (second?.length ?? 0))
  })

  it('finds the node that lies in one block of a range, names it, and fetches that block elsewhere', async () => {
    let lie: number | undefined
    let isTold = false
    let answering = 0
    const askedFirst = new Set<number>()
    const isAboutLie = ({ method, params: [at] }: ProxiedCall) =>
      lie !== undefined && method.startsWith('eth_getBlock') && (at === blockHash(lie) || Number(at) === lie)
    // The first node may be asked as well where the second is slow: its answer then comes after the lie.
    const honest: Rule = async call => {
      const height = heightOf(call)
      if (height !== undefined) askedFirst.add(height)
      while (height !== undefined && height === lie && !isTold)
        await new Promise(resolve => setImmediate(resolve))
      return undefined
    }
    const liar: Rule = async (call, truth) => {
      const height = heightOf(call)
      // Some block that only this node is asked for, and from then on always this one.
      if (height !== undefined && height >= 30 && height <= 100 && !askedFirst.has(height)) lie ??= height
      if (lie === undefined || !isAboutLie(call)) return undefined
      answering++
      const text = JSON.stringify(await truth()).replaceAll(blockHash(lie), `0x${'e'.repeat(64)}`)
      isTold = --answering === 0
      return { result: JSON.parse(text) as Raw }
    }
    const { proxies, lines } = await fill([honest, liar])
    expect(lie).toBeDefined()
    const named = lines.filter(({ msg }) => msg === 'an upstream is put aside')
    expect(named.map(({ problem }) => problem)).toEqual([
      `upstream 2 is wrong about block ${lie}: the other nodes name ${blockHash(lie ?? 0)}`
    ])
    expect(heightsOf(proxies[0])).toContain(lie)
    expect(heightsOf(proxies[0])).toContain(head - finality)
  })

  it('goes on with a node that refuses more than four requests at the same time, and gives it fewer', async () => {
    let now = 0
    let refused = 0
    const busy: Rule = async (call, truth) => {
      if (heightOf(call) === undefined) return undefined
      if (now >= 4) {
        refused++
        return { status: 429 }
      }
      now++
      const result = await truth().finally(() => now--)
      return { result }
    }
    await fill([busy])
    expect(refused).toBeGreaterThan(0)
    // Far less than once a block.
    expect(refused).toBeLessThan(head / 2)
  })

  it('goes on with a node that takes no batches', async () => {
    const single: Rule = (_, __, size) => (size > 1 ? { status: 400 } : undefined)
    const { proxies } = await fill([single])
    expect(heightsOf(proxies[0])).toEqual(expect.arrayContaining([1, head - finality, head]))
  })

  it('is not held up by a node that answers null or no receipts near the head', async () => {
    const lagging: Rule = ({ method, params }) => {
      const isNew = Number(params[0]) > head - 5 || params[0] === blockHash(head) || params[0] === 'latest'
      if (!isNew || !method.startsWith('eth_getBlock')) return undefined
      if (params[0] === 'latest') return undefined
      return { result: method === 'eth_getBlockReceipts' ? [] : null }
    }
    await fill([lagging, undefined])
  })
})
