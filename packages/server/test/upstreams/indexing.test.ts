import { temporaryFolder } from '@chain-data/index/test'
import { expect, it } from 'vitest'
import { differences, runTestIndexer } from '../support/indexHarness.ts'
import { walkChain } from '../support/walkChain.ts'
import type { Rule, RuleAnswer } from './startNodeProxy.ts'
import { useUpstreams } from './useUpstreams.ts'

const use = useUpstreams()
const seed = Number(process.env.CHAIN_DATA_UPSTREAMS_SEED ?? 1)

function seededRandom(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Breaks a third of the answers about blocks, each in some way; the other calls get through. */
function unreliable(random: () => number): Rule {
  const ways: ((truth: unknown) => RuleAnswer)[] = [
    () => ({ result: null }),
    () => ({ result: [] }),
    () => ({ status: 503 }),
    () => ({ status: 429 }),
    () => ({ error: { code: -32000, message: 'header not found' } }),
    truth => ({ result: Array.isArray(truth) ? truth.slice(1) : truth }),
    truth => ({ result: Array.isArray(truth) ? truth.toReversed() : { ...(truth as object), number: '0x1' } })
  ]
  return async ({ method, params }, truth) => {
    if (!method.startsWith('eth_getBlock') || params[0] === '0x0' || random() > 1 / 3) return undefined
    return ways[Math.floor(random() * ways.length)]?.(await truth())
  }
}

it('an index over three nodes, of which two cannot be relied on, is the chain and never stalls', async () => {
  const proxies = await Promise.all([use.proxy(), use.proxy(), use.proxy()])
  const random = seededRandom(seed)
  for (const proxy of proxies.slice(0, 2)) proxy.obey(unreliable(random))
  const folder = await temporaryFolder()
  use.later(folder.remove)
  const indexer = runTestIndexer(folder.path, {
    rpcUrls: proxies.map(({ url }) => url),
    // Small rounds, so that the head is asked for often too.
    roundBlocks: 5,
    rpcTimeoutMs: 10_000
  })
  use.later(() => indexer.stop())
  try {
    for (let i = 0; i < 5; i++) {
      await use.driver().mine({ blocks: 1 })
      const { hash } = (await use.driver().rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
      await indexer.until(
        'it is level',
        ({ phase, indexedTo }) => phase === 'following' && indexedTo?.hash === hash,
        20_000
      )
    }
    expect(await differences(folder.path, await walkChain(use.driver().rpc))).toEqual([])
    expect(indexer.statuses.filter(({ phase }) => phase === 'stalled')).toEqual([])
  } catch (error) {
    throw new Error(`CHAIN_DATA_UPSTREAMS_SEED=${seed}`, { cause: error })
  }
})
