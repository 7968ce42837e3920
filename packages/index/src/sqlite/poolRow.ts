import { IndexDamagedError } from '../platform/errors.ts'
import { toHex } from '../record/hexBytes.ts'
import { decodePending } from '../record/record.ts'
import { namedBy, type StoredEntry } from '../shared/Pool.ts'
import { checkRow } from '../shared/rowSums.ts'
import type { PendingColumns } from '../shared/rows.ts'

/** Row of `pool`. */
export interface PoolRow extends Omit<StoredEntry, 'seconds'> {
  readonly first_seen_seconds: number
  readonly sum: number | null
}

/**
 * Checks the row of a pool entry.
 * @param address - it was found by; absent: by its id.
 */
export function checkPoolRow(chainId: number, row: PoolRow, address?: Uint8Array): PoolRow & PendingColumns {
  // An outer join gives empty columns where the entry is missing.
  if (row.id === null) throw new IndexDamagedError({ part: 'poolEntry' }, 'it is missing')
  checkRow(chainId, 'pool', row, { part: 'poolEntry' })
  const isNamed = address === undefined || namedBy(decodePending(row.rec)).has(toHex(address))
  if (!isNamed)
    throw new IndexDamagedError({ part: 'poolEntry' }, 'it is found by an address that it does not name')
  return { ...row, seconds: row.first_seen_seconds }
}
