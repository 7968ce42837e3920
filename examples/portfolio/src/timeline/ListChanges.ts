import {
  type ConfirmedTransaction,
  isConfirmed,
  isPending,
  type TransactionRecord
} from '@chain-data/client/fetch'
import type { HistorySnapshot } from '@chain-data/client/history'

/** What has happened to a list since it was first shown. */
export interface ListChanges {
  /** Records that are neither pending nor in a block now: a reorg or the pool took them out. The last first. */
  readonly gone: readonly TransactionRecord[]
  /** Pending transactions that were in a block before, with its number. */
  readonly returned: ReadonlyMap<string, number>
  /** Hashes of records that came after the first answer. */
  readonly arrived: ReadonlySet<string>
}

/** Nothing has happened yet. */
export const noChanges: ListChanges = { gone: [], returned: new Map(), arrived: new Set() }

/** Most transactions that are remembered as gone. */
const mostGone = 20

/** Adds what differs between two snapshots of a list. */
export function noteChanges(
  changes: ListChanges,
  { records: before }: HistorySnapshot,
  { records, hasOlder }: HistorySnapshot
): ListChanges {
  if (before === undefined || records === undefined || before === records) return changes
  const listed = new Set(records.map(({ hash }) => hash))
  const lost = before.slice(0, hasOlder ? comparedLength(before, records) : before.length)
  const gone = [...lost, ...changes.gone].filter(({ hash }) => !listed.has(hash)).slice(0, mostGone)
  return {
    gone,
    returned: returnedNow(changes, before, records),
    arrived: arrivedNow(changes, before, records)
  }
}

/** How many of the records before are not older than all records now: those were only given up, and may be there. */
function comparedLength(before: readonly TransactionRecord[], records: readonly TransactionRecord[]): number {
  const oldest = records.findLast(record => isConfirmed(record))
  if (oldest === undefined) return before.length
  const at = before.findIndex(({ hash }) => hash === oldest.hash)
  return at >= 0
    ? at
    : before.findLastIndex(record => !isConfirmed(record) || blockOf(record) >= blockOf(oldest)) + 1
}

/** The block of a record. Where a host does not name it, the record counts as final. */
export function blockOf(record: ConfirmedTransaction): number {
  return record.blockNumber ?? -1
}

function returnedNow(
  { gone, returned }: ListChanges,
  before: readonly TransactionRecord[],
  records: readonly TransactionRecord[]
): ReadonlyMap<string, number> {
  const wasIn = new Map(returned)
  for (const record of [...gone, ...before]) if (isConfirmed(record)) wasIn.set(record.hash, blockOf(record))
  const pending = records.filter(record => isPending(record))
  return new Map(pending.flatMap(({ hash }) => (wasIn.has(hash) ? [[hash, wasIn.get(hash) ?? 0]] : [])))
}

function arrivedNow(
  { gone, arrived }: ListChanges,
  before: readonly TransactionRecord[],
  records: readonly TransactionRecord[]
): ReadonlySet<string> {
  const known = new Set([...before, ...gone].map(({ hash }) => hash))
  // What stands below everything that was known is older than it.
  const end = known.size === 0 ? records.length : records.findLastIndex(({ hash }) => known.has(hash)) + 1
  const added = records.slice(0, end).flatMap(({ hash }) => (known.has(hash) ? [] : [hash]))
  return added.length === 0 ? arrived : new Set([...arrived, ...added])
}
