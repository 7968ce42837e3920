import { createHistogram, depthBounds, type IndexFigures, writeBounds } from '../../platform/figures.ts'
import type { LogFields, Logger } from '../../platform/logger.ts'

/** Counts of what one indexer does, for its metrics and for the log. */
export interface IndexCounts {
  /** Notes a commit of new blocks. @param startedMs - by `performance.now()`. */
  committed(commit: {
    readonly blocks: number
    readonly transactions: number
    readonly startedMs: number
  }): void
  /** Notes the removal of the newest stored blocks. */
  rolledBack(depth: number, startedMs: number): void
  /** Notes a block that the nodes are being asked for until `fetch` settles. */
  fetching<T>(fetch: Promise<T>): Promise<T>
  /** Notes the size of the pool at a poll. */
  polledPool(transactions: number): void
  read(): IndexFigures
}

export function createIndexCounts(chainId: number): IndexCounts {
  const commits = createHistogram(writeBounds)
  const rollbacks = createHistogram(writeBounds)
  const reorgDepths = createHistogram(depthBounds)
  const secondsSince = (startedMs: number) => (performance.now() - startedMs) / 1_000
  let blocks = 0
  let transactions = 0
  let blocksUnderWay = 0
  let poolTransactions: number | undefined

  return {
    committed(commit) {
      commits.note(secondsSince(commit.startedMs))
      blocks += commit.blocks
      transactions += commit.transactions
    },
    rolledBack(depth, startedMs) {
      rollbacks.note(secondsSince(startedMs))
      reorgDepths.note(depth)
    },
    fetching(fetch) {
      blocksUnderWay++
      return fetch.finally(() => {
        blocksUnderWay--
      })
    },
    polledPool(count) {
      poolTransactions = count
    },
    read: () => ({
      ...{ chainId, blocks, transactions, blocksUnderWay },
      commits: commits.read(),
      rollbacks: rollbacks.read(),
      reorgDepths: reorgDepths.read(),
      ...(poolTransactions === undefined ? {} : { poolTransactions })
    })
  }
}

/**
 * Logs how a long catch-up or backfill is going: rates since the last line, and the time left at this rate.
 *
 * @param options.intervalMs - at most one line in this time; nothing is written while the index keeps up.
 * @returns to be called after each commit, with the number of blocks that are left; returns the seconds left at the present
 *   rate, if it logged a line.
 */
export function createProgressLog({
  counts,
  logger,
  isBackfill = false,
  intervalMs = 3_000,
  now = () => performance.now()
}: {
  readonly counts: Pick<IndexCounts, 'read'>
  readonly logger: Logger
  /** Blocks older than the index are added to it. */
  readonly isBackfill?: boolean
  readonly intervalMs?: number
  readonly now?: () => number
}): (left: number, range: LogFields) => number | undefined {
  const message = isBackfill ? 'backfilling' : 'indexing'
  let last = { atMs: now(), ...counts.read() }
  return (left, range) => {
    const current = { atMs: now(), ...counts.read() }
    const elapsedMs = current.atMs - last.atMs
    if (elapsedMs < intervalMs) return undefined
    const blocksPerSecond = ((current.blocks - last.blocks) * 1000) / elapsedMs
    const etaSeconds = left > 0 ? Math.ceil(left / blocksPerSecond) : undefined
    if (etaSeconds !== undefined) {
      logger.info(message, {
        ...range,
        blocksPerSecond: Math.round(blocksPerSecond * 10) / 10,
        transactionsPerSecond: Math.round(((current.transactions - last.transactions) * 1000) / elapsedMs),
        etaSeconds
      })
    }
    last = current
    return etaSeconds
  }
}
