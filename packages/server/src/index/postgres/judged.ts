import { type Damage, IndexDamagedError } from '../../platform/errors.ts'
import type { SumRule } from '../record/recordSums.ts'

/** A row whose checksum the database has compared; null: it has none. */
export interface Judged {
  readonly isSound: boolean | null
}

/**
 * Requires that a row is what was written. Only a row of an old block may lack a checksum.
 * @throws {IndexDamagedError} it is not.
 */
export function requireSound<T extends Judged>(
  { checkedFrom = Number.POSITIVE_INFINITY }: SumRule,
  row: T,
  damage: Damage
): T {
  const isOld = row.isSound === null && (damage.block ?? Number.POSITIVE_INFINITY) < checkedFrom
  if (row.isSound === true || isOld) return row
  throw new IndexDamagedError(damage, row.isSound === null ? 'it has no checksum' : 'its checksum differs')
}
