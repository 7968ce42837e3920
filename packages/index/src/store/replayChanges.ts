import type { BlockRef } from '../model/evm.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import {
  type AccountChange,
  type ChangeBounds,
  type ChangePage,
  type ChangePosition,
  ChangesExpiredError,
  type ChangesOptions
} from '../port/changes.ts'
import { addressesIn, type LoggedChange, type PlacedBody, readChanges } from '../record/changeEntries.ts'
import { decodePending, hashOfRecord } from '../record/record.ts'
import type { LogRow } from './ChangeLog.ts'

/** Reads of one snapshot that a replay needs. */
export interface ReplayedRows {
  /** The next `entriesAtOnce` entries from this number on, oldest first; fewer at the end. */
  rowsFrom(entry: number): Promise<readonly LogRow[]>
  /** The first entry from this number on. */
  firstFrom(entry: number): Promise<Pick<LogRow, 'entry' | 'previous'> | undefined>
  /** Entries after this one that removed a block; the oldest of them. */
  removal(after: number, block: number): Promise<LogRow | undefined>
  /** Records of the index. Ids without a record are left out. */
  recordsOf(ids: readonly number[]): Promise<ReadonlyMap<number, Uint8Array>>
  /** The indexed block at a height. */
  blockRef(number: number): Promise<BlockRef | undefined>
}

/** The number after that of every change of an entry. */
const wholeEntry = 2 ** 32
/** Entries of a slice: those of a long catch-up are large. */
export const entriesAtOnce = 16

/** The position after a whole entry. */
export function afterEntry(entry: number): ChangePosition {
  return { entry, index: wholeEntry }
}

/** Replays the log, in the same way whenever and wherever it is read. */
export async function* replayChanges(
  rows: ReplayedRows,
  bounds: ChangeBounds,
  after: ChangePosition,
  { watched, filter }: ChangesOptions = {}
): AsyncGenerator<ChangePage> {
  await requireKept(rows, bounds, after)
  const newest = bounds.newest.entry
  const isWhole = after.index >= wholeEntry
  filter?.use(bounds.log, bounds.oldest.entry)
  let previous = isWhole ? after.entry : undefined
  while (previous !== newest) {
    const quiet = watched && previous !== undefined ? filter?.skip(previous, newest, watched) : undefined
    if (quiet !== undefined && quiet !== previous) {
      if ((await rows.firstFrom(quiet))?.entry === quiet) {
        previous = quiet
        yield { changes: [], position: afterEntry(quiet) }
        continue
      }
      // The filter knows entries that the store has lost since, as after a fail-over.
      filter?.forget()
    }
    const slice = await rows.rowsFrom(previous === undefined ? after.entry : previous + 1)
    if (slice.length === 0) throw lostEntry(newest)
    for (const row of slice) {
      if (row.previous !== (previous ?? row.previous)) throw lostEntry(row.previous)
      previous = row.entry
      const logged = [...readChanges(row.rec)]
      filter?.learn(row.previous, row.entry, logged)
      const changes = await tell(rows, row, logged, watched)
      const isPartly = !isWhole && row.entry === after.entry
      const left = isPartly ? changes.filter(({ position }) => position.index > after.index) : changes
      yield { changes: left, position: afterEntry(row.entry) }
    }
  }
}

/** @throws {ChangesExpiredError} the log does not have the position, or not all after it. */
export async function requireKept(
  rows: Pick<ReplayedRows, 'firstFrom'>,
  { oldest, newest }: ChangeBounds,
  { entry, index }: ChangePosition
): Promise<void> {
  const isWhole = index >= wholeEntry
  const isInside = oldest.entry <= entry && entry <= newest.entry
  const first = isInside ? await rows.firstFrom(entry) : undefined
  // The entry itself may be gone, the one after it names it.
  const isNamed = isWhole && (first === undefined ? entry === newest.entry : first.previous === entry)
  if (isInside && (first?.entry === entry || isNamed)) return
  throw new ChangesExpiredError('changes after this position cannot be replayed: read the histories again', {
    entry,
    index
  })
}

function lostEntry(entry: number): IndexDamagedError {
  return new IndexDamagedError({ part: 'change' }, `entry ${entry} is missing`)
}

/** Tells the changes of an entry to the accounts that are watched. */
async function tell(
  rows: ReplayedRows,
  { entry }: LogRow,
  logged: readonly LoggedChange[],
  watched: ChangesOptions['watched']
): Promise<readonly AccountChange[]> {
  const seen = logged.flatMap((change, at) => {
    if (change.kind === 'taken') return []
    const parties = addressesIn(change.parties, watched)
    return parties.length === 0 ? [] : [{ change, told: { position: { entry, index: at + 1 }, parties } }]
  })
  const placed = seen.flatMap(({ change }) => ('block' in change ? [change] : []))
  const records = placed.length === 0 ? new Map() : await readRecords(rows, entry, placed)
  return seen.map(({ change, told }): AccountChange => {
    if ('hash' in change) {
      const { hash, kind: reason, replacedBy } = change
      return { kind: 'removed', ...told, hash, reason, ...(replacedBy !== undefined && { replacedBy }) }
    }
    if ('pending' in change) {
      const { status, seconds, rec } = change.pending
      const transaction = { ...decodePending(rec), status, firstSeenSeconds: seconds }
      const kind = change.kind === 'waiting' ? 'added' : change.kind
      return { kind, ...told, hash: transaction.hash, record: { status: 'pending', transaction } }
    }
    const { kind, block, id } = change
    const bytes = records.get(id)
    const hash = hashOfRecord(bytes)
    if (kind === 'final') return { kind, ...told, hash, block }
    return { kind, ...told, hash, block, record: { status: 'confirmed', chunk: { ids: [id], bytes } } }
  })
}

/** Reads records of blocks that are named by an entry: those of the index, or what a reorg kept of them when it removed the block. */
async function readRecords(
  rows: ReplayedRows,
  entry: number,
  placed: readonly PlacedBody[]
): Promise<Map<number, Uint8Array>> {
  const stored: number[] = []
  const found = new Map<number, Uint8Array>()
  let last: { readonly block: BlockRef; readonly isStored: boolean } | undefined
  for (const { block, id } of placed) {
    if (last?.block.number !== block.number) {
      const removal = await rows.removal(entry, block.number)
      for (const each of removal ? readChanges(removal.rec) : []) {
        if (each.kind === 'taken' && each.block.hash === block.hash) found.set(each.id, each.record)
      }
      const isStored = removal === undefined
      // The entry that tells of its removal is lost.
      if (isStored && (await rows.blockRef(block.number))?.hash !== block.hash) throw notAppended(block)
      last = { block, isStored }
    }
    if (last.isStored) stored.push(id)
  }
  for (const [id, record] of await rows.recordsOf(stored)) found.set(id, record)
  for (const { block, id } of placed) if (!found.has(id)) throw notAppended(block)
  return found
}

function notAppended({ number }: BlockRef): IndexDamagedError {
  return new IndexDamagedError({ part: 'change' }, `block ${number} is not the one that was appended`)
}
