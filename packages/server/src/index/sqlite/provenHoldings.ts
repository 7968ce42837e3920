import { IndexDamagedError } from '../../platform/errors.ts'
import { readRowSum, rowSum } from '../record/rowSum.ts'
import type { HoldingColumns } from '../shared/rows.ts'
import { type CountedParts, findRows } from './countedParts.ts'
import type { SqliteConnection } from './driver.ts'
import type { HoldingEpoch } from './epochList.ts'
import { createEpochEnds, proofs } from './epochSums.ts'
import { createKeyHash, type KeyedRows, keyOf, variableOf } from './keyedRows.ts'
import { createPartSums } from './partSums.ts'
import { columnsOf, compareKeys, holdingTable, type RowKey } from './tableShapes.ts'

interface LinkedHolding extends HoldingColumns {
  readonly sum: Uint8Array | null
}

/**
 * Prepares reading the candidates of an owner in one epoch, in order, after one of them.
 * @throws {IndexDamagedError} they are not what was written.
 */
export function createProvenHoldings(connection: SqliteConnection, chainId: number) {
  const list = columnsOf(holdingTable).join(', ')
  const descending = columnsOf(holdingTable)
    .map(column => `${column} DESC`)
    .join(', ')
  const partSums = createPartSums(connection, holdingTable)
  const select = connection.prepare<LinkedHolding>(
    `SELECT contract, token_id AS tokenId, standard, sum FROM holding
     WHERE epoch = ? AND owner = ? AND (contract, token_id, standard) > (?, ?, ?)
     ORDER BY contract, token_id, standard LIMIT ?`
  )
  const selectBefore = connection.prepare(
    `SELECT ${list} FROM holding WHERE epoch = ? AND (${list}) <= (?, ?, ?, ?) ORDER BY ${descending} LIMIT 1`
  )
  const selectAfter = connection.prepare(
    `SELECT ${list}, sum FROM holding WHERE epoch = ? AND owner > ? ORDER BY ${list} LIMIT 1`
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
    let before = keyOf(holdingTable, selectBefore.get([epoch, ...start]))
    if (before !== undefined && compareKeys(before, start) > 0) refuse(epoch)
    for (const { contract, tokenId, standard, sum } of rows) {
      const key = [owner, contract, tokenId, standard]
      if (before !== undefined && compareKeys(before, key) >= 0) refuse(epoch)
      if (sum === null || readRowSum(sum, 0) !== rowSum(hashAt(key), hashAt(before))) refuse(epoch)
      before = key
    }
    if (!isAll) return
    const row = selectAfter.get([epoch, owner])
    const next = keyOf(holdingTable, row)
    if (row === undefined || next === undefined) {
      if (ends.read(epoch) !== hashAt(before)) refuse(epoch)
      return
    }
    if (Buffer.compare(next[0] as Uint8Array, owner) <= 0) refuse(epoch)
    if (!(row.sum instanceof Uint8Array) || readRowSum(row.sum, 0) !== rowSum(hashAt(next), hashAt(before)))
      refuse(epoch)
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
