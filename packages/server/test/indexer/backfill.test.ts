import { setImmediate as nextTurn } from 'node:timers/promises'
import {
  expectedHistory,
  openSqliteReader,
  people,
  readHistory,
  temporaryFolder,
  withSnapshot
} from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { NodeContradictionError, NodeUnavailableError } from '../../src/platform/errors.ts'
import { silentLogger } from '../../src/platform/logger.ts'
import { backfill } from '../../src/server/indexer/backfill.ts'
import { createIndexCounts } from '../../src/server/indexer/indexCounts.ts'
import { createStatusBoard } from '../../src/server/indexer/status.ts'
import { type RunningFollow, runFollow } from './runFollow.ts'
import { createScriptedNode, type ScriptedNode } from './scriptedNode.ts'

const party = people[3] ?? '0x'
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function folderOf(): Promise<string> {
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  return folder.path
}

async function start(node: ScriptedNode, folder: string, startBlock = 0): Promise<RunningFollow> {
  const running = await runFollow(node, folder, { recentBlocks: 5, startBlock, backfills: true })
  cleanUps.push(() => running.stop().catch(() => undefined))
  return running
}

const blockCalls = ({ calls }: ScriptedNode) =>
  calls.flatMap(call => (call.startsWith('block ') ? [Number(call.slice(6))] : []))

describe('an empty index', () => {
  it('begins with the newest blocks, answers, and gets the older ones down to the start block', async () => {
    const node = createScriptedNode(60)
    const folder = await folderOf()
    const running = await start(node, folder, 10)
    await running.until(
      'the start block',
      ({ indexedFrom, indexedTo }) => indexedTo !== undefined && indexedFrom === 10
    )
    const first = running.statuses.find(({ phase }) => phase === 'following')
    expect(first).toMatchObject({ indexedFrom: 55, indexedTo: { number: 59 }, startBlock: 10 })
    expect(blockCalls(node).slice(0, 5)).toEqual([55, 56, 57, 58, 59])
    expect(Math.min(...blockCalls(node))).toBe(10)
    await running.expectLevel(10)
    expect(running.status()).not.toHaveProperty('backfillSeconds')
    // New blocks are followed as ever.
    node.reorg(59, 3, 'more')
    await running.expectLevel(10)
  })

  it('shows at every moment what is true of the blocks that it names', async () => {
    const node = createScriptedNode(80)
    const folder = await folderOf()
    const running = await start(node, folder)
    const reader = await openSqliteReader(folder, 31_337)
    cleanUps.push(() => reader.close())
    const seen = new Set<number>()
    for (let from = 80; from > 0; await nextTurn()) {
      await withSnapshot(reader, async snapshot => {
        const range = await snapshot.indexedRange()
        if (range === undefined) return
        from = range.from
        seen.add(from)
        const blocks = node.chain.slice(from, range.to.number + 1)
        expect(await readHistory(snapshot, party)).toStrictEqual(expectedHistory(blocks, party))
      })
    }
    expect(Math.max(...seen)).toBeGreaterThan(0)
    await running.expectLevel()
  })

  it('goes on where it was after a stop, and below an index that began at a later block', async () => {
    const node = createScriptedNode(60)
    const folder = await folderOf()
    node.before = call => {
      if (call === 'block 30') throw new NodeUnavailableError('the node is away')
    }
    const early = await start(node, folder)
    await early.until('a pause', ({ backfillProblem }) => backfillProblem !== undefined)
    expect(early.status()).toMatchObject({ phase: 'following', indexedFrom: 31 })
    await early.stop()
    const before = node.calls.length
    node.before = () => {}
    const late = await start(node, folder, 20)
    await late.until(
      'the start block',
      ({ indexedFrom, indexedTo }) => indexedTo !== undefined && indexedFrom === 20
    )
    const fetched = blockCalls({ ...node, calls: node.calls.slice(before) })
    expect([Math.max(...fetched.filter(number => number < 60)), Math.min(...fetched)]).toEqual([31, 20])
    await late.stop()
    const lower = await start(node, folder)
    await lower.until('block 0', ({ indexedFrom, indexedTo }) => indexedTo !== undefined && indexedFrom === 0)
    await lower.expectLevel()
  })
})

describe('a backfill', () => {
  it('that cannot have a block says why, keeps asking, and holds nothing else up', async () => {
    const node = createScriptedNode(40)
    const folder = await folderOf()
    let isPruned = true
    node.before = call => {
      const [, number] = /^block (\d+)$/.exec(call) ?? []
      if (isPruned && Number(number) < 17) {
        throw new NodeContradictionError(`block ${number}: the node does not have it`, { isMissing: true })
      }
    }
    node.oldestBlock = async () => 17
    const running = await start(node, folder)
    await running.until('a pause', ({ backfillProblem }) => backfillProblem !== undefined)
    expect(running.status()).toMatchObject({
      ...{ phase: 'following', indexedFrom: 17 },
      backfillProblem: expect.stringMatching(
        /block 16: the node has pruned it .* set startBlock to 17 or later, or take/
      )
    })
    expect(running.status()).not.toHaveProperty('problem')
    node.reorg(39, 2, 'more')
    await running.until('new blocks', ({ indexedTo }) => indexedTo?.number === 41)
    isPruned = false
    await running.until(
      'the rest',
      ({ indexedFrom, indexedTo }) => indexedTo !== undefined && indexedFrom === 0
    )
    expect(running.status()).not.toHaveProperty('backfillProblem')
    await running.expectLevel()
  })

  it('takes no block that the index does not name as a parent', async () => {
    const node = createScriptedNode(40)
    const folder = await folderOf()
    const liar = createScriptedNode(0)
    liar.replace(
      -1,
      Array.from({ length: 40 }, (_, i) => [{ name: `lie ${i}`, parties: [party] }]),
      'lie'
    )
    const honest = node.block
    let lies = 3
    node.block = (number, ...rest) =>
      number === 20 && lies-- > 0 ? liar.block(number) : honest(number, ...rest)
    const running = await start(node, folder)
    await running.until(
      'the start',
      ({ indexedFrom, indexedTo }) => indexedTo !== undefined && indexedFrom === 0
    )
    expect(lies).toBeLessThan(0)
    expect(running.log.map(({ message }) => message)).toContain('the backfill pauses')
    await running.expectLevel()
  })

  it('begins anew where a reorg has removed the first block of the index', async () => {
    const node = createScriptedNode(40)
    const folder = await folderOf()
    let isOver = false
    node.before = call => {
      if (!isOver && /^block (2\d|1\d|\d)$/.test(call)) throw new NodeUnavailableError('the node is away')
    }
    const running = await start(node, folder)
    await running.until('a pause', ({ backfillProblem }) => backfillProblem !== undefined)
    node.reorg(24, 20, 'other')
    await running.until('the other branch', ({ indexedTo }) => indexedTo?.number === 44)
    isOver = true
    await running.until(
      'the start',
      ({ indexedFrom, indexedTo }) => indexedTo !== undefined && indexedFrom === 0
    )
    await running.expectLevel()
  })

  it('sees that a commit was stored which failed', async () => {
    const board = createStatusBoard({
      ...{
        chainId: 31_337,
        phase: 'following',
        indexedFrom: 5,
        indexedTo: { number: 6, hash: '0x6' },
        startBlock: 0
      },
      ...{ backfilled: true, degraded: false, poolCovered: true, backfillProblem: 'disk I/O error' }
    })
    const stopping = new AbortController()
    const store = { state: async () => ({ indexedFrom: 0 }), blockRef: async () => undefined }
    await backfill({
      ...{ source: createScriptedNode(7), store: store as never, chainId: 31_337, startBlock: 0, board },
      ...{
        counts: createIndexCounts(31_337),
        logger: silentLogger,
        signal: stopping.signal,
        onDamage: () => {}
      },
      wait: async () => stopping.abort()
    })
    expect(board.read()).toMatchObject({ phase: 'following', indexedFrom: 0 })
    expect(board.read()).not.toHaveProperty('backfillProblem')
  })
})
