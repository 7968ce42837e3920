import { eventually, hashOf, people, temporaryFolder } from '@chain-data/index/test'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigError, NodeContradictionError, NodeUnavailableError } from '../../src/platform/errors.ts'
import type { FollowOptions } from '../../src/server/indexer/follow.ts'
import { type RunningFollow, runFollow } from './runFollow.ts'
import { createScriptedNode, type ScriptedNode } from './scriptedNode.ts'

let path: string
const cleanUps: (() => Promise<void>)[] = []
beforeEach(async () => {
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  path = folder.path
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function run(
  node: ScriptedNode,
  options: Partial<FollowOptions> & { readonly holdFrom?: number } = {}
): Promise<RunningFollow> {
  const running = await runFollow(node, path, options)
  cleanUps.push(() => running.stop().catch(() => {}))
  return running
}

const stalls = (running: RunningFollow) => running.statuses.filter(({ phase }) => phase === 'stalled')
const countCalls = (node: ScriptedNode, call: string) => node.calls.filter(each => each === call).length

describe('a reorg', () => {
  it('of any depth, to a longer, an equal or a shorter chain, leaves exactly the new chain', async () => {
    const node = createScriptedNode(30)
    const running = await run(node)
    await running.expectLevel()
    for (let depth = 1; depth <= 28; depth += 3) {
      for (const growth of [2, 0, -2]) {
        const kept = node.chain.length - 1 - depth
        node.reorg(Math.max(0, kept), Math.max(1, depth + growth), `depth ${depth} growth ${growth}`)
        await running.expectLevel()
      }
    }
    expect(stalls(running)).toEqual([])
  })

  it('is counted with its depth, and so is what is stored', async () => {
    const node = createScriptedNode(20)
    const running = await run(node)
    await running.expectLevel()
    const stored = node.chain.length
    node.reorg(stored - 6, 7, 'b')
    await running.expectLevel()
    const { blocks, commits, rollbacks, reorgDepths } = running.counts.read()
    const total = ({ counts }: { readonly counts: readonly number[] }) =>
      counts.reduce((sum, n) => sum + n, 0)
    expect([blocks, reorgDepths.sum, total(rollbacks)]).toEqual([stored + 7, 5, 1])
    expect(total(commits)).toBeGreaterThanOrEqual(2)
  })

  it('and back again, A to B to A, ends in A', async () => {
    const node = createScriptedNode(20)
    const running = await run(node)
    await running.expectLevel()
    const a = node.chain.length - 6
    node.reorg(a, 7, 'b')
    await running.expectLevel()
    node.reorg(a, 5, 'a')
    await running.expectLevel()
    expect(node.chain.at(-1)?.ref).toEqual(createScriptedNode(20).chain.at(-1)?.ref)
  })

  it('that passes and is undone while blocks are fetched costs nothing that is stored', async () => {
    const node = createScriptedNode(20)
    const running = await run(node)
    await running.expectLevel()
    node.before = call => {
      if (call !== 'block 20') return
      node.before = () => {}
      // The block asked for is of another chain; a moment later that chain is gone.
      node.reorg(17, 3, 'b')
      queueMicrotask(() => node.reorg(17, 5, 'a'))
    }
    node.reorg(19, 2, 'a')
    await running.expectLevel()
    expect(running.log.filter(({ message }) => message === 'the chain reorganised')).toEqual([])
    expect(stalls(running)).toEqual([])
  })

  it('that has the same transactions in other blocks keeps each once, at its new place', async () => {
    const node = createScriptedNode(12)
    const running = await run(node)
    await running.expectLevel()
    const parties = [people[3]!, people[7]!]
    const names = [11, 9, 10].map(number => ({ name: `${number} of a`, parties }))
    node.replace(8, [[], names.slice(0, 2), names.slice(2)], 'b')
    await running.expectLevel()
  })

  it('while the first backfill runs is met on the way, and no block of two chains is mixed', async () => {
    const node = createScriptedNode(60)
    let reorgs = 0
    node.before = call => {
      if (call === 'block 23' && reorgs++ === 0) node.reorg(12, 40, 'b')
      if (call === 'block 41' && reorgs++ === 1) node.reorg(30, 35, 'c')
    }
    const running = await run(node, { roundBlocks: 5, window: 3 })
    await running.expectLevel()
    expect(reorgs).toBeGreaterThanOrEqual(2)
  })

  it('that comes while an earlier one is looked into is met too', async () => {
    for (const during of [0, 1, 2, 3, 4, 5]) {
      const node = createScriptedNode(40)
      const running = await runFollow(node, `${path}/${during}`)
      await running.expectLevel()
      let asked = 0
      node.before = call => {
        // A chain with fewer blocks than the place that is asked for, at each step of the search.
        if (call.startsWith('blockRef') && asked++ === during) node.reorg(4, 6, 'c')
      }
      node.reorg(20, 25, 'b')
      await running.expectLevel()
      await running.stop()
    }
  })

  it('below the start block empties the index and fills it again from the start block of today', async () => {
    const node = createScriptedNode(40)
    const first = await runFollow(node, path, { startBlock: 30 })
    await first.expectLevel(30)
    await first.stop()
    const running = await run(node, { startBlock: 25 })
    await running.expectLevel(30)
    node.reorg(10, 31, 'b')
    await running.expectLevel(25)
    expect(running.status().indexedFrom).toBe(25)
  })

  it('to a chain that ends below the start block empties the index once that lasts, and waits there', async () => {
    const node = createScriptedNode(40)
    const running = await run(node, { startBlock: 30 })
    await running.expectLevel(30)
    node.reorg(10, 5, 'b')
    await running.until('the index is empty', ({ indexedTo }) => indexedTo === undefined)
    await running.until('it waits', ({ phase }) => phase === 'backfilling')
    expect(running.status()).not.toHaveProperty('problem')
    node.reorg(15, 20, 'b')
    await running.expectLevel(30)
  })

  it('on a node of another chain with the same beginning removes nothing and is told', async () => {
    const node = createScriptedNode(30)
    const running = await run(node)
    await running.expectLevel()
    const before = running.status().indexedTo
    node.chainId = 61n
    node.reorg(10, 40, 'b')
    const { problem } = await running.until('it stalls', ({ phase }) => phase === 'stalled')
    expect(problem).toBe('chain 31337: the node serves chain 61')
    expect((await running.state()).head).toEqual(before)
    node.chainId = 31_337n
    node.reorg(10, 19, 'a')
    await running.expectLevel()
    expect(running.log.filter(({ message }) => message === 'the chain reorganised')).toEqual([])
  })

  it('without end, as of a node that is on two forks in turn, is followed with a pause each time', async () => {
    const node = createScriptedNode(30)
    const running = await run(node, { window: 1 })
    await running.expectLevel()
    const reorgs = () => running.log.filter(({ message }) => message === 'the chain reorganised').length
    // Two blocks of one fork are there when the next one is of the other: no round comes to its end.
    node.before = call => {
      if (call === 'block 28' && reorgs() < 40) node.reorg(25, 6, `turn ${reorgs()}`)
    }
    node.reorg(25, 6, 'b')
    running.waits.length = 0
    await eventually('it has turned', () => reorgs() >= 40)
    expect(stalls(running)).toEqual([])
    expect(running.waits.filter(ms => ms === 50).length).toBeGreaterThanOrEqual(25)
    await running.expectLevel()
  })

  it('tells how far it goes back before it does, and no more once it is done', async () => {
    const node = createScriptedNode(20)
    const running = await run(node)
    await running.expectLevel()
    node.reorg(6, 15, 'b')
    await running.expectLevel()
    const told = running.statuses.filter(({ rollingBackTo }) => rollingBackTo !== undefined)
    expect(told).toEqual([
      expect.objectContaining({ rollingBackTo: 6, indexedTo: expect.objectContaining({ number: 19 }) })
    ])
    expect(running.status()).not.toHaveProperty('rollingBackTo')
  })
})

describe('what was final', () => {
  it('and replaced: whoever is told of the blocks that make up for it is told in the same breath that they do', async () => {
    const node = createScriptedNode(30)
    node.finalized = 20
    const running = await run(node)
    await running.expectLevel()
    node.reorg(10, 22, 'b')
    await running.expectLevel()
    expect(running.status().degraded).toBe(true)
    node.finalized = 30
    node.reorg(32, 3, 'b')
    await running.expectLevel()
    const newest = running.statuses.filter(({ indexedTo }) => indexedTo?.number === 35)
    expect(newest.map(({ degraded }) => degraded)).not.toContain(true)
  })

  it('and is replaced all the same: the index follows, and is degraded until all that was removed is final', async () => {
    const node = createScriptedNode(40)
    node.finalized = 30
    const first = await runFollow(node, path)
    await first.expectLevel()
    node.finalized = 20
    node.reorg(20, 30, 'b')
    await first.expectLevel()
    expect(first.status()).toMatchObject({ degraded: true, finalized: 20 })
    expect(first.log.map(({ message }) => message)).toContain(
      'the chain reorganised behind final blocks; the index is marked as degraded'
    )
    await first.stop()
    const running = await run(node)
    await running.expectLevel()
    expect(running.status().degraded).toBe(true)
    // 39 was the newest block that was removed.
    node.finalized = 38
    await running.until('38 is final', ({ finalized }) => finalized === 38)
    expect((await running.state()).degraded).toBe(true)
    node.finalized = 39
    await running.until('it is well again', ({ degraded }) => !degraded)
    expect((await running.state()).degraded).toBe(false)
  })

  it('counts from when the node says so, also without a new block', async () => {
    const node = createScriptedNode(40)
    node.finalized = 10
    const running = await run(node)
    await running.expectLevel()
    node.finalized = 35
    await eventually('it is known', async () => (await running.state()).finalized === 35)
    node.reorg(34, 10, 'b')
    await running.until('it degrades', ({ degraded }) => degraded)
    await running.expectLevel()
  })

  it('is only what was indexed as such: a reorg while the indexer was away is none behind final blocks', async () => {
    const node = createScriptedNode(40)
    node.finalized = 20
    const first = await runFollow(node, path)
    await first.expectLevel()
    await first.stop()
    // The chain has left 30 to 39 and has gone far beyond since.
    node.reorg(29, 200, 'b')
    node.finalized = 180
    const running = await run(node)
    await running.expectLevel()
    expect(running.statuses.some(({ degraded }) => degraded)).toBe(false)
  })

  it('stays final when the node names an older block, and nothing is removed for that', async () => {
    const node = createScriptedNode(40)
    node.finalized = 30
    const running = await run(node)
    await running.expectLevel()
    for (const finalized of [12, undefined]) {
      node.finalized = finalized
      const asked = countCalls(node, 'head')
      await eventually('some more rounds', () => countCalls(node, 'head') > asked + 3)
      expect(running.status()).toMatchObject({ finalized: 30, degraded: false, phase: 'following' })
    }
    expect((await running.state()).finalized).toBe(30)
  })
})

describe('a node that was wiped', () => {
  it('and has other blocks on the same genesis is indexed anew, whatever was final', async () => {
    const node = createScriptedNode(40)
    node.finalized = 36
    const running = await run(node)
    await running.expectLevel()
    node.finalized = 0
    node.reorg(0, 3, 'b')
    await running.expectLevel()
    expect(running.status()).toMatchObject({ degraded: true, finalized: 0 })
  })

  it('and is still at its genesis is waited for when blocks above were final: it may be one that catches up', async () => {
    const node = createScriptedNode(40)
    node.finalized = 36
    const running = await run(node)
    await running.expectLevel()
    const before = running.status().indexedTo
    node.finalized = 0
    node.reorg(0, 0, 'b')
    const { problem } = await running.until('it stalls', ({ phase }) => phase === 'stalled')
    expect(problem).toBe(
      "the node's head 0 is below block 36, which was final; expected the node to catch up, or to show another block"
    )
    expect((await running.state()).head).toEqual(before)
    node.reorg(0, 1, 'b')
    await running.expectLevel()
    expect(running.status()).not.toHaveProperty('problem')
  })

  it('and is still at its genesis is followed there when nothing above was final', async () => {
    const node = createScriptedNode(40)
    const running = await run(node)
    await running.expectLevel()
    node.reorg(0, 0, 'b')
    await running.expectLevel()
    expect(running.status().degraded).toBe(false)
  })

  it.each([0, 20])(
    'and has another genesis is told from the right one, with nothing removed (start block %i)',
    async startBlock => {
      const node = createScriptedNode(40)
      const running = await run(node, { startBlock })
      await running.expectLevel(startBlock)
      const before = running.status().indexedTo
      node.genesisHash = hashOf('another genesis')
      // Shorter than the start block, shorter than the index, longer than the index.
      for (const length of [3, 30, 60]) {
        node.reorg(-1, length, `other ${length}`)
        const asked = countCalls(node, 'identity')
        const { problem } = await running.until(
          'it says why',
          status => status.phase === 'stalled' && /genesis/.test(status.problem ?? '')
        )
        expect(problem).toContain(hashOf('genesis'))
        expect(problem).toContain(hashOf('another genesis'))
        await eventually('it looks again', () => countCalls(node, 'identity') > asked + 3)
        expect((await running.state()).head).toEqual(before)
      }
      node.genesisHash = hashOf('genesis')
      node.reorg(-1, 40, 'a')
      await running.expectLevel(startBlock)
      expect(running.status().degraded).toBe(false)
    }
  )
})

describe('a lower head', () => {
  it('does not complete a first backfill that is not complete', async () => {
    const node = createScriptedNode(60)
    node.before = call => {
      if (call === 'block 50') throw new NodeUnavailableError('gone')
    }
    const running = await run(node, { window: 1, lowerHeadGraceMs: 60_000 })
    await running.until(
      'it stalls',
      ({ phase, indexedTo }) => phase === 'stalled' && indexedTo?.number === 49
    )
    // As another upstream does that is far behind.
    node.shownHead = 40
    await running.until('the lower head is seen', ({ head }) => head === 40)
    const asked = countCalls(node, 'head')
    await eventually('some more rounds', () => countCalls(node, 'head') > asked + 3)
    expect(running.status()).toMatchObject({ phase: 'backfilling', backfilled: false })
    expect(running.waits.every(ms => ms > 0)).toBe(true)
    node.shownHead = undefined
    node.before = () => {}
    await running.expectLevel()
  })

  it('below the first indexed block removes nothing while it may be a node that lags', async () => {
    const node = createScriptedNode(60)
    const running = await run(node, { startBlock: 50, lowerHeadGraceMs: 60_000 })
    await running.expectLevel(50)
    node.shownHead = 45
    const asked = countCalls(node, 'head')
    await eventually('some more rounds', () => countCalls(node, 'head') > asked + 3)
    expect(running.status()).toMatchObject({ indexedTo: { number: 59 }, phase: 'following' })
    node.shownHead = undefined
    await running.expectLevel(50)
  })
})

describe('the lower head of a development chain', () => {
  it('is followed at once, below what was final and with blocks that are still known, and degrades nothing', async () => {
    const node = createScriptedNode(60)
    node.finalized = 55
    const running = await run(node, { dev: 'oneNode', lowerHeadGraceMs: 60_000 })
    await running.expectLevel()
    expect((await running.state()).finalized).toBeUndefined()
    node.reorg(20, 0, 'a')
    node.knowsBlock = async () => true
    await running.expectLevel()
    expect(running.status()).toMatchObject({ indexedTo: { number: 20 }, degraded: false })
    expect(running.statuses.some(({ phase }) => phase === 'stalled')).toBe(false)
  })

  it('is not followed at once where another node may be ahead', async () => {
    const node = createScriptedNode(60)
    const running = await run(node, { dev: 'manyNodes', lowerHeadGraceMs: 60_000 })
    await running.expectLevel()
    node.shownHead = 45
    const asked = countCalls(node, 'head')
    await eventually('some more rounds', () => countCalls(node, 'head') > asked + 3)
    expect(running.status()).toMatchObject({ indexedTo: { number: 59 }, phase: 'following' })
  })

  it('below the first indexed block begins anew from the first one of the chain', async () => {
    const node = createScriptedNode(60)
    const running = await run(node, { startBlock: 50, dev: 'oneNode' })
    await running.expectLevel(50)
    node.reorg(-1, 30, 'a')
    await running.expectLevel()
    expect(running.status().indexedFrom).toBe(0)
  })

  it('ends a mark from before it was one', async () => {
    const node = createScriptedNode(60)
    node.finalized = 55
    const before = await run(node)
    await before.expectLevel()
    await before.stop()
    const running = await run(node, { dev: 'oneNode' })
    node.reorg(20, 0, 'a')
    await running.expectLevel()
    expect(running.status().degraded).toBe(true)
    node.reorg(20, 60, 'b')
    await running.expectLevel()
    expect(running.status().degraded).toBe(true)
    node.finalized = 59
    await running.until('the mark ends', ({ degraded }) => !degraded)
  })
})

describe('a block that cannot be had', () => {
  it.each([
    ['contradicts itself', new NodeContradictionError('receipts do not match')],
    ['cannot be read', new NodeUnavailableError('the answer is too large')],
    ['makes the indexer fail', new TypeError('cannot read properties')]
  ])(
    'because it %s is tried ten times, then once in 30 seconds; it is named, and all before it is there',
    async (_, error) => {
      const node = createScriptedNode(40)
      node.before = call => {
        if (call === 'block 25') throw error
      }
      const running = await run(node, { holdFrom: 30_000 })
      const isHeld = (times: number) => () => running.waits.filter(ms => ms >= 30_000).length === times
      await eventually('it waits long', isHeld(1))
      expect(countCalls(node, 'block 25')).toBe(10)
      expect(running.status()).toMatchObject({ phase: 'stalled', indexedTo: { number: 24 }, head: 39 })
      expect(running.status().problem).toMatch(/^block 25: /)
      expect(running.status().problem).toContain(error.message)
      expect(running.waits.slice(0, -1).every(ms => ms > 0 && ms <= 3_000)).toBe(true)
      for (const visit of [1, 2, 3]) {
        running.release()
        await eventually('it waits again', isHeld(visit + 1))
        expect(countCalls(node, 'block 25')).toBe(10 + visit)
      }
      expect(running.waits.slice(-4)).toEqual([30_000, 30_000, 30_000, 30_000])
      node.before = () => {}
      running.release()
      await running.expectLevel()
      expect(running.status()).not.toHaveProperty('problem')
    }
  )

  it('because it fits to no block before it is tried ten times, then once in 30 seconds', async () => {
    const node = createScriptedNode(40)
    const running = await run(node, { holdFrom: 30_000, window: 1 })
    const right = node.block
    Object.assign(node, {
      block: async (number: number) => {
        const block = await right(number)
        return number === 25 ? { ...block, parentHash: hashOf('nobody') } : block
      }
    })
    await eventually('it waits long', () => running.waits.includes(30_000))
    expect(countCalls(node, 'block 25')).toBe(10)
    expect(running.status()).toMatchObject({
      phase: 'stalled',
      problem: expect.stringMatching(/^block 2[45]: /)
    })
    Object.assign(node, { block: right })
    running.release()
    await running.expectLevel()
  })

  it('for a moment only does not show as a stall', async () => {
    const node = createScriptedNode(40)
    const failed = new Map<string, number>()
    node.before = call => {
      const times = failed.get(call) ?? 0
      if (!call.startsWith('block ') || times >= 4) return
      failed.set(call, times + 1)
      throw new NodeContradictionError('not yet')
    }
    const running = await run(node)
    await running.expectLevel()
    expect(stalls(running)).toEqual([])
  })
})

it('a wrong node is named again in each round, and the right one is followed at once', async () => {
  const node = createScriptedNode(10)
  node.before = call => {
    if (call === 'identity') throw new ConfigError('another chain')
  }
  const running = await run(node)
  await running.until('it stalls', ({ problem }) => problem === 'another chain')
  node.before = () => {}
  await running.expectLevel()
})

it('any course of growth, reorgs, lags and failures ends in the chain of the node, degraded only behind final blocks', async () => {
  const seed = Number(process.env.FOLLOW_SEED ?? 1)
  const random = seededRandom(seed)
  const below = (bound: number) => Math.floor(random() * bound)
  try {
    const node = createScriptedNode(20)
    const running = await run(node, { roundBlocks: 7, window: 4, lowerHeadGraceMs: 0 })
    for (let step = 0; step < 40; step++) {
      let countdown = below(12)
      const change = () => {
        const newest = node.chain.length - 1
        const kept = Math.max(0, newest - below(random() < 0.2 ? 40 : 6))
        node.reorg(kept, 1 + below(12), `step ${step} ${below(1_000)}`)
      }
      node.before = () => {
        if (countdown-- > 0) return
        countdown = Number.POSITIVE_INFINITY
        if (random() < 0.3) throw new NodeUnavailableError('away')
        if (random() < 0.3) throw new NodeContradictionError('odd')
        change()
      }
      change()
      await running.expectLevel()
    }
    expect(running.status().degraded).toBe(false)
  } catch (error) {
    throw new Error(`FOLLOW_SEED=${seed}`, { cause: error })
  }
})

function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
