import { isDeepStrictEqual } from 'node:util'
import { type ChangePosition, ChangesExpiredError, type Snapshot, type StoreReader } from '@chain-data/index'
import {
  FoldedHistories,
  people,
  readChanges,
  readShown,
  type ShownTransaction
} from '@chain-data/index/test'

/** What a caller has that keeps histories by changes alone. */
interface Kept {
  readonly log: string
  readonly fold: FoldedHistories
  /** First indexed block when it began: blocks that are added below are no changes. */
  readonly from: number
  position: ChangePosition
}

/** What a check came to; `expired`: the position cannot be replayed, and the next check begins anew. */
type LogCheck = 'right' | 'begun' | 'unsettled' | 'expired'

export interface LogChecker {
  /**
   * Reads the changes since the last check, and compares what they make of the histories with the histories.
   * @throws {Error} they differ, or a change does not follow from the ones before.
   * @throws {StoreError} the snapshot has ended, or something is damaged.
   */
  check(reader: StoreReader): Promise<LogCheck>
}

export function createLogChecker(): LogChecker {
  let kept: Kept | undefined

  async function begin(snapshot: Snapshot): Promise<LogCheck> {
    const range = await snapshot.indexedRange()
    if (range === undefined || !(await snapshot.marks()).settled) return 'unsettled'
    const fold = new FoldedHistories()
    for (const address of people) fold.begin(address, await readShown(snapshot, address))
    const { log, newest } = await snapshot.changeBounds()
    kept = { log, fold, from: range.from, position: newest }
    return 'begun'
  }

  async function goOn(snapshot: Snapshot, known: Kept): Promise<LogCheck> {
    const { log, newest } = await snapshot.changeBounds()
    if (log !== known.log) return 'expired'
    for (const change of await readChanges(snapshot, known.position)) known.fold.take(change)
    known.position = newest
    if (!(await snapshot.marks()).settled) return 'unsettled'
    // A machine that is lost takes blocks along that were added below.
    const from = Math.max(known.from, (await snapshot.indexedRange())?.from ?? 0)
    const isCompared = (each: ShownTransaction) => !('blockNumber' in each) || each.blockNumber >= from
    for (const address of people) {
      const shown = (await readShown(snapshot, address)).filter(isCompared)
      if (isDeepStrictEqual(known.fold.of(address).filter(isCompared), shown)) continue
      throw new Error(`the changes make another history of ${address}`)
    }
    return 'right'
  }

  return {
    async check(reader) {
      const snapshot = await reader.openSnapshot()
      const known = kept
      // Of a check that does not come to its end nothing is kept.
      kept = undefined
      try {
        if (known === undefined) return await begin(snapshot)
        const result = await goOn(snapshot, known)
        if (result !== 'expired') kept = known
        return result
      } catch (error) {
        if (error instanceof ChangesExpiredError) return 'expired'
        throw error
      } finally {
        await snapshot.close()
      }
    }
  }
}
