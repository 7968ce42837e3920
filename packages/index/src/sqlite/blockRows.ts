import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import { checkRecord } from '../record/recordSums.ts'
import { firstTransactionId, toPosition } from '../record/transactionId.ts'
import type { BlockRowsFound } from '../shared/findBlockDamage.ts'
import { checkRow } from '../shared/rowSums.ts'
import type { SqliteConnection } from './driver.ts'
import type { Epoch } from './epochs.ts'
import { hashAt, shortHashLength } from './tableShapes.ts'

interface Sealed {
  readonly sum: number | null
}

/** Prepares reading all rows of consecutive blocks, and comparing them with their checksums. */
export function prepareBlockRows(connection: SqliteConnection) {
  const selectBlocks = connection.prepare<
    {
      readonly number: number
      readonly hash: Uint8Array
      readonly parent_hash: Uint8Array
      readonly tx_count: number
    } & Sealed
  >('SELECT * FROM block WHERE number BETWEEN ? AND ?')
  const selectRecords = connection.prepare<{ id: number; rec: Uint8Array; hasHash: number }>(
    `SELECT id, rec, EXISTS (SELECT 1 FROM tx_hash
       WHERE epoch = ?1 AND key = substr(rec, ${hashAt}, ${shortHashLength}) AND tx_id = id) AS hasHash
     FROM tx WHERE id >= ?2 AND id < ?3`
  )
  const selectEvents = connection.prepare<{ block: number } & Sealed>(
    'SELECT * FROM account_event WHERE block BETWEEN ? AND ?'
  )
  const selectUndo = connection.prepare<{ block: number } & Sealed>(
    'SELECT * FROM undo WHERE block BETWEEN ? AND ?'
  )

  /** @param epochs - all of them, oldest first. */
  return (epochs: readonly Epoch[], chainId: number, from: number, to: number): BlockRowsFound => {
    const ids: number[] = []
    const damage: Damage[] = []
    const note = (check: () => void) => {
      try {
        check()
      } catch (error) {
        if (!(error instanceof IndexDamagedError)) throw error
        damage.push(error.damage)
      }
    }
    const checkSealed = (table: string, row: Sealed, part: Damage['part'], block: number) => {
      note(() => checkRow(chainId, table, row, { part, block }))
    }
    const epochOf = (number: number) => epochs.findLast(({ firstBlock }) => firstBlock <= number)?.id ?? 0
    const blocks = selectBlocks.all([from, to])
    for (const block of blocks) checkSealed('block', block, 'block', block.number)
    for (let number = from; number <= to; number++) {
      const bounds = [firstTransactionId(number), firstTransactionId(number + 1)]
      for (const { id, rec, hasHash } of selectRecords.all([epochOf(number), ...bounds])) {
        ids.push(id)
        note(() => checkRecord(chainId, id, rec))
        if (hasHash === 0) damage.push({ part: 'hashRow', block: toPosition(id).blockNumber })
      }
    }
    for (const row of selectEvents.all([from, to])) checkSealed('account_event', row, 'event', row.block)
    for (const row of selectUndo.all([from, to])) checkSealed('undo', row, 'undo', row.block)
    return {
      blocks: blocks.map(({ number, hash, parent_hash: parentHash, tx_count: transactions }) => ({
        ...{ number, hash, parentHash, transactions }
      })),
      ids,
      damage
    }
  }
}
