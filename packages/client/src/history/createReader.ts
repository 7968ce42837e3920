import { type IncludedPart, isConfirmed } from '@chain-data/protocol'
import type { AbortSignalLike } from '../AbortSignalLike.ts'
import type { Client, TransactionRecord } from '../Client.ts'
import { hasReason } from '../hasReason.ts'
import { type Coverage, parseCoverage } from '../parseCoverage.ts'
import {
  advanceTo,
  blockOf,
  cursorOf,
  type HeldHistory,
  isFinal,
  joinNewest,
  nothingHeld
} from './HeldHistory.ts'
import type { ApplyChanges, HistoryPosition } from './HistoryFeed.ts'

/** The calls that a list needs, and what `createStreaming` needs besides. Every client has them. */
export type HistoryClient = Pick<Client, 'getTransactionsByAddress' | 'getSyncStatus'> &
  Partial<Pick<Client, 'send'>>

/** What is read. */
export interface ReaderOptions {
  readonly chainId: number
  readonly address: string
  readonly pageSize: number
  readonly include?: readonly IncludedPart[] | undefined
  readonly signal: AbortSignalLike
}

/** A history as it is held. */
export interface ReaderState extends HeldHistory {
  /** Of the last answer; absent where the host does not report it. */
  readonly coverage: Coverage | undefined
  /** Position of the newest records in the changes of the chain; absent where the host does not report it. */
  readonly cursor: string | undefined
  /** When the newest records were read, in milliseconds since 1970; absent before the first answer. */
  readonly readAtMs: number | undefined
}

/** Reads the history of one address and holds it. One of its functions may run at a time. */
export interface Reader {
  /** What is held now. */
  readonly state: () => ReaderState
  /**
   * Applies changes to what is held, without a call.
   *
   * @returns The cursor of what is then held; nothing where it has to be read.
   */
  readonly advance: (after: string, to: HistoryPosition, apply: ApplyChanges) => string | undefined
  /** Reads the newest records and all that may still change. */
  readonly readNewest: () => Promise<void>
  /** Reads the next older page, or everything anew where what is held may still change. */
  readonly readOlder: () => Promise<void>
}

/** Most records of one call; the document's limit `pageRecords`. */
const largestPage = 1000
/** So many more records than may have changed are read, to meet the held ones. */
const overlap = 5
/** What is final moves on rarely. */
const finalityEveryMs = 10_000
/** How deep reorgs may go where the host does not report what is final. */
const usualDepth = 64
/** Reorgs in a row that one call of `readOlder` endures. */
const mostAttempts = 3

export function createReader(
  client: HistoryClient,
  { chainId, address, pageSize, signal, ...options }: ReaderOptions
): Reader {
  let { include } = options
  let held = nothingHeld
  let coverage: Coverage | undefined
  /** Of an answer that is not held yet. */
  let answered: Coverage | undefined
  let answeredAt: string | undefined
  let cursor: string | undefined
  /** How long the list becomes with the next reading, if the account has as many records. */
  let wanted = 0
  let readAtMs: number | undefined
  const readFinality = createFinality(client, chainId, signal)

  async function read(limit: number, before?: string): Promise<readonly TransactionRecord[]> {
    try {
      return await client.getTransactionsByAddress({
        ...{ chainId, address, limit, before, include, signal },
        onAnswer: ({ header }) => {
          answered = parseCoverage(header('x-chain-data-coverage'))[0]
          answeredAt = header('x-chain-data-cursor') ?? undefined
        }
      })
    } catch (error) {
      // A host of the plain document does not know `include`.
      if (include === undefined || !hasReason(error, 'INVALID_PARAMS')) throw error
      include = undefined
      return await read(limit, before)
    }
  }

  function hold(next: HeldHistory, covers: Coverage | undefined): void {
    held = next
    wanted = 0
    if (JSON.stringify(covers) !== JSON.stringify(coverage)) coverage = covers
  }

  /** @param length - How long the list becomes at least, if the account has as many records. */
  async function readNewest(length = wanted): Promise<void> {
    const finalBlock = await readFinality(held)
    const open = held.records.filter(record => !isFinal(record, held.finalTo)).length
    const least = open + (cursorOf(held.records) === undefined ? pageSize : overlap)
    // Each longer page replaces the one before, so that what is not final is always one answer of the service.
    for (let limit = Math.max(length, least); ; limit *= 4) {
      const isLargest = limit >= largestPage
      if (isLargest) limit = largestPage
      const records = await read(limit)
      const joined = joinNewest(held, {
        records,
        limit,
        length,
        isLargest,
        finalTo: finalBlock(records, answered)
      })
      if (joined === undefined) continue
      cursor = answeredAt
      readAtMs = Date.now()
      return hold(joined, answered)
    }
  }

  async function readOlder(): Promise<void> {
    for (let attempt = 1; held.hasOlder && attempt <= mostAttempts; attempt++) {
      const cursor = cursorOf(held.records)
      const length = held.records.length + pageSize
      // Older records go below one that no reorg moves; without such a one all are read anew.
      if (cursor === undefined || (!isFinal(cursor, held.finalTo) && length <= largestPage)) {
        return await readNewest(length)
      }
      try {
        const older = await read(pageSize, cursor.hash)
        const known = new Set(held.records.map(({ hash }) => hash))
        if (older.every(({ hash }) => !known.has(hash))) {
          const records = [...held.records, ...older]
          // The newest records are still those of the answer before.
          const covers = answered && coverage?.to ? { ...answered, to: coverage.to } : answered
          return hold({ ...held, records, hasOlder: older.length === pageSize }, covers)
        }
        // A host that knows no `before` answers its newest records again: it has returned everything.
        if (isFinal(cursor, held.finalTo)) {
          held = { ...held, hasOlder: false }
          return
        }
        await readNewest()
      } catch (error) {
        if (attempt === mostAttempts || !hasReason(error, 'CURSOR_REORGED')) throw error
        // The chain replaced blocks that it had called final.
        held = { ...held, finalTo: Math.min(held.finalTo, error.data.lastCommonBlock.blockNumber) }
        await readNewest()
      }
    }
  }

  return {
    state: () => ({ ...held, coverage, cursor, readAtMs }),
    advance(after, to, apply) {
      if (after !== cursor) return cursor
      const { records, hasOlder } = held
      const next = apply(records, hasOlder)
      // What was removed leaves room at the end of a page for records that are not held.
      if (!next || (hasOlder && next.length < Math.min(records.length, pageSize))) {
        wanted = pageSize
        return undefined
      }
      cursor = to.cursor
      readAtMs = Date.now()
      hold(advanceTo(held, next, to.finalized), coverage && { ...coverage, to: to.head.blockNumber })
      return cursor
    },
    readNewest: () => readNewest(),
    readOlder
  }
}

/**
 * Follows what is final on the chain, as far as the host reports it.
 *
 * @returns Finds out which block is final in an answer that comes afterwards. It has to end before records are read: what was
 *   final before cannot change any more.
 */
function createFinality(client: HistoryClient, chainId: number, signal: AbortSignalLike) {
  let finalized: number | undefined
  let isReported = true
  let readMs = 0

  function finalBlock(records: readonly TransactionRecord[], answered: Coverage | undefined): number {
    if (isReported) return finalized ?? -1
    const newest = records.find(record => isConfirmed(record))
    return (answered?.to ?? (newest ? blockOf(newest) : 0)) - usualDepth
  }

  return async ({ records, finalTo }: HeldHistory) => {
    const nowMs = Date.now()
    const isDue = isReported && nowMs - readMs >= finalityEveryMs
    // The first page is not held up: it may be read again.
    if (isDue && records.some(record => !isFinal(record, finalTo))) {
      try {
        const status = await client.getSyncStatus({ chainId, signal, retries: 0 })
        finalized = status.finalized
        isReported = finalized !== undefined
      } catch (error) {
        // What was reported before stays final.
        isReported = !hasReason(error, 'METHOD_NOT_FOUND')
      }
      readMs = nowMs
    }
    return finalBlock
  }
}
