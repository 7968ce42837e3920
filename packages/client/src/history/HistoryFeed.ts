import type { HistoryClient } from './createReader.ts'

/**
 * Decides when a list reads its newest records again. It carries no records itself: whatever it reports, the list reads
 * one page and joins it, so that every feed is equally safe from reorgs.
 *
 * @remarks The list asks for nothing while nobody is subscribed or sees it, and waits longer after errors, whatever the
 *   feed says.
 */
export interface HistoryFeed {
  /**
   * Begins to watch the address, when the list has a subscriber and is visible.
   *
   * @param changed - To be called when the history may have changed.
   * @param list - The list that is to be watched for.
   * @returns Ends the watching.
   */
  readonly start: (changed: () => void, list: FedList) => () => void
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
  /** To be called when everything up to this block has been reported, and when `isStreamed` has changed. */
  readonly unchangedTo: (blockNumber: number) => void
}

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
