import type {
  AccountChange,
  BlockRef,
  ChangeBounds,
  ChangeFilter,
  ChangePosition,
  Snapshot,
  StoreReader
} from '@chain-data/index'
import { comparePositions } from '../../../server/methods/cursor.ts'
import { openAt } from './openAt.ts'

/** A state of the index that all changes up to a position lead to. */
export interface Level {
  readonly position: ChangePosition
  /** Absent where nothing is indexed, and in the middle of a reorg: then histories are not those of the position. */
  readonly head?: BlockRef
  readonly finalized?: number
}

/** The changes of some accounts after a position. */
export interface PartOrder {
  readonly log: string
  readonly after: ChangePosition
  /** Their keys, as of `accountKeys`. */
  readonly watched: Uint32Array
}

/** The next changes of an order: as many as one turn gives. */
export interface ReplayedPart {
  readonly changes: readonly AccountChange[]
  /** There are no others up to here. */
  readonly position: ChangePosition
  /** Absent: there may be more changes. */
  readonly level?: Level
}

/** What a turn may take: so long do others wait for theirs. */
const [turnMs, changesAtOnce] = [50, 500]

/**
 * Replays the log for one turn.
 * @param filter - of this reader, for all its turns.
 * @throws {ChangesExpiredError} the changes after the position are not kept.
 */
export async function readPart(
  store: Pick<StoreReader, 'openSnapshot'>,
  filter: ChangeFilter,
  { log, after, watched }: PartOrder
): Promise<ReplayedPart> {
  const { snapshot, bounds } = await openAt(store, { log, position: after })
  try {
    const lastMoment = performance.now() + turnMs
    const found: AccountChange[] = []
    for await (const { changes, position } of snapshot.changes(after, { watched, filter })) {
      found.push(...changes)
      const last = found[changesAtOnce - 1]
      if (last !== undefined) return { changes: found.slice(0, changesAtOnce), position: last.position }
      const isLast = comparePositions(position, bounds.newest) >= 0
      if (performance.now() > lastMoment && !isLast) return { changes: found, position }
    }
    return { changes: found, position: bounds.newest, level: await readLevel(snapshot, bounds) }
  } finally {
    await snapshot.close()
  }
}

/** Reads the state that the changes of a snapshot lead to. */
export async function readLevel(snapshot: Snapshot, { newest: position }: ChangeBounds): Promise<Level> {
  const { settled, finalized } = await snapshot.marks()
  const range = await snapshot.indexedRange()
  if (!settled || range === undefined) return { position }
  return { position, head: range.to, ...(finalized !== undefined && { finalized }) }
}
