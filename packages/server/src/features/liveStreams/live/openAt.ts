import { setTimeout as sleep } from 'node:timers/promises'
import type { Snapshot, StoreReader } from '@chain-data/index'
import { type ChangeBounds, type ChangePosition, ChangesExpiredError } from '@chain-data/index'
import { comparePositions } from '../../../server/methods/cursor.ts'

/** A replica may be so late: a cursor that the primary gave out is ahead of it meanwhile. */
const replicaLateMs = 5_000
const replicaPollMs = 50

/**
 * Opens a snapshot that has reached a position.
 * @throws {ChangesExpiredError} the position is of another log, or later than the newest one.
 */
export async function openAt(
  store: Pick<StoreReader, 'openSnapshot'>,
  { log, position }: { readonly log: string; readonly position: ChangePosition },
  signal?: AbortSignal
): Promise<{ readonly snapshot: Snapshot; readonly bounds: ChangeBounds }> {
  const lastMoment = performance.now() + replicaLateMs
  for (;;) {
    const snapshot = await store.openSnapshot()
    try {
      const bounds = await snapshot.changeBounds()
      const isReached = comparePositions(bounds.newest, position) >= 0
      if (bounds.log === log && isReached) return { snapshot, bounds }
      if (bounds.log !== log || performance.now() > lastMoment) {
        throw new ChangesExpiredError('the cursor is not one of this index')
      }
    } catch (error) {
      await snapshot.close()
      throw error
    }
    await snapshot.close()
    await sleep(replicaPollMs, undefined, { signal })
  }
}
