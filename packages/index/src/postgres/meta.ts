/*
 * Statements that change `IndexMarks`, for the transaction that changes the blocks.
 */

/**
 * Lower bound of the number of rollbacks: microseconds since 1970. A count from 0 would repeat after a fail-over to a copy
 * without the newest commits, and in an index made anew; a cache that is keyed by it would then mix the blocks of both. The
 * function is stable: Citus refuses volatile ones in an `UPDATE`.
 */
export const rollbacksNow = '(extract(epoch FROM statement_timestamp()) * 1000000)::bigint'

/** Marks stored blocks up to this one as final; final blocks stay so. Changes nothing where none of them is stored. */
export function markFinalStatements(number: number): readonly string[] {
  return [
    `UPDATE meta SET finalized = greatest(finalized, ${number}) WHERE indexed_from <= ${number}`,
    'UPDATE meta SET degraded_until = NULL WHERE degraded_until <= finalized'
  ]
}

/**
 * Marks that blocks above `kept`, all of them when it is absent, up to `head` are being removed.
 * @param head - absent when no block is stored: then nothing changes.
 */
export function leaveStatements(kept: number | undefined, head: number | undefined): readonly string[] {
  if (head === undefined) return []
  const isFinalRemoved = `finalized > ${kept ?? -1}`
  return [
    `UPDATE meta SET settled = false, rollbacks = greatest(rollbacks + 1, ${rollbacksNow}),
       degraded_until = CASE WHEN ${isFinalRemoved} THEN greatest(degraded_until, ${head}) ELSE degraded_until END,
       finalized = CASE WHEN ${isFinalRemoved} THEN ${kept ?? 'NULL'} ELSE finalized END`
  ]
}
