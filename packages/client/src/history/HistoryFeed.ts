import type { IncludedPart } from '@chain-data/protocol'
import type { TransactionRecord } from '../Client.ts'
import type { HistoryClient } from './createReader.ts'

/**
 * Decides when a list reads its newest records again. A feed that knows the changes themselves advances the list by them,
 * without a call.
 *
 * @remarks The list asks for nothing while nobody is subscribed or sees it, and waits longer after errors, whatever the
 *   feed says.
 */
export interface HistoryFeed {
  /**
   * Begins to watch the address, when the list has a subscriber and is visible.
   *
   * @param changed - To be called when the history may have changed: the newest records are read after `waitMs`, at once by
   *   default, unless the list is advanced by then.
   * @param list - The list that is to be watched for.
   * @returns Ends the watching.
   */
  readonly start: (changed: (waitMs?: number) => void, list: FedList) => () => void
  /**
   * How long after an answer the records are read again without {@link HistoryFeed.start} having reported anything, in
   * milliseconds; `Infinity`: only on a report.
   */
  readonly waitMs: (read: HistoryRead) => number
  /** Whether a stream reports changes now; `isStreamed` of the snapshot. Absent: never. */
  readonly isStreamed?: () => boolean
}

/** What a feed knows of its list. */
export interface FedList {
  /** The client that the list was created with. */
  readonly client: HistoryClient
  /** The chain that it is of. */
  readonly chainId: number
  /** The address whose history it holds, as it was given. */
  readonly address: string
  /** What the list attaches to its records. */
  readonly include?: readonly IncludedPart[] | undefined
  /**
   * Applies changes to the list, once the reading under way has ended.
   *
   * @param after - Cursor that the changes follow.
   * @param to - Position that they lead to: a state that the history had.
   * @returns The cursor at which the list then is. It is another one than that of `to` where the list was read meanwhile, so that
   *   the changes do not follow, and absent where the list has to be read, which it does by itself.
   */
  readonly advance: (after: string, to: HistoryPosition, apply: ApplyChanges) => Promise<string | undefined>
}

/** A position in the changes of a chain, such as a `synced` event. */
export interface HistoryPosition {
  /** The cursor of the position. */
  readonly cursor: string
  /** Newest block there. */
  readonly head: { readonly blockNumber: number }
  /** Newest block that is final there; absent where that is not known. */
  readonly finalized?: number
}

/**
 * Applies changes to the records of a list.
 *
 * @param hasOlder - Whether the account may have records older than the last one.
 * @returns What became of the records and what came; nothing where the changes do not tell it.
 */
export type ApplyChanges = (
  records: readonly TransactionRecord[],
  hasOlder: boolean
) => readonly TransactionRecord[] | undefined

/** How the last answer differed from the one before. */
export interface HistoryRead {
  /** Whether a record came, changed or went. */
  readonly hasChanged: boolean
  /** Whether the chain has a new block; `undefined` where the host does not report its newest one. */
  readonly hasNewBlock: boolean | undefined
  /** Position of the answer in the changes of the chain, for `watchAddresses`; absent where the host has no streams. */
  readonly cursor?: string | undefined
}

/**
 * A feed that reads again and again: half as often while the chain has no new block.
 *
 * @param everyMs - Milliseconds between an answer and the next call. Default 4 000.
 */
export function createPolling(everyMs = 4_000): HistoryFeed {
  return {
    start: () => () => {},
    waitMs: ({ hasChanged, hasNewBlock }) => (!hasChanged && hasNewBlock === false ? 2 * everyMs : everyMs)
  }
}
