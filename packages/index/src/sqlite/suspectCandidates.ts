import type { Damage } from '../platform/errors.ts'
import type { Suspects } from '../port/writer.ts'
import { partCount } from '../record/rowChecksums.ts'
import type { SqliteConnection } from './driver.ts'
import { createEpochList } from './epochList.ts'
import { proofs } from './epochSums.ts'
import { prepareHoldingDamage } from './rowDamage.ts'
import { acceptPart, endOfEpoch } from './suspectRows.ts'
import { holdingTable } from './tableShapes.ts'

/**
 * Finds an epoch whose candidates are damaged, and the blocks of which they are.
 * @returns absent: all are what was written.
 */
export function findSuspectCandidates(
  connection: SqliteConnection,
  chainId: number,
  { epoch }: Damage
): Suspects | undefined {
  const findDamage = prepareHoldingDamage(connection, chainId)
  const { epochs, holdings } = createEpochList(connection).read()
  for (const each of holdings) {
    if ((epoch !== undefined && each.id !== epoch) || findDamage(each) === undefined) continue
    const own = epochs.find(({ id }) => id === each.id)
    // What a rollback has left is of no block.
    const range =
      own === undefined ? { from: 0, to: -1 } : { from: own.firstBlock, to: endOfEpoch(connection, own) - 1 }
    return { damage: { part: 'candidate', epoch: each.id }, likely: [], range }
  }
  return undefined
}

/**
 * Takes the candidates of an epoch for what has to be there, once every block of it has been put back: none is missing then, and one
 * too many costs a question to the node. Sums of rows are written by the next merge. Runs inside the caller's transaction.
 */
export function acceptCandidates(connection: SqliteConnection, { epoch }: Damage): void {
  const held = connection
    .prepare<{ proof: number }>('SELECT proof FROM holding_epoch WHERE id = ?')
    .get([epoch ?? null])
  if (epoch === undefined || held === undefined) return
  // Rows of another shape are no candidates.
  connection
    .prepare('DELETE FROM holding WHERE epoch = ? AND (length(owner) <> 20 OR length(contract) <> 20)')
    .run([epoch])
  if (held.proof === proofs.parts) {
    for (let part = 0; part < partCount; part++) acceptPart(connection, holdingTable, epoch, part)
  } else {
    connection.prepare(`UPDATE holding_epoch SET proof = ${proofs.none} WHERE id = ?`).run([epoch])
  }
}
