import { checkResult } from '@chain-data/protocol/validators'
import { describe, expect, it } from 'vitest'
import type { IndexCoverage } from '../../index/port/status.ts'
import type { Snapshot } from '../../index/port/store.ts'
import { emptySnapshot } from '../../index/shared/IndexSnapshot.ts'
import type { SyncStatus } from '../../model/sync.ts'
import { StoreUnavailableError } from '../../platform/errors.ts'
import { ResultStream } from './MethodContext.ts'
import { createGetSyncStatus } from './svc_getSyncStatus.ts'

const chainId = 31337
const following: SyncStatus = {
  chainId,
  phase: 'following',
  head: 20,
  indexedFrom: 5,
  indexedTo: { number: 20, hash: `0x${'ab'.repeat(32)}` },
  backfilled: true,
  degraded: false,
  poolCovered: true
}

function ask(
  coverage: IndexCoverage | (() => Promise<Snapshot>),
  change: { readonly deepHistory?: () => 'node' | 'none' | undefined } | { status(): SyncStatus } = {}
) {
  let open = 0
  const openSnapshot = async (): Promise<Snapshot> => {
    if (typeof coverage === 'function') return coverage()
    open++
    return { ...emptySnapshot, coverage: async () => coverage, close: async () => void open-- }
  }
  const chain = { status: () => following, reader: { openSnapshot }, ...change }
  const status = createGetSyncStatus({ evmChains: new Map([[chainId, chain]]), solanaChains: new Map() })
  const call = { chainId, signal: new AbortController().signal, deadlineMs: Date.now() + 5_000 }
  return status([], call).then(result => {
    if (result instanceof ResultStream) throw new Error('a status is no stream')
    expect(open).toBe(0)
    expect(checkResult('svc_getSyncStatus', result)).toBe(undefined)
    return result
  })
}

describe('what a status says of the coverage', () => {
  it('names the first blocks from which transfers and internal transfers are known', async () => {
    const result = await ask({ detailedFrom: 5, tracedFrom: 9, countedFrom: 5 })
    expect(result).toMatchObject({ transfersFrom: 5, internalFrom: 9, covers: { internal: false } })
    expect(result).not.toHaveProperty('deepHistory')
  })

  it('says that internal transfers are covered only where every indexed block was traced', async () => {
    expect((await ask({ tracedFrom: 5 })).covers.internal).toBe(true)
    expect((await ask({ tracedFrom: 6 })).covers.internal).toBe(false)
    expect((await ask({})).covers.internal).toBe(false)
    const { indexedTo: _, ...empty } = following
    expect((await ask({ tracedFrom: 5 }, { status: () => empty })).covers.internal).toBe(false)
  })

  it('leaves out what is not known', async () => {
    const result = await ask({})
    expect(result).not.toHaveProperty('transfersFrom')
    expect(result).not.toHaveProperty('internalFrom')
  })

  it('tells who answers below the index, where anything lies there', async () => {
    expect(await ask({}, { deepHistory: () => 'node' })).toHaveProperty('deepHistory', 'node')
    expect(await ask({}, { deepHistory: () => 'none' })).toHaveProperty('deepHistory', 'none')
    expect(await ask({}, { deepHistory: () => undefined })).not.toHaveProperty('deepHistory')
    const whole = await ask(
      {},
      { deepHistory: () => 'none', status: () => ({ ...following, indexedFrom: 0 }) }
    )
    expect(whole).not.toHaveProperty('deepHistory')
  })

  it('answers without it while the store is away, or takes too long', async () => {
    const away = () => Promise.reject(new StoreUnavailableError('the database does not answer'))
    const silent = () => new Promise<Snapshot>(() => {})
    for (const openSnapshot of [away, silent]) {
      expect(await ask(openSnapshot)).toMatchObject({ head: 20, indexedTo: 20, covers: { transfers: true } })
    }
  })
})
