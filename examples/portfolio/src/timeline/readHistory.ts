import { hasReason, isConfirmed } from '@chain-data/client/fetch'
import {
  type Anchor,
  anchorAt,
  appendOlder,
  blockOf,
  countUnsettled,
  cursorOf,
  dropAbove,
  fitsBelow,
  foldNewest,
  type History,
  type ReadRecords,
  reaches
} from './History.ts'

/** Records of a page. */
const pageLength = 25
/** Most records of one call. */
const mostAtOnce = 1000
/** Calls that close a gap to what is held. Beyond them the list begins anew. */
const mostBridges = 5
/** How deep reorgs may go on a chain that does not say what is final. */
const usualDepth = 64
const mostAttempts = 3

/** Where a history is read from, and where it is held. */
export interface HistorySource {
  /** At most `limit` records: the newest, or those after the record `before`. */
  readonly read: (page: { limit: number; before?: string }) => Promise<ReadRecords>
  /** Newest block that is final; nothing where nobody says. */
  readonly readFinalized: () => Promise<number | undefined>
  /** The balance that was read last; nothing when none was. */
  readonly readAnchor: () => Anchor | undefined
  readonly held: () => History
  readonly hold: (history: History) => void
}

/**
 * Reads the newest records and all that may still change, and lays them over what is held.
 *
 * @remarks One call, unless more has happened than it shows.
 */
export async function refreshHistory(source: HistorySource): Promise<void> {
  // Asked first: what was final before the records were read cannot have changed since.
  const finalized = await source.readFinalized()
  const anchor = source.readAnchor()
  const newest = await readNewest(source)
  const top = newest.records.find(record => isConfirmed(record))
  const settled = finalized ?? (top === undefined ? -1 : blockOf(top) - usualDepth)
  const before = source.held()
  source.hold(anchorAt(foldNewest(before, newest, settled), before, anchor))
}

/** The newest records, down to what is held. */
async function readNewest(source: HistorySource): Promise<ReadRecords> {
  const limit = Math.min(mostAtOnce, countUnsettled(source.held()) + pageLength)
  let newest = await source.read({ limit })
  for (let bridges = 0; bridges < mostBridges && !reaches(source.held(), newest); bridges++) {
    const cursor = cursorOf(newest.records)
    if (cursor === undefined) break
    const below = await readBelow(source, cursor.hash)
    // A reorg came between: the next refresh sees it whole.
    if (below === undefined || !fitsBelow(newest.records, cursor, below.records)) break
    newest = { records: [...newest.records, ...below.records], isLast: below.isLast }
  }
  return newest
}

/** @returns Nothing where a reorg has removed the record. */
async function readBelow({ read }: HistorySource, hash: string): Promise<ReadRecords | undefined> {
  return await read({ limit: mostAtOnce, before: hash }).catch((error: unknown) => {
    if (hasReason(error, 'CURSOR_REORGED')) return undefined
    throw error
  })
}

/**
 * Reads the next older page.
 *
 * @remarks Where a reorg has removed the record it begins after, what lay above the last common block is read anew first.
 */
export async function readOlder(source: HistorySource): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const asked = source.held()
    const cursor = cursorOf(asked.records)
    if (asked.isComplete) return
    if (cursor === undefined) return refreshHistory(source)
    try {
      const older = await source.read({ limit: pageLength, before: cursor.hash })
      const grown = appendOlder(source.held(), asked, older)
      if (grown !== undefined) return source.hold(grown)
      if (attempt === mostAttempts) return
      await refreshHistory(source)
    } catch (error) {
      if (!hasReason(error, 'CURSOR_REORGED') || attempt === mostAttempts) throw error
      await refreshAbove(source, error.data.lastCommonBlock.blockNumber)
    }
  }
}

/** Reads anew what a reorg has replaced. What was shown stays until that is there. */
async function refreshAbove(source: HistorySource, lastCommonBlock: number): Promise<void> {
  // A balance that was read before may be that of a block which is gone.
  const held = () => ({
    ...dropAbove(source.held(), lastCommonBlock),
    outdated: source.readAnchor()?.blockHash
  })
  await refreshHistory({ ...source, held, readAnchor: () => undefined })
}
