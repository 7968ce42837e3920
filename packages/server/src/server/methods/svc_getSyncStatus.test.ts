import { type IndexCoverage, type Snapshot, StoreUnavailableError, type SyncStatus } from '@chain-data/index'
import { emptySnapshot } from '@chain-data/index/test'
import type { NativeCurrency } from '@chain-data/protocol'
import { checkResult } from '@chain-data/protocol/validators'
import { describe, expect, it } from 'vitest'
import type { DeepSource } from '../../model/deepHistory.ts'
import { ResultStream, ResultText } from './MethodContext.ts'
import { createGetSyncStatus } from './svc_getSyncStatus.ts'

const chainId = 31337
const nowMs = 1_800_000_000_000
const hash = `0x${'ab'.repeat(32)}` as const
const following: SyncStatus = {
  ...{ chainId, phase: 'following', head: 20, headTimestampSeconds: nowMs / 1_000 - 7 },
  ...{ indexedFrom: 5, indexedTo: { number: 20, hash }, backfilled: true, degraded: false },
  ...{ poolCovered: true, poolSeenAtMs: nowMs - 1_000 }
}

interface Asked {
  readonly coverage?: IndexCoverage
  readonly marks?: { readonly backfilled?: boolean; readonly settled?: boolean }
  /** Newest block of the index; null: it is empty. */
  readonly to?: number | null
  readonly status?: Partial<SyncStatus>
  readonly deepHistory?: DeepSource | undefined
  readonly names?: { readonly name: string; readonly nativeCurrency: NativeCurrency }
  readonly serveWhileSyncing?: boolean
  openSnapshot?(): Promise<Snapshot>
}

/** Asks for the status of an index that holds something, as its indexer reports it. */
async function ask(asked: Asked = {}) {
  const { coverage = {}, marks, to = 20, status = {}, deepHistory, serveWhileSyncing = false, names } = asked
  let open = 0
  const openSnapshot = async (): Promise<Snapshot> => {
    open++
    return {
      ...emptySnapshot,
      marks: async () => ({ backfilled: true, settled: true, degraded: false, ...marks }),
      indexedRange: async () =>
        to === null
          ? undefined
          : {
              from: status.indexedFrom ?? 5,
              to: { number: to, hash },
              toTimestampSeconds: nowMs / 1_000 - 20 + to
            },
      coverage: async () => coverage,
      close: async () => void open--
    }
  }
  const chain = {
    ...names,
    reader: { openSnapshot: asked.openSnapshot ?? openSnapshot },
    status: () => ({ ...following, ...status }),
    deepHistory: () => deepHistory
  }
  const answer = createGetSyncStatus({
    ...{ evmChains: new Map([[chainId, chain]]), solanaChains: new Map() },
    ...{ serveWhileSyncing, clock: { now: () => nowMs } }
  })
  const signal = new AbortController().signal
  const result = await answer([], { chainId, signal, deadlineMs: nowMs + 5_000 })
  if (result instanceof ResultStream || result instanceof ResultText) throw new Error('a status is a value')
  expect(open).toBe(0)
  expect(checkResult('svc_getSyncStatus', result)).toBe(undefined)
  return result
}

describe('what a status says of the coverage', () => {
  it('names the first blocks from which transfers and internal transfers are known', async () => {
    const result = await ask({ coverage: { tracedFrom: 9 } })
    expect(result).toMatchObject({
      ...{ transfersFrom: 5, internalFrom: 9, operationsFrom: 5 },
      covers: { internal: false, operations: true }
    })
    expect(result).not.toHaveProperty('deepHistory')
  })

  it('says that internal transfers are covered only where every indexed block was traced', async () => {
    expect((await ask({ coverage: { tracedFrom: 5 } })).covers.internal).toBe(true)
    expect((await ask({ coverage: { tracedFrom: 6 } })).covers.internal).toBe(false)
    expect((await ask()).covers.internal).toBe(false)
    expect((await ask({ coverage: { tracedFrom: 5 }, to: null })).covers.internal).toBe(false)
  })

  it('leaves out what is not known', async () => {
    const result = await ask({ to: null })
    for (const name of ['transfersFrom', 'internalFrom', 'indexedFrom', 'indexedTo', 'lagBlocks', 'problem'])
      expect(result).not.toHaveProperty(name)
  })

  it('names the index of addresses that answers below the index, and none where nothing lies there', async () => {
    expect(await ask({ deepHistory: 'ots' })).toHaveProperty('deepHistory', 'ots')
    expect(await ask({ deepHistory: 'none' })).toHaveProperty('deepHistory', 'none')
    expect(await ask()).not.toHaveProperty('deepHistory')
    expect(await ask({ status: { indexedFrom: 0 } })).toHaveProperty('deepHistory', 'none')
  })
})

describe('what a status says of the integrity of the index', () => {
  it('is what the check of the index has found, from its first block on', async () => {
    const integrity = { checkedBlocks: 7, passDone: 0.12345, passEndedAtMs: 1_718_900_000_999, damaged: 1 }
    const status = { integrity: { ...integrity, healed: 2, checkedFrom: 9, problem: 'no node has block 3' } }
    expect((await ask({ status })).integrity).toEqual({
      ...{ checkedFrom: 5, passDone: 0.123, passEndedAt: 1_718_900_000, damaged: 1, healed: 2 },
      problem: 'no node has block 3'
    })
  })

  it('is only that where another server indexes the chain', async () => {
    expect((await ask()).integrity).toEqual({ checkedFrom: 5 })
  })
})

describe('what a status says of the chain', () => {
  it('is its name and currency where they are known', async () => {
    const nativeCurrency = { name: 'POL', symbol: 'POL', decimals: 18 }
    expect(await ask({ names: { name: 'Polygon', nativeCurrency } })).toMatchObject({
      ...{ name: 'Polygon', nativeCurrency }
    })
    for (const member of ['name', 'nativeCurrency']) expect(await ask()).not.toHaveProperty(member)
  })

  it('is ready, with the age of its head, while histories are answered', async () => {
    expect(await ask()).toMatchObject({
      ...{ ready: true, phase: 'following', head: 20, headAgeSeconds: 0, lagBlocks: 0, degraded: false }
    })
    expect(await ask({ to: 18 })).toMatchObject({ headAgeSeconds: 7, lagBlocks: 2 })
  })

  it('is of the view of the index that a history is read from, where the indexer has reported less', async () => {
    expect(await ask({ to: 23 })).toMatchObject({ head: 23, indexedTo: 23, lagBlocks: 0, ready: true })
    expect(await ask({ marks: { backfilled: false } })).toMatchObject({ ready: false })
    expect(await ask({ marks: { settled: false }, to: 18 })).toMatchObject({ ready: false, indexedTo: 18 })
  })

  it('is not ready while a history would be refused', async () => {
    expect(await ask({ status: { phase: 'backfilling' } })).toMatchObject({ ready: false })
    const problem = 'no node answers'
    const stalled = await ask({ status: { phase: 'stalled', problem } })
    expect(stalled).toMatchObject({ ready: false, degraded: true, problem })
    const unseen = await ask({ status: { poolSeenAtMs: nowMs - 15_001 } })
    expect(unseen).toMatchObject({ ready: false, problem: expect.stringContaining('transaction pool') })
    // The clock was set back by an hour since the poll.
    const ahead = await ask({ status: { poolSeenAtMs: nowMs + 3_600_000 } })
    expect(ahead).toMatchObject({ ready: false, problem: expect.stringContaining('transaction pool') })
    const syncing = { marks: { backfilled: false }, status: { phase: 'backfilling' } } as const
    expect(await ask(syncing)).toMatchObject({ ready: false })
    expect(await ask({ ...syncing, serveWhileSyncing: true })).toMatchObject({ ready: false })
  })

  it('names the blocks that a backfill has still to add, and is ready meanwhile if the host wants that', async () => {
    const status = { startBlock: 2, backfillSeconds: 7 }
    const backfill = { to: 2, blocksLeft: 3, expectedSeconds: 7 }
    expect(await ask({ status, serveWhileSyncing: true })).toMatchObject({ ready: true, backfill })
    expect(await ask({ status })).toMatchObject({ ready: false, backfill })
    const problem = 'the node has pruned block 4'
    const stuck = await ask({ status: { startBlock: 2, backfillProblem: problem } })
    expect(stuck.backfill).toEqual({ to: 2, blocksLeft: 3, problem })
    expect(await ask({ status: { startBlock: 5 } })).not.toHaveProperty('backfill')
  })

  it('is degraded while the head is below the index', async () => {
    expect(await ask({ status: { head: 17 } })).toMatchObject({
      ...{ head: 17, indexedTo: 20, lagBlocks: 0, degraded: true, ready: true }
    })
  })

  it('is what the indexer last reported while the store is away, or takes too long, and not ready', async () => {
    const away = () => Promise.reject(new StoreUnavailableError('the database does not answer'))
    const silent = () => new Promise<Snapshot>(() => {})
    for (const openSnapshot of [away, silent]) {
      expect(await ask({ openSnapshot })).toMatchObject({
        ...{ head: 20, indexedTo: 20, covers: { transfers: true } },
        ...{ ready: false, problem: 'the store does not answer' }
      })
    }
  })
})
