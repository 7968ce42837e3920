import type { ErrorDataOf } from '@chain-data/protocol'
import type { TransactionRecord } from '../Client.ts'
import type { Coverage } from '../parseCoverage.ts'

/** How far the host is with reading history older than its index. */
export type ReadingProgress = ErrorDataOf['STILL_READING']['progress']

/** What holds in every state. */
export interface HistoryFacts {
  /** Whether the account may have records older than the last one. */
  readonly hasOlder: boolean
  /** Whether `loadOlder` is under way. */
  readonly isLoadingOlder: boolean
  /** Why the last `loadOlder` failed; absent after the next one began. */
  readonly olderError?: Error
  /** Which blocks the records speak of; absent where the host does not report it, or hides the header from the page. */
  readonly coverage?: Coverage
  /** True while the service reports changes by a stream; absent once the newest records are polled. */
  readonly isStreamed?: boolean
  /** Number of reorgs that removed or moved a record of the list. What was derived from an older number may be outdated. */
  readonly reorgs: number
}

/** Records in the service's order: pending ones first, then newest first. All are of one branch of the chain. */
export interface ReadHistory extends HistoryFacts {
  /** A record keeps its hash when it is confirmed, and its object identity while nothing of it changes. */
  readonly records: readonly TransactionRecord[]
}

/** Nothing is known of the account: neither that it has records, nor that it has none. */
export interface UnreadHistory extends HistoryFacts {
  readonly records?: undefined
}

/** Why the newest records could not be read, and when they are read again. */
export interface FailedRead {
  /** A `ChainDataClientError`, unless a client of your own throws another one. */
  readonly error: Error
  /** Milliseconds since 1970; absent: not by itself, because the same call would fail again. */
  readonly retryAtMs?: number
}

/**
 * A live history at one moment. It never changes; the next one is another object.
 *
 * - `loading`: the first answer is awaited.
 * - `failed`: nothing could be read yet.
 * - `ready`: the records are those of the last answer, or of the last changes of a stream.
 * - `stale`: the last attempt to read failed; the records are those of `readAtMs`.
 * - `reading`: the host is reading older history that belongs to the newest records or to `loadOlder`, and is asked again.
 */
export type HistorySnapshot =
  | ({ readonly state: 'loading' } & UnreadHistory)
  | ({ readonly state: 'failed' } & UnreadHistory & FailedRead)
  | ({ readonly state: 'ready' } & ReadHistory)
  | ({
      readonly state: 'stale'
      /** When the records were read, in milliseconds since 1970. */
      readonly readAtMs: number
    } & ReadHistory &
      FailedRead)
  | ({ readonly state: 'reading'; readonly progress: ReadingProgress } & (ReadHistory | UnreadHistory))
