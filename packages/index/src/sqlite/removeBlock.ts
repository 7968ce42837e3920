import { type Damage, StoreError } from '../platform/errors.ts'
import { addressLength, hashLength } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import type { SqliteConnection } from './driver.ts'
import { createEpochTable, type Epoch } from './epochs.ts'
import { forgetMergeOf } from './merge.ts'
import { findSuspectRows, removeSuspects } from './suspectRows.ts'
import { shortHashLength } from './tableShapes.ts'

/**
 * Removes the rows of one stored block, by its height and by the keys of `block`, which is to be put in its place, and those
 * of its rows that are around the damage that was met. Candidates stay: they are hints. Runs inside the caller's transaction.
 * @returns the epoch that the block lies in, and whether it had undo data.
 */
export function removeBlock(
  connection: SqliteConnection,
  { headers, ids, hashes, partyAddresses, partyIds }: PackedBlocks,
  damage: Damage
): { readonly epoch: Epoch; readonly hadUndo: boolean } {
  const number = headers[0]?.ref.number ?? 0
  const bounds = [firstTransactionId(number), firstTransactionId(number + 1)] as const
  const epoch = createEpochTable(connection).holding(number)
  if (epoch === undefined) throw new StoreError(`no epoch of the index holds block ${number}`)
  forgetMergeOf(connection, epoch.id)
  const remove = (what: string, values: readonly (number | string | Uint8Array)[]) =>
    connection.prepare(`DELETE FROM ${what}`).run(values)
  remove('tx WHERE id >= ? AND id < ?', bounds)
  remove('block WHERE number = ?', [number])
  remove('account_event WHERE block = ?', [number])
  remove(
    `address_tx WHERE epoch = ? AND (address, tx_id) IN
       (SELECT substr(?, 1 + key * ${addressLength}, ${addressLength}), value FROM json_each(?))`,
    [epoch.id, partyAddresses, JSON.stringify([...partyIds])]
  )
  remove(
    `tx_hash WHERE epoch = ? AND (key, tx_id) IN
       (SELECT substr(?, 1 + key * ${hashLength}, ${shortHashLength}), value FROM json_each(?))`,
    [epoch.id, hashes, JSON.stringify([...ids])]
  )
  const suspects = findSuspectRows(connection, damage)
  if (suspects !== undefined) removeSuspects(connection, suspects, ...bounds)
  return { epoch, hadUndo: remove('undo WHERE block = ?', [number]) > 0 }
}
