import type { StoreReader } from '../../index/port/store.ts'
import type { StoredProgress } from './runIndexer.ts'

/**
 * What the index of a chain holds and what its writer has said last, from one snapshot.
 * @returns absent while there is no index.
 * @throws {StoreError} the store cannot be read.
 */
export async function readProgress(reader: StoreReader): Promise<StoredProgress | undefined> {
  const snapshot = await reader.openSnapshot()
  try {
    const identity = await snapshot.identity()
    if (identity === undefined) return undefined
    const range = await snapshot.indexedRange()
    const { backfilled, degraded } = await snapshot.marks()
    const report = await snapshot.writerReport()
    return {
      ...{ genesisHash: identity.genesisHash, backfilled, degraded },
      ...(range === undefined ? {} : { indexedFrom: range.from, indexedTo: range.to }),
      ...(report === undefined ? {} : { report })
    }
  } finally {
    await snapshot.close()
  }
}
