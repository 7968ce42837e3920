import type { IndexedBlock } from '../../model/evm.ts'
import { type BatchRows, collectRows, type Epoch, type EpochRows } from './collectRows.ts'
import type { SqliteConnection } from './driver.ts'
import { addressBytes, hashBytes, hashKey } from './hexBytes.ts'
import { standardNumber } from './tokenKey.ts'

/** How the writer lays out what it stores; readers find it in the file. */
export interface Layout {
  /** A block that finds so many transactions in its epoch begins the next one. */
  readonly epochTransactions: number
  /** Undo data of so many newest blocks are kept, final or not. */
  readonly minUndoBlocks: number
  /** Undo data of more blocks are never kept: a deeper rollback scans instead. */
  readonly maxUndoBlocks: number
}

/** Prepares the statements that append blocks. */
export function createBlockAppender(connection: SqliteConnection, layout: Layout) {
  const selectEpoch = connection.prepare<Epoch>(
    'SELECT id, first_block AS firstBlock, tx_count AS txCount FROM epoch ORDER BY id DESC LIMIT 1'
  )
  const insertBlock = connection.prepare('INSERT INTO block VALUES (?, ?, ?, ?, ?)')
  const insertRecord = connection.prepare('INSERT INTO tx VALUES (?, ?)')
  const insertEpoch = connection.prepare('INSERT OR REPLACE INTO epoch VALUES (?, ?, ?)')
  const insertAddress = connection.prepare('INSERT INTO address_tx VALUES (?, ?, ?)')
  const insertHash = connection.prepare('INSERT INTO tx_hash VALUES (?, ?, ?)')
  const insertHolding = connection.prepare('INSERT OR IGNORE INTO holding VALUES (?, ?, ?, ?, ?)')
  const insertUndo = connection.prepare('INSERT INTO undo VALUES (?, ?)')
  const deleteUndo = connection.prepare('DELETE FROM undo WHERE block <= ?')
  const selectReorged = connection.prepare('SELECT 1 FROM reorged LIMIT 1')
  const deleteReorged = connection.prepare('DELETE FROM reorged WHERE hash = ?')
  const setIndexedFrom = connection.prepare('UPDATE meta SET indexed_from = ? WHERE indexed_from IS NULL')

  const appendEpochRows = ({ epoch, addresses, hashes, holdings }: EpochRows) => {
    insertEpoch.run([epoch.id, epoch.firstBlock, epoch.txCount])
    for (const [address, ids] of addresses) {
      const bytes = addressBytes(address)
      for (const id of ids) insertAddress.run([epoch.id, bytes, id])
    }
    for (const [hash, id] of hashes) insertHash.run([epoch.id, hashKey(hash), id])
    for (const { owner, contract, standard, tokenIdsKey } of holdings) {
      insertHolding.run([
        epoch.id,
        addressBytes(owner),
        addressBytes(contract),
        tokenIdsKey,
        standardNumber(standard)
      ])
    }
  }

  /** What a reorg removed and a later block has again is confirmed again. */
  const forgetReorged = ({ epochs }: BatchRows) => {
    if (selectReorged.get([]) === undefined) return
    for (const { hashes } of epochs) {
      for (const [hash] of hashes) deleteReorged.run([hashBytes(hash)])
    }
  }

  return {
    /** Makes the rows of a checked batch; reads, but does not write. */
    collect: (blocks: readonly IndexedBlock[]): BatchRows =>
      collectRows(blocks, selectEpoch.get([]), layout.epochTransactions),

    /** Writes them. The caller holds the transaction. */
    append: (rows: BatchRows, finalized: number | undefined): void => {
      const [first, last] = [rows.blocks[0], rows.blocks.at(-1)]
      if (first === undefined || last === undefined) return
      const droppable = newestDroppableUndo(last.block.ref.number, finalized, layout)
      setIndexedFrom.run([first.block.ref.number])
      for (const { block, parties } of rows.blocks) {
        const { ref, parentHash, timestampSeconds, transactions } = block
        insertBlock.run([
          ref.number,
          hashBytes(ref.hash),
          hashBytes(parentHash),
          timestampSeconds,
          transactions.length
        ])
        if (parties !== undefined && ref.number > droppable) insertUndo.run([ref.number, parties])
      }
      for (const { id, rec } of rows.records) insertRecord.run([id, rec])
      for (const epochRows of rows.epochs) appendEpochRows(epochRows)
      deleteUndo.run([droppable])
      forgetReorged(rows)
    }
  }
}

function newestDroppableUndo(head: number, finalized: number | undefined, layout: Layout): number {
  const needless = Math.min(finalized ?? -1, head - layout.minUndoBlocks)
  return Math.max(needless, head - layout.maxUndoBlocks)
}
