import {
  type ConfirmedTransaction,
  isConfirmed,
  isPending,
  type TransactionRecord
} from '@chain-data/client/fetch'

/**
 * What the page holds of an account's history: everything from the newest record down to some older one, without gaps.
 */
export interface History {
  /** In the service's order: pending ones, then the newest first. */
  readonly records: readonly TransactionRecord[]
  /** Whether the last record is the account's first. */
  readonly isComplete: boolean
  /** Records of this block and below will not change any more: they were read when it was final already. */
  readonly settledTo: number
  /** What was shown and is neither pending nor in a block now: a reorg took it out, or the pool did. The last first. */
  readonly gone: readonly TransactionRecord[]
  /** Pending transactions that were in a block before, with its number. */
  readonly returned: ReadonlyMap<string, number>
  /** Hashes of what came after the first read. */
  readonly arrived: ReadonlySet<string>
  /** A balance of which every transaction is known: it was read before the records. */
  readonly anchor?: Anchor | undefined
  /** Block of a balance that a reorg may have outdated. */
  readonly outdated?: string | undefined
  /** How many reorgs were seen that took or moved what is held. */
  readonly reorgs: number
}

/** The native balance at the end of a block. */
export interface Anchor {
  readonly balanceWei: bigint
  readonly blockNumber: number
  readonly blockHash: string
  readonly timestampSeconds: number
}

/** Records as they were read: from the newest one down, or from below a cursor. */
export interface ReadRecords {
  readonly records: readonly TransactionRecord[]
  /** Whether nothing is older. */
  readonly isLast: boolean
}

/** Nothing was read yet. */
export const emptyHistory: History = {
  records: [],
  isComplete: false,
  settledTo: -1,
  gone: [],
  returned: new Map(),
  arrived: new Set(),
  reorgs: 0
}

/** Most transactions that are remembered as gone. */
const mostGone = 20

/** The block of a confirmed record. Where a host does not name it, the record counts as final. */
export function blockOf(record: ConfirmedTransaction): number {
  return record.blockNumber ?? -1
}

/** The record after which older ones are asked for. */
export function cursorOf(records: readonly TransactionRecord[]): ConfirmedTransaction | undefined {
  return records.findLast(record => isConfirmed(record))
}

/** How many records a reorg, or the pool, may still change. */
export function countUnsettled({ records, settledTo }: History): number {
  return records.filter(record => !isConfirmed(record) || blockOf(record) > settledTo).length
}

/** Whether the newest records reach what is held, so that nothing is missing between the two. */
export function reaches(history: History, newest: ReadRecords): boolean {
  if (newest.isLast) return true
  // With nothing below them, pending ones are all that is held: a whole history, or the beginning of one.
  if (cursorOf(history.records) === undefined) return !history.isComplete
  const [oldest, lowest] = [cursorOf(newest.records), cursorOf(history.records)]
  return settledPlace(history, oldest) >= 0 || newest.records.some(record => isSame(record, lowest))
}

function isSame(record: TransactionRecord, wanted: ConfirmedTransaction | undefined): boolean {
  return isConfirmed(record) && record.hash === wanted?.hash
}

/** Where a record is held that no reorg can have moved; -1 where it is not. Only below such a one what is held goes on. */
function settledPlace({ records, settledTo }: History, wanted: ConfirmedTransaction | undefined): number {
  if (wanted === undefined || blockOf(wanted) > settledTo) return -1
  return records.findIndex(record => isSame(record, wanted))
}

/** Whether records that were read after a cursor can stand below it: a reorg between two reads may have moved it. */
export function fitsBelow(
  records: readonly TransactionRecord[],
  cursor: ConfirmedTransaction,
  older: readonly TransactionRecord[]
): boolean {
  const held = new Set(records.map(({ hash }) => hash))
  return older.every(
    record => isConfirmed(record) && !held.has(record.hash) && blockOf(record) <= blockOf(cursor)
  )
}

/**
 * Lays the newest records over what is held.
 *
 * @param newest - Where it does not reach what is held, what is held is given up.
 * @param finalized - Newest block that was final before `newest` was read.
 */
export function foldNewest(history: History, newest: ReadRecords, finalized: number): History {
  const before = new Map(history.records.map(record => [record.hash, record]))
  const read = asFarAsHeld(history, newest).map(record => keepSame(before.get(record.hash), record))
  const older = newest.isLast ? [] : keptBelow(history, read)
  const records = [...read, ...older]
  const gone = goneNow(history, records, newest.isLast ? undefined : cursorOf(read))
  return {
    // Where nothing has changed, nothing is worked out again either.
    records: isSameList(history.records, records) ? history.records : records,
    isComplete: newest.isLast || (endIsSettled(history) && reaches(history, newest)),
    settledTo: finalized,
    gone,
    returned: returnedNow(history, read),
    arrived: arrivedNow(history, read),
    outdated: history.outdated,
    reorgs: history.reorgs + (isReorged(history, records, gone) ? 1 : 0)
  }
}

/** Whether a record that was held has left its block. */
function isReorged(
  history: History,
  records: readonly TransactionRecord[],
  gone: readonly TransactionRecord[]
): boolean {
  const now = new Map(records.map(record => [record.hash, record]))
  const lost = new Set(gone.map(({ hash }) => hash))
  return history.records.some(record => {
    if (!isConfirmed(record)) return false
    const found = now.get(record.hash)
    if (found === undefined) return lost.has(record.hash)
    return !isConfirmed(found) || blockOf(found) !== blockOf(record)
  })
}

/** Whether no reorg can put anything below the account's first record any more. */
function endIsSettled({ records, isComplete, settledTo }: History): boolean {
  const first = cursorOf(records)
  return isComplete && first !== undefined && blockOf(first) <= settledTo
}

/** Without what is older than everything held: nobody has asked for it yet. */
function asFarAsHeld(history: History, { records, isLast }: ReadRecords): readonly TransactionRecord[] {
  if (isLast || history.isComplete) return records
  const lowest = cursorOf(history.records)
  const place = records.findIndex(record => isConfirmed(record) && record.hash === lowest?.hash)
  return place < 0 ? records : records.slice(0, place + 1)
}

/**
 * Ties what is held to a balance, so that older balances follow from it.
 *
 * @param before - What was held before the newest records were laid over it.
 * @param anchor - Read before these.
 */
export function anchorAt(history: History, before: History, anchor: Anchor | undefined): History {
  const outdated = (history.reorgs > before.reorgs ? anchor?.blockHash : undefined) ?? history.outdated
  return { ...history, outdated, anchor: anchor?.blockHash === outdated ? undefined : anchor }
}

function isSameList(one: readonly TransactionRecord[], other: readonly TransactionRecord[]): boolean {
  return one.length === other.length && one.every((record, place) => record === other[place])
}

/** The same object for a record that has not changed, so that nothing is drawn again for it. */
function keepSame(known: TransactionRecord | undefined, record: TransactionRecord): TransactionRecord {
  return known !== undefined && JSON.stringify(known) === JSON.stringify(record) ? known : record
}

/** What is held below the newest records. Whatever a reorg has moved among these is theirs to tell. */
function keptBelow(history: History, newest: readonly TransactionRecord[]): ConfirmedTransaction[] {
  const place = settledPlace(history, cursorOf(newest))
  return place < 0 ? [] : history.records.slice(place + 1).filter(record => isConfirmed(record))
}

/** @param oldest - Of the newest records: what is held below it was not looked at. */
function goneNow(
  history: History,
  records: readonly TransactionRecord[],
  oldest: ConfirmedTransaction | undefined
): readonly TransactionRecord[] {
  const listed = new Set(records.map(({ hash }) => hash))
  const lost = history.records.filter(
    record =>
      !listed.has(record.hash) &&
      (!isConfirmed(record) || oldest === undefined || blockOf(record) >= blockOf(oldest))
  )
  const known = new Set(lost.map(({ hash }) => hash))
  const still = history.gone.filter(({ hash }) => !listed.has(hash) && !known.has(hash))
  return [...lost, ...still].slice(0, mostGone)
}

function returnedNow(history: History, newest: readonly TransactionRecord[]): ReadonlyMap<string, number> {
  const wasIn = new Map(history.returned)
  for (const record of [...history.gone, ...history.records]) {
    if (isConfirmed(record)) wasIn.set(record.hash, blockOf(record))
  }
  const pending = newest.filter(record => isPending(record))
  return new Map(pending.flatMap(({ hash }) => (wasIn.has(hash) ? [[hash, wasIn.get(hash) ?? 0]] : [])))
}

function arrivedNow(history: History, newest: readonly TransactionRecord[]): ReadonlySet<string> {
  if (history === emptyHistory) return history.arrived
  const known = new Set([...history.records, ...history.gone].map(({ hash }) => hash))
  // What stands below everything that was known is older than it.
  const end = known.size === 0 ? newest.length : newest.findLastIndex(({ hash }) => known.has(hash)) + 1
  const arrived = newest.slice(0, end).flatMap(({ hash }) => (known.has(hash) ? [] : [hash]))
  return arrived.length === 0 ? history.arrived : new Set([...history.arrived, ...arrived])
}

/**
 * Adds older records below what is held.
 *
 * @param asked - What was held when they were asked for, after its cursor.
 * @returns Nothing when they do not fit: what is held has changed meanwhile.
 */
export function appendOlder(history: History, asked: History, older: ReadRecords): History | undefined {
  const cursor = cursorOf(history.records)
  const before = cursorOf(asked.records)
  if (cursor === undefined || cursor.hash !== before?.hash || blockOf(cursor) !== blockOf(before)) return
  if (!fitsBelow(history.records, cursor, older.records)) return
  const found = new Set(older.records.map(({ hash }) => hash))
  return {
    ...history,
    records: [...history.records, ...older.records],
    isComplete: older.isLast,
    settledTo: Math.min(history.settledTo, asked.settledTo),
    gone: history.gone.filter(({ hash }) => !found.has(hash))
  }
}

/** What is left when a reorg has replaced everything above a block. What stood there is gone until it is seen again. */
export function dropAbove(history: History, block: number): History {
  const isLeft = (record: TransactionRecord) => !isConfirmed(record) || blockOf(record) <= block
  const dropped = history.records.filter(record => !isLeft(record))
  return {
    ...history,
    records: history.records.filter(isLeft),
    isComplete: false,
    settledTo: Math.min(history.settledTo, block),
    gone: [...dropped, ...history.gone],
    reorgs: history.reorgs + 1
  }
}
