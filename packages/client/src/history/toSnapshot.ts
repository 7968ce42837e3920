import { hasReason } from '../hasReason.ts'
import type { ReaderState } from './createReader.ts'
import type { FailedRead, HistoryFacts, HistorySnapshot, ReadingProgress } from './HistorySnapshot.ts'

/**
 * What a list shows.
 *
 * @param held - What its reader holds.
 * @param failed - The last reading of the newest records; absent: it was answered.
 * @param progress - Of the older page that is being loaded.
 * @param doing - What else holds in every state.
 */
export function toSnapshot(
  { records, hasOlder, reorgs, coverage, readAtMs }: ReaderState,
  failed: FailedRead | undefined,
  progress: ReadingProgress | undefined,
  doing: Pick<HistoryFacts, 'isLoadingOlder' | 'olderError' | 'isStreamed'>
): HistorySnapshot {
  const facts = { hasOlder, reorgs, ...doing, ...(coverage && { coverage }) }
  const read = readAtMs === undefined ? undefined : { ...facts, records }
  const newestProgress = hasReason(failed?.error, 'STILL_READING') ? failed.error.data.progress : undefined
  if (failed && !newestProgress) {
    return read && readAtMs !== undefined
      ? { state: 'stale', readAtMs, ...failed, ...read }
      : { state: 'failed', ...failed, ...facts }
  }
  const known = newestProgress ?? progress
  if (known) return { state: 'reading', progress: known, ...(read ?? facts) }
  return read ? { state: 'ready', ...read } : { state: 'loading', ...facts }
}

/** Two snapshots are the same when each member of one is the same in the other. */
export function isSameSnapshot(one: HistorySnapshot, other: HistorySnapshot): boolean {
  const names = Object.keys({ ...one, ...other }) as (keyof HistorySnapshot)[]
  return names.every(name => one[name] === other[name])
}
