import { IndexDamagedError } from '../platform/errors.ts'
import { readRowSum, rowSum } from '../record/rowSum.ts'
import type { HoldingColumns } from '../shared/rows.ts'
import { type CountedParts, findRows } from './countedParts.ts'
import type { SqliteConnection } from './driver.ts'
import type { HoldingEpoch } from './epochList.ts'
import { createEpochEnds, proofs } from './epochSums.ts'
import { createKeyHash, createKeyOrder, type KeyedRows, variableOf } from './keyedRows.ts'
import { createPartSums } from './partSums.ts'
import { compareKeys, everything, holdingTable, nothing, type RowKey } from './tableShapes.ts'

interface LinkedHolding extends HoldingColumns {
  readonly sum: Uint8Array | null
}

/**
 * Prepares reading the candidates of an owner in one epoch, in order, after one of them.
 * @throws {IndexDamagedError} they are not what was written.
 */
export function createProvenHoldings(connection: SqliteConnection, chainId: number) {
  const { upTo, after: next } = createKeyOrder(connection, holdingTable)
  const partSums = createPartSums(connection, holdingTable)
  const select = connection.prepare<LinkedHolding>(
    `SELECT contract, token_id AS tokenId, standard, sum FROM holding
     WHERE epoch = ? AND owner = ? AND (contract, token_id, standard) > (?, ?, ?)
     ORDER BY contract, token_id, standard LIMIT ? + 0`
  )
  const ends = createEpochEnds(connection, holdingTable)
  const hashAt = createKeyHash(holdingTable, chainId)
  const refuse = (epoch: number) => {
    throw new IndexDamagedError({ part: 'candidate', epoch }, 'a row does not follow the one before it')
  }

  const checkLinked = (
    epoch: number,
    owner: Uint8Array,
    after: RowKey,
    rows: readonly LinkedHolding[],
    isAll: boolean
  ) => {
    const start = [owner, ...after]
    let before = upTo(epoch, start)
    if (before !== undefined && compareKeys(before, start) > 0) refuse(epoch)
    for (const { contract, tokenId, standard, sum } of rows) {
      const key = [owner, contract, tokenId, standard]
      if (before !== undefined && compareKeys(before, key) >= 0) refuse(epoch)
      if (sum === null || readRowSum(sum, 0) !== rowSum(hashAt(key), hashAt(before))) refuse(epoch)
      before = key
    }
    if (!isAll) return
    const row = next(epoch, [owner, everything, nothing, 0])
    if (row === undefined) {
      if (ends.read(epoch) !== hashAt(before)) refuse(epoch)
      return
    }
    if (Buffer.compare(row.key[0] as Uint8Array, owner) <= 0) refuse(epoch)
    if (row.sum !== rowSum(hashAt(row.key), hashAt(before))) refuse(epoch)
  }

  return (
    { id, proof }: HoldingEpoch,
    counted: CountedParts,
    owner: Uint8Array,
    { contract, tokenId, standard }: HoldingColumns,
    limit: number
  ): readonly HoldingColumns[] => {
    const after = [contract, tokenId, standard]
    if (proof === proofs.parts) {
      const rows = counted.rowsAround(partSums, holdingTable, id, owner)
      const { start, end } = findRows(holdingTable, rows, owner)
      const found: HoldingColumns[] = []
      for (let row = start; row < end && found.length < limit; row++) {
        const each = holdingAt(rows, row)
        if (compareKeys([each.contract, each.tokenId, each.standard], after) > 0) found.push(each)
      }
      return found
    }
    const rows = select.all([id, owner, ...after, limit])
    if (proof === proofs.rows) checkLinked(id, owner, after, rows, rows.length < limit)
    return rows
  }
}

function holdingAt(rows: KeyedRows, row: number): HoldingColumns {
  const width = holdingTable.rows.keyLength / 2
  const at = row * 2 * width
  return {
    contract: rows.fixed.subarray(at + width, at + 2 * width),
    tokenId: variableOf(rows, row),
    standard: rows.numbers[row] ?? 0
  }
}
