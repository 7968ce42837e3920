import type { HistoryPage } from '@chain-data/protocol'
import type { Address, Hash, PendingTransaction } from '../model/evm.ts'
import type { SyncStatus } from '../model/sync.ts'
import type { Clock } from '../platform/clock.ts'
import { Refusal } from '../platform/refusal.ts'
import type { Snapshot, StoreReader, TransactionPosition } from '../store/store.ts'
import type { FormatAddress } from './addressFormat.ts'
import { chainOf } from './chainOf.ts'
import { createPageTexts } from './createPageTexts.ts'
import { createRecordWriter } from './createRecordWriter.ts'
import type { Handlers } from './MethodContext.ts'
import { type ResultChunk, ResultStream } from './ResultStream.ts'
import { notBackfilled, openSettled, requireFollowing, requireFreshPool } from './requireCurrent.ts'
import { toTransactionRecord } from './toTransactionRecord.ts'

/** What the transaction history of one chain is read from. */
export interface HistoryChain {
  readonly chainId: number
  readonly reader: StoreReader
  status(): SyncStatus
}

export interface HistoryOptions {
  readonly chains: ReadonlyMap<number, HistoryChain>
  /** Most records of an answer without `limit`; null: no bound. */
  readonly maxUnpaged: number | null
  /** Answer from what is indexed while the first backfill still runs. */
  readonly serveWhileSyncing: boolean
  /** Bytes of pages kept in memory; absent: none. */
  readonly cacheBytes?: number
  readonly formatAddress: FormatAddress
  readonly clock: Clock
}

/**
 * Transactions associated with an address, pending ones first, then newest first; all of them come from one
 * snapshot of the index, which stays open until the answer is written.
 */
export function createGetTransactionsByAddress(
  options: HistoryOptions
): Handlers['svc_getTransactionsByAddress'] {
  const { chains, maxUnpaged, serveWhileSyncing, cacheBytes = 0, formatAddress, clock } = options
  const writeRecords = createRecordWriter(formatAddress)
  const pageTexts = createPageTexts({ write: writeRecords, bytes: cacheBytes })

  return async ([anyCaseAddress, page = {}], context) => {
    const chain = chainOf(chains, context)
    const address = anyCaseAddress.toLowerCase() as Address
    const isFirstPage = page.before === undefined
    const { snapshot, status } = isFirstPage
      ? await openSettled(chain, clock, context.signal)
      : { snapshot: await chain.reader.openSnapshot(), status: chain.status() }
    try {
      context.signal.throwIfAborted()
      const isBackfilled = await snapshot.backfilled()
      if (!isBackfilled && !serveWhileSyncing) throw await notBackfilled(snapshot, status)
      if (isBackfilled && isFirstPage) {
        requireFollowing(status)
        requireFreshPool(status, clock.now())
      }
      const { pending, olderThan } = await openPage(snapshot, address, page, chain.chainId)
      if (page.limit === undefined && maxUnpaged !== null) {
        await requireAtMost(maxUnpaged, snapshot, address, pending.length, olderThan)
      }
      return new ResultStream(
        readPage(snapshot, chain.chainId, address, pending, page.limit, olderThan),
        () => snapshot.close()
      )
    } catch (error) {
      await snapshot.close()
      throw error
    }
  }

  async function* readPage(
    snapshot: Snapshot,
    chainId: number,
    address: Address,
    pending: readonly PendingTransaction[],
    limit: number | undefined,
    olderThan: TransactionPosition | undefined
  ): AsyncGenerator<ResultChunk> {
    const shown = pending.slice(0, limit)
    if (shown.length > 0) yield shown.map(transaction => toTransactionRecord(transaction, formatAddress))
    if (limit === undefined) {
      const all = snapshot.records(address, olderThan === undefined ? {} : { olderThan })
      for await (const chunk of all) yield writeRecords(chunk)
    } else if (limit > shown.length) {
      yield* pageTexts(snapshot, { chainId, address, limit: limit - shown.length, olderThan })
    }
  }
}

interface Page {
  readonly pending: readonly PendingTransaction[]
  readonly olderThan: TransactionPosition | undefined
}

/** The first page begins with what is pending; a later one after the record that `before` names. */
async function openPage(
  snapshot: Snapshot,
  address: Address,
  { before }: HistoryPage,
  chainId: number
): Promise<Page> {
  if (before === undefined) return { pending: await snapshot.pending(address), olderThan: undefined }
  const found = await snapshot.lookUpHash(before.toLowerCase() as Hash)
  switch (found.kind) {
    case 'confirmed':
      return { pending: [], olderThan: found.position }
    case 'reorged': {
      const { number: blockNumber, hash: blockHash } = found.commonAncestor
      throw new Refusal(
        'CURSOR_REORGED',
        `The transaction given as before is no longer part of chain ${chainId}.`,
        {
          lastCommonBlock: { blockNumber, blockHash }
        }
      )
    }
    case 'unknown':
      throw new Refusal('INVALID_PARAMS', '/params/1/before must be the hash of a confirmed transaction.', {
        path: '/params/1/before'
      })
  }
}

/** Checked before anything is sent, because a list is never cut silently. */
async function requireAtMost(
  maxUnpaged: number,
  snapshot: Snapshot,
  address: Address,
  pendingCount: number,
  olderThan: TransactionPosition | undefined
): Promise<void> {
  const atMost = maxUnpaged + 1
  const confirmedCount =
    olderThan === undefined
      ? await snapshot.countHistory(address, atMost)
      : await countOlder(snapshot, address, atMost, olderThan)
  if (pendingCount + confirmedCount <= maxUnpaged) return
  throw new Refusal(
    'TOO_MANY_RESULTS',
    `The history has more than ${maxUnpaged} records: ask for pages with limit and before.`,
    { maxUnpaged }
  )
}

async function countOlder(
  snapshot: Snapshot,
  address: Address,
  limit: number,
  olderThan: TransactionPosition
): Promise<number> {
  let count = 0
  for await (const { ids } of snapshot.records(address, { olderThan, limit })) count += ids.length
  return count
}
