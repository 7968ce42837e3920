import {
  type Address,
  type BlockRef,
  type DeepHistoryCache,
  type Snapshot,
  StoreUnavailableError,
  type SyncStatus
} from '@chain-data/index'
import { firstTransactionId } from '@chain-data/index/record'
import { openMemoryDeepHistoryCache, people } from '@chain-data/index/test'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { type BelowIndex, joinBelow } from '../../server/methods/OlderHistory.ts'
import type { DeepHistory } from './below/createDeepHistory.ts'
import { openBelowIndex } from './openBelowIndex.ts'

const [, , , account, , other] = people as [Address, Address, Address, Address, Address, Address]
const anchor: BlockRef = { number: 1_000, hash: `0x${'a1'.repeat(32)}` }
const context = { chainId: 1, signal: new AbortController().signal, deadlineMs: Date.now() + 25_000 }
const record = { id: 7, hash: new Uint8Array(32), bytes: new Uint8Array(40) }
const held = { owner: account, contract: other, standard: 'erc20' } as const

let cache: DeepHistoryCache
let snapshot: Snapshot
beforeEach(async () => {
  // So small that every account that is written sends the others away.
  cache = openMemoryDeepHistoryCache({ bound: 1 })
  await cache.save(account, anchor, { from: 0, below: 1_000, records: [record], candidates: [held] })
  snapshot = {
    indexedRange: async () => ({ from: 1_000, to: anchor, toTimestampSeconds: 1 }),
    blockRef: async () => anchor,
    marks: async () => ({ finalized: 1_000 }),
    async *records() {}
  } as unknown as Snapshot
})
afterEach(() => cache.close())

const letLeave = () => cache.save(other, anchor, { from: 0, below: 1_000, records: [], candidates: [] })

async function open(
  onRead = async () => undefined,
  anchors?: BoundedMap<Address, BlockRef>
): Promise<BelowIndex> {
  const deep = {
    cache,
    answeredBy: () => 'ots' as const,
    coverage: async () => ({ source: 'ots' as const, from: 0, gaps: [] }),
    async readCandidates() {
      await onRead()
      return { isDone: true, reachedBlock: 0 }
    }
  } as Partial<DeepHistory> as DeepHistory
  const below = await openBelowIndex(
    { chainId: 1, deep, ...(anchors && { anchors }) },
    snapshot,
    account,
    {} as SyncStatus,
    context
  )
  if (below === undefined) throw new Error('something lies below this index')
  return below
}

async function idsOf(below: BelowIndex, limit?: number): Promise<readonly number[]> {
  const ids: number[] = []
  const part = limit === undefined ? {} : { limit }
  for await (const chunk of joinBelow(snapshot, below).records(account, part)) ids.push(...chunk.ids)
  return ids
}

it('gives no short history when the account left the cache after it was read', async () => {
  const below = await open()
  expect(await below.missing(undefined)).toBeUndefined()
  expect(await idsOf(below)).toEqual([7])
  await letLeave()
  await expect(idsOf(below)).rejects.toThrow(StoreUnavailableError)
  await expect(idsOf(below, 1)).rejects.toThrow(StoreUnavailableError)
})

it('gives no short list of what may be held when the account left the cache after it was read', async () => {
  expect(await (await open()).readCandidates()).toEqual([held])
  const below = await open(async () => void (await letLeave()))
  await expect(below.readCandidates()).rejects.toThrow(StoreUnavailableError)
})

it('gives a page that is full without what is not read yet', async () => {
  await letLeave()
  await cache.save(account, anchor, { from: 500, below: 1_000, records: [record] })
  const below = await open()
  expect(await idsOf(below, 1)).toEqual([7])
  await expect(idsOf(below, 2)).rejects.toThrow(StoreUnavailableError)
})

it('keeps what was read of an account while the index gets older blocks, and gives nothing twice', async () => {
  const ids = [firstTransactionId(950), firstTransactionId(900) - 1, 7]
  const records = ids.map(id => ({ ...record, id }))
  await letLeave()
  await cache.save(account, anchor, { from: 0, below: 1_000, records, candidates: [held] })
  const anchors = new BoundedMap<Address, BlockRef>(10)
  const openAt = async (from: number) => {
    snapshot = {
      ...snapshot,
      indexedRange: async () => ({ from, to: anchor, toTimestampSeconds: 1 }),
      blockRef: async (number: number) =>
        number === 1_000 ? anchor : { number, hash: `0x${number.toString(16).padStart(64, '0')}` as const }
    }
    return open(undefined, anchors)
  }
  expect(await idsOf(await openAt(1_000))).toEqual(ids)
  const later = await openAt(900)
  expect(later.anchor).toEqual(anchor)
  expect(await later.missing(undefined)).toBeUndefined()
  expect(await idsOf(later)).toEqual(ids.slice(1))
  expect((await openAt(900)).anchor).toEqual(anchor)
  await letLeave()
  expect((await openAt(900)).anchor.number).toBe(900)
})
