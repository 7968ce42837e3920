import { expect, it } from 'vitest'
import type { Hash } from '../model/evm.ts'
import { silentLogger } from '../platform/logger.ts'
import type { PoolUpdate, StoreWriter } from '../store/store.ts'
import type { ChainSource } from './chainSource.ts'
import { createPoolWatch } from './poolWatch.ts'
import { createStatusBoard } from './statusBoard.ts'

type View = Awaited<ReturnType<ChainSource['pool']>>

/** A watch over a node that shows one view after the other. */
function watchOver(...views: View[]) {
  const updates: PoolUpdate[] = []
  const node: { hash: Hash } = { hash: '0x07' }
  const board = createStatusBoard({
    ...{ chainId: 1, phase: 'following', indexedFrom: 0, backfilled: true, degraded: false },
    poolCovered: false
  })
  const watch = createPoolWatch({
    source: {
      pool: async () => views.shift(),
      blockRef: async number => ({ number, hash: node.hash })
    } as Partial<ChainSource> as ChainSource,
    store: {
      blockRef: async number => ({ number, hash: '0x07' }),
      state: async () => ({
        backfilled: true,
        settled: true,
        degraded: false,
        head: { number: 7, hash: '0x07' }
      }),
      updatePool: async (update: PoolUpdate) => {
        updates.push(update)
      }
    } as Partial<StoreWriter> as StoreWriter,
    board,
    logger: silentLogger,
    intervalMs: 60_000,
    signal: new AbortController().signal
  })
  return { watch, board, updates, node }
}

const whole = { present: [], seenAtSeconds: 1, headAfter: 7, complete: true }
const part = { ...whole, complete: false }

it('a part of a pool is taken for what there is, unless the whole pool was shown before', async () => {
  const modest = watchOver(part)
  await modest.watch.look()
  expect(modest.updates).toHaveLength(1)
  expect(modest.board.read()).toMatchObject({ poolCovered: false, poolSeenAtMs: expect.any(Number) })

  const { watch, board, updates } = watchOver(whole, part, whole)
  await watch.look()
  board.change({ poolSeenAtMs: 1 })
  await watch.lookAnew()
  expect(updates).toHaveLength(1)
  expect(board.read()).toMatchObject({ poolCovered: false, poolSeenAtMs: 1 })
  await watch.lookAnew()
  expect(board.read().poolCovered).toBe(true)
})

it('a look anew does not wait for its time', async () => {
  const { watch, updates } = watchOver(whole, whole)
  await watch.look()
  await watch.look()
  expect(updates).toHaveLength(1)
  await watch.lookAnew()
  expect(updates).toHaveLength(2)
})

it('a pool seen beside another block than the indexed one of that height changes nothing', async () => {
  const { watch, board, updates, node } = watchOver(whole, whole)
  node.hash = '0x08'
  await watch.look()
  expect(updates).toEqual([])
  expect(board.read()).not.toHaveProperty('poolSeenAtMs')
  node.hash = '0x07'
  await watch.look()
  expect(updates).toHaveLength(1)
})
