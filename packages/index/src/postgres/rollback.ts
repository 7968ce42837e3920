import type { BlockRef } from '../model/evm.ts'
import { hashBytes } from '../record/hexBytes.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { countedChange, directoryRows, forgetSums, reorgedHashes } from './keyParts.ts'
import { bytesLiteral } from './literals.ts'

/**
 * Removes every block above `ancestor`, which must be stored. Rows are deleted, and partitions never emptied or dropped:
 * that would show in views that are open, and wait for them.
 *
 * @param hasUndo - the undo data of all these blocks are there: the keys to delete are known. Else the newest partitions
 *   are scanned for them.
 */
export function rollbackStatements(ancestor: BlockRef, hasUndo: boolean): readonly string[] {
  const { number } = ancestor
  const firstId = firstTransactionId(number + 1)
  const hash = bytesLiteral(hashBytes(ancestor.hash))
  return [
    // What earlier reorgs remembered moves down, so that the ancestor is always a block of the index.
    `UPDATE reorged SET ancestor_number = ${number}, ancestor_hash = ${hash} WHERE ancestor_number > ${number}`,
    countedChange(
      reorgedHashes,
      `INSERT INTO reorged SELECT DISTINCT substring(rec from 2 for 32), ${number}, ${hash} FROM tx WHERE id >= ${firstId}
         ON CONFLICT DO NOTHING`
    ),
    ...(hasUndo ? deletePartiesByKey(number, firstId) : [`DELETE FROM address_tx WHERE tx_id >= ${firstId}`]),
    `DELETE FROM tx WHERE id >= ${firstId}`,
    ...walkingIndexes([`DELETE FROM account_event WHERE block + 0 > ${number}`]),
    `UPDATE meta SET head = ${number}, transactions = transactions -
       (SELECT coalesce(sum(tx_count), 0) FROM block WHERE number > ${number})`,
    `DELETE FROM block WHERE number > ${number}`,
    `DELETE FROM undo WHERE block > ${number}`
  ]
}

/** Removes every block and all that is known of them. */
export const rollbackAllStatements: readonly string[] = [
  ...['tx', 'address_tx', 'block', 'undo', 'reorged', 'account_event', 'directory'].map(
    table => `DELETE FROM ${table}`
  ),
  ...[reorgedHashes, directoryRows].map(table => forgetSums(table)),
  "UPDATE tally SET rec = decode(repeat('00', octet_length(rec)), 'hex')",
  'UPDATE meta SET indexed_from = NULL, head = NULL, transactions = 0, backfilled = false, directory_from = NULL, directory_end = NULL'
]

function deletePartiesByKey(number: number, firstId: number): readonly string[] {
  return walkingIndexes([
    `DELETE FROM address_tx a USING undo, unnest(undo.addresses, undo.tx_ids) AS gone (address, tx_id)
       WHERE undo.block > ${number} AND a.address = gone.address AND a.tx_id = gone.tx_id AND a.tx_id >= ${firstId}`
  ])
}

/** Row by row through the index, whatever the planner believes of tables that it may know nothing of yet. */
export function walkingIndexes(statements: readonly string[]): readonly string[] {
  const scans = ['enable_seqscan', 'enable_hashjoin', 'enable_mergejoin']
  return [turn(scans, 'off'), ...statements, turn(scans, 'on')]
}

/** Sets them for the transaction on the node that has the tables: the one row of `leader` is there too. */
function turn(settings: readonly string[], value: 'on' | 'off'): string {
  return `SELECT ${settings.map(setting => `set_config('${setting}', '${value}', true)`).join(', ')} FROM leader`
}
