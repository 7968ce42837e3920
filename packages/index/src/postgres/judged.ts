import { type Damage, IndexDamagedError } from '../platform/errors.ts'
import { sqlStateOf } from './driver.ts'

/** A row whose checksum the database has compared; null: it has none. */
export interface Judged {
  readonly isSound: boolean | null
}

/** Tables whose rows have checksums, and what of an index they hold. */
const sealedTables = {
  meta: 'meta',
  writer_report: 'report',
  block: 'block',
  account_event: 'event',
  undo: 'undo',
  reorged: 'undo',
  pool: 'poolEntry',
  first_seen: 'poolEntry',
  change_log: 'change'
} as const satisfies Record<string, Damage['part']>

/**
 * Returns an SQL expression: whether the checksum of a row is right; null where it has none.
 * @param schema - with its dot; absent: the search path has it.
 */
export function isSound(
  chainId: number,
  table: keyof typeof sealedTables,
  alias: string = table,
  schema = ''
): string {
  return `${alias}.sum = ${schema}row_sum('${chainId}', '${table}', to_jsonb(${alias}))`
}

/** Requires that a row is what was written. @throws {IndexDamagedError} it is not. */
export function requireSound<T extends Judged>(row: T, damage: Damage): T {
  if (row.isSound === true) return row
  throw new IndexDamagedError(damage, row.isSound === null ? 'it has no checksum' : 'its checksum differs')
}

/**
 * Requires that the row of a block is there, and what was written.
 * @param row - absent, or empty after an outer join, where there is none.
 * @throws {IndexDamagedError} it is not.
 */
export function requireBlock<T extends Judged & { readonly number: number | null }>(
  row: T | undefined,
  block: number
): T {
  const damage = { part: 'block', block } as const
  if (row === undefined || row.number === null) throw new IndexDamagedError(damage, 'it is missing')
  return requireSound(row, damage)
}

/** What `seal_row` raises: the writer was about to change a damaged row. */
const isDamaged = 'CD002'

/** Returns the error of a change that the database refused because of a damaged row; absent: it failed for another reason. */
export function damageOf(error: unknown): IndexDamagedError | undefined {
  if (sqlStateOf(error) !== isDamaged) return undefined
  const { cause = error } = error as Error
  const { detail } = cause as { readonly detail?: keyof typeof sealedTables }
  const part = (detail && sealedTables[detail]) ?? 'meta'
  return new IndexDamagedError({ part }, 'its checksum differs')
}
