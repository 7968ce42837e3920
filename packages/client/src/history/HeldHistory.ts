import { type ConfirmedTransaction, isConfirmed } from '@chain-data/protocol'
import type { TransactionRecord } from '../Client.ts'

/** Part of a history as it was at one head: from the newest record down to some older one, without gaps. */
export interface HeldHistory {
  /** In the service's order: pending ones, then the newest first. */
  readonly records: readonly TransactionRecord[]
  /** Whether the account may have records older than the last one. */
  readonly hasOlder: boolean
  /** The records up to this block were read when the block was final already: no reorg changes them. */
  readonly finalTo: number
  /** Number of reorgs that removed or moved a held record. */
  readonly reorgs: number
}

/** The newest records, from one answer. */
export interface NewestPage {
  readonly records: readonly TransactionRecord[]
  /** How many records were asked for. */
  readonly limit: number
  /** How many of them the list takes at least, although it was shorter before. */
  readonly length: number
  /** No call can ask for more. */
  readonly isLargest: boolean
  /** Newest block that was final before the page was asked for. */
  readonly finalTo: number
}

/** What a list holds before its first answer. */
export const nothingHeld: HeldHistory = { records: [], hasOlder: true, finalTo: -1, reorgs: 0 }

/** The block of a record; -1 where a host does not name it, as if it were final. */
export function blockOf(record: ConfirmedTransaction): number {
  return record.blockNumber ?? -1
}

/** The oldest held record that older ones can be asked for by. */
export function cursorOf(records: readonly TransactionRecord[]): ConfirmedTransaction | undefined {
  return records.findLast(record => isConfirmed(record))
}

/** Whether a reorg can still remove or move the record. */
export function isFinal(record: TransactionRecord, finalTo: number): record is ConfirmedTransaction {
  return isConfirmed(record) && blockOf(record) <= finalTo
}

/**
 * Replaces the newest held records by a page, and keeps the older ones below it.
 *
 * Both are the same branch only if they meet at a record that was final when the older ones were read: records of
 * blocks that are not final may stand in the same block of two branches with different records below them.
 *
 * @returns Nothing when the page is too short to meet the held records: a longer one has to be read. The largest page
 *   is always taken, and what it does not meet is given up.
 */
export function joinNewest(held: HeldHistory, page: NewestPage): HeldHistory | undefined {
  const { limit, length, isLargest } = page
  const byHash = new Map(held.records.map(record => [record.hash, record]))
  const read = page.records.map(record => keepSame(byHash.get(record.hash), record))
  // A host that does not know `limit` returns the whole history.
  if (read.length !== limit) return hold(held, page, read, false)
  const older = recordsBelow(held, read, isLargest)
  if (older !== undefined) return hold(held, page, [...read, ...older], held.hasOlder)
  const oldest = cursorOf(held.records)
  const depth = oldest === undefined ? limit : lengthDownTo(read, oldest)
  if (depth !== undefined && (held.hasOlder || oldest === undefined)) {
    return hold(held, page, read.slice(0, Math.max(depth, length)), true)
  }
  return isLargest ? hold(held, page, read, true) : undefined
}

/** The held records older than the page; nothing where they may belong to another branch. */
function recordsBelow(
  { records, finalTo }: HeldHistory,
  read: readonly TransactionRecord[],
  isLargest: boolean
): readonly TransactionRecord[] | undefined {
  const last = read.at(-1)
  if (last === undefined || !isConfirmed(last)) return
  const place = indexOfSame(records, last)
  if (place < 0 || !(isLargest || isFinal(last, finalTo))) return
  // A chain that replaced blocks it had called final is noticed here.
  const before = records.slice(0, place + 1).filter(record => isFinal(record, finalTo))
  const now = read.filter(record => isFinal(record, finalTo))
  const isSameBranch = before.length === now.length && now.every(record => indexOfSame(before, record) >= 0)
  return isSameBranch ? records.slice(place + 1) : undefined
}

/** Number of records down to the oldest one that is held, so that the list stays as long; nothing when the page ends above. */
function lengthDownTo(read: readonly TransactionRecord[], oldest: ConfirmedTransaction): number | undefined {
  const place = indexOfSame(read, oldest)
  if (place >= 0) return place + 1
  // A reorg has removed or moved it.
  const last = cursorOf(read)
  return last !== undefined && blockOf(last) < blockOf(oldest) ? read.length : undefined
}

/** Index of a confirmed record in the same block. */
function indexOfSame(records: readonly TransactionRecord[], wanted: ConfirmedTransaction): number {
  return records.findIndex(
    record => record.hash === wanted.hash && isConfirmed(record) && blockOf(record) === blockOf(wanted)
  )
}

/** The same object for a record that did not change, so that nothing is drawn again for it. */
function keepSame(known: TransactionRecord | undefined, record: TransactionRecord): TransactionRecord {
  return known !== undefined && JSON.stringify(known) === JSON.stringify(record) ? known : record
}

/** Replaces all held records by what became of them. */
export function advanceTo(
  held: HeldHistory,
  records: readonly TransactionRecord[],
  finalTo = -1
): HeldHistory {
  // Nothing was cut: a record that is missing has left its block.
  return { ...hold(held, { finalTo }, records, false), hasOlder: held.hasOlder }
}

function hold(
  held: HeldHistory,
  page: Pick<NewestPage, 'finalTo'>,
  records: readonly TransactionRecord[],
  hasOlder: boolean
): HeldHistory {
  const isSame =
    records.length === held.records.length && records.every((record, at) => record === held.records[at])
  return {
    records: isSame ? held.records : records,
    hasOlder,
    finalTo: Math.max(held.finalTo, page.finalTo),
    reorgs: held.reorgs + (hasReorged(held.records, records, hasOlder) ? 1 : 0)
  }
}

/** Whether a record has left its block. Those older than the new list do not count: they are only not held any more. */
function hasReorged(
  before: readonly TransactionRecord[],
  now: readonly TransactionRecord[],
  hasOlder: boolean
): boolean {
  const byHash = new Map(now.map(record => [record.hash, record]))
  const last = cursorOf(now)
  const end = last === undefined ? -1 : indexOfSame(before, last)
  return before.some((record, place) => {
    if (!isConfirmed(record)) return false
    const found = byHash.get(record.hash)
    if (found !== undefined) return !isConfirmed(found) || blockOf(found) !== blockOf(record)
    return !hasOlder || place < end || (last !== undefined && blockOf(record) > blockOf(last))
  })
}
