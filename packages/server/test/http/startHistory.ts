import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ChangeFilter, type StoreReader, type StoreWriter, type SyncStatus } from '@chain-data/index'
import { hashOf, openSqliteReader, openSqliteWriter } from '@chain-data/index/test'
import { readPart } from '../../src/features/liveStreams/live/readPart.ts'
import { createWatchAddresses } from '../../src/features/liveStreams/svc_watchAddresses.ts'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'
import {
  createGetTransactionsByAddress,
  type HistoryOptions
} from '../../src/server/methods/svc_getTransactionsByAddress.ts'
import { type ServiceChanges, type StartedService, startService } from './startService.ts'

export interface StartedHistory {
  readonly service: StartedService
  readonly writer: StoreWriter
  readonly reader: StoreReader
  /** Of streams that could not read the log of changes. */
  readonly failures: readonly unknown[]
  /** What the indexer would report; a test may replace it. */
  status: SyncStatus
  dispose(): Promise<void>
}

/** The history method over an empty SQLite store, written by the test instead of an indexer. */
export async function startHistory(
  options: Partial<HistoryOptions> & {
    readonly limits?: ServiceChanges['limits']
    readonly maxSnapshots?: number
  } = {}
): Promise<StartedHistory> {
  const folder = await mkdtemp(join(tmpdir(), 'chain-data-history-'))
  const writer = await openSqliteWriter(folder, { chainId: 1, genesisHash: hashOf('genesis') })
  const reader = await openSqliteReader(folder, 1, { maxSnapshots: options.maxSnapshots ?? 64 })
  const started = {
    status: {
      chainId: 1,
      phase: 'following',
      head: 10,
      indexedFrom: 0,
      backfilled: true,
      degraded: false,
      poolCovered: true,
      poolSeenAtMs: Date.now()
    } as SyncStatus
  }
  const history = createGetTransactionsByAddress({
    chains: new Map([[1, { chainId: 1, reader, status: () => started.status }]]),
    maxUnpaged: null,
    serveWhileSyncing: false,
    formatAddress: createAddressFormat(),
    clock: { now: Date.now },
    ...options
  })
  const filter = new ChangeFilter()
  const watched = createWatchAddresses({
    chains: new Map([[1, { chainId: 1, reader, status: () => started.status }]]),
    ...{ serveWhileSyncing: false, formatAddress: createAddressFormat(), clock: { now: Date.now } },
    replay: (_chainId, order) => readPart(reader, filter, order),
    onFailure: (_, failure) => failures.push(failure)
  })
  const failures: unknown[] = []
  const service = startService({
    handlers: { svc_getTransactionsByAddress: history, svc_watchAddresses: watched.handler },
    ...(options.limits ? { limits: options.limits } : {})
  })
  return Object.assign(started, {
    ...{ service, failures },
    writer,
    reader,
    async dispose() {
      await reader.close()
      await writer.close()
      await rm(folder, { recursive: true, force: true })
    }
  })
}
