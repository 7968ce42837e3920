/*
 * What the index says of its own blocks (`IndexMarks`), as statements for the transaction that changes them.
 */

/**
 * The number of rollbacks is no less than this: microseconds since 1970. A count from 0 would come again in a copy that took the
 * index's place without its newest commits, as after a fail-over, and in an index made anew; whoever keeps what was read by that
 * number would then show the blocks of one for those of the other.
 */
export const rollbacksNow = '(extract(epoch FROM clock_timestamp()) * 1000000)::bigint'

/** Stored blocks up to this one are final; what was final stays so. Says nothing where none of them is stored. */
export function markFinalStatements(number: number): readonly string[] {
  return [
    `UPDATE meta SET finalized = greatest(finalized, ${number}) WHERE indexed_from <= ${number}`,
    'UPDATE meta SET degraded_until = NULL WHERE degraded_until <= finalized'
  ]
}

/**
 * Blocks above `kept`, all of them when it is absent, up to `head` are being removed.
 * @param head - absent when none is stored: then nothing is removed, and nothing said.
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
