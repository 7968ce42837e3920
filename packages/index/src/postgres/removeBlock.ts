import type { Damage } from '../platform/errors.ts'
import { addressLength } from '../record/encodeBlock.ts'
import type { PackedBlocks } from '../record/packBlocks.ts'
import { firstTransactionId } from '../record/transactionId.ts'
import { bigintsLiteral, bytesArrayLiteral, bytesLiteral } from './literals.ts'
import { walkingIndexes } from './rollback.ts'

/**
 * Removes the rows of one stored block, by its height and by the keys of `block`, which is to be put in its place, and the rows
 * under the key at which damage was met. Candidates stay: they are hints.
 */
export function removeBlockStatements(
  { headers, ids, partyAddresses, partyIds }: PackedBlocks,
  { part, key }: Damage
): readonly string[] {
  const number = headers[0]?.ref.number ?? 0
  const ofBlock = (column: string) =>
    `${column} >= ${firstTransactionId(number)} AND ${column} < ${firstTransactionId(number + 1)}`
  const addresses = Array.from(partyIds, (_, row) =>
    partyAddresses.subarray(row * addressLength, (row + 1) * addressLength)
  )
  return [
    `DELETE FROM tx WHERE ${ofBlock('id')}`,
    `DELETE FROM block WHERE number = ${number}`,
    `DELETE FROM undo WHERE block = ${number}`,
    ...walkingIndexes([
      `DELETE FROM account_event WHERE block + 0 = ${number}`,
      `DELETE FROM address_tx a USING unnest(${bytesArrayLiteral(addresses)}, ${bigintsLiteral([...partyIds])})
         AS put (address, tx_id) WHERE a.address = put.address AND a.tx_id = put.tx_id AND ${ofBlock('a.tx_id')}`,
      ...(part !== 'addressRow' || key === undefined
        ? []
        : [
            `DELETE FROM address_tx WHERE address = ${bytesLiteral(Buffer.from(key, 'hex'))} AND ${ofBlock('tx_id')}`
          ])
    ]),
    // They are counted again as they are put back.
    `UPDATE meta SET transactions = transactions - ${ids.length}`
  ]
}
