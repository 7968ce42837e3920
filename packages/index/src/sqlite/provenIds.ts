import { firstTransactionId } from '../record/transactionId.ts'
import { type CountedParts, findRows } from './countedParts.ts'
import type { SqliteConnection } from './driver.ts'
import { proofs } from './epochSums.ts'
import type { Epoch } from './epochs.ts'
import { createLinkedRows } from './linkedRows.ts'
import { createPartSums } from './partSums.ts'
import type { TableShape } from './tableShapes.ts'

/** Reads ids of one key, newest first, epoch by epoch. */
export interface IdCursor {
  /**
   * Returns the next ids; fewer than `count` once there are no more.
   * @throws {IndexDamagedError} they are not what was written.
   */
  next(count: number): readonly number[]
}

/** The epochs as one snapshot sees them. */
export interface EpochView {
  /** All of them, oldest first. */
  readonly epochs: readonly Epoch[]
  readonly rollbacks: number
  readonly counted: CountedParts
}

/** Prepares the reads of one table of ids: the address index, or that of hashes. */
export function createProvenIds(connection: SqliteConnection, shape: TableShape, chainId: number) {
  const linkedRows = createLinkedRows(connection, shape, chainId)
  const partSums = createPartSums(connection, shape)

  /** Ids of one epoch that blocks are appended to. */
  const openIds = (view: EpochView, epoch: Epoch, key: Uint8Array, before: number, limit: number) => {
    // Rows are only added along with transactions, and only removed by a rollback. The id of a merged epoch is used again.
    const version = `${epoch.firstBlock} ${epoch.txCount} ${view.rollbacks}`
    const rows = view.counted.rowsAround(partSums, shape, epoch.id, key, version)
    const { start, end } = findRows(shape, rows, key)
    const ids: number[] = []
    for (let row = end - 1; row >= start && ids.length < limit; row--) {
      const id = rows.numbers[row] ?? 0
      if (id < before) ids.push(id)
    }
    return ids
  }

  /** @param before - all ids are below this one. */
  return (view: EpochView, key: Uint8Array, before = Number.MAX_SAFE_INTEGER): IdCursor => {
    const { epochs } = view
    let below = before
    let left = epochs.findLastIndex(({ firstBlock }) => firstTransactionId(firstBlock) < before) + 1
    /** Epochs are read so many at once: each statement costs as much as looking into a few of them. */
    let atOnce = 1

    const readNext = (limit: number): readonly number[] => {
      const epoch = epochs[left - 1] as Epoch
      if (epoch.proof === proofs.parts) {
        const ids = openIds(view, epoch, key, below, limit)
        if (ids.length < limit) left--
        return ids
      }
      const asked: Epoch[] = []
      for (let i = left - 1; i >= 0 && asked.length < atOnce; i--) {
        const next = epochs[i]
        if (next === undefined || next.proof === proofs.parts) break
        asked.push(next)
      }
      atOnce *= 2
      const found: number[] = []
      for (const { ids } of linkedRows(asked, key, below, limit)) {
        const wanted = limit - found.length
        found.push(...ids.slice(0, wanted))
        if (ids.length >= wanted) return found
        left--
      }
      return found
    }

    return {
      next(count) {
        const found: number[] = []
        while (found.length < count && left > 0) {
          found.push(...readNext(count - found.length))
          below = found.at(-1) ?? below
        }
        return found
      }
    }
  }
}
