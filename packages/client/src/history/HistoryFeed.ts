/**
 * Decides when a list reads its newest records again. It carries no records itself: whatever it reports, the list reads
 * one page and joins it, so that every feed is equally safe from reorgs.
 *
 * @remarks The list asks for nothing while nobody is subscribed or sees it, and waits longer after errors, whatever the
 *   feed says.
 */
export interface HistoryFeed {
  /**
   * Begins to watch the address, when the list gets its first subscriber.
   *
   * @param changed - To be called when the history may have changed.
   * @returns Ends the watching.
   */
  readonly start: (changed: () => void) => () => void
  /**
   * How long after an answer the records are read again without {@link HistoryFeed.start} having reported anything, in
   * milliseconds; `Infinity`: only on a report.
   */
  readonly waitMs: (read: HistoryRead) => number
}

/** How the last answer differed from the one before. */
export interface HistoryRead {
  /** Whether a record came, changed or went. */
  readonly hasChanged: boolean
  /** Whether the chain has a new block; `undefined` where the host does not report its newest one. */
  readonly hasNewBlock: boolean | undefined
}

/**
 * A feed that reads again and again: half as often while the chain has no new block.
 *
 * @param everyMs - Milliseconds between an answer and the next call.
 */
export function createPolling(everyMs: number): HistoryFeed {
  return {
    start: () => () => {},
    waitMs: ({ hasChanged, hasNewBlock }) => (!hasChanged && hasNewBlock === false ? 2 * everyMs : everyMs)
  }
}
