import type { WriterReport } from '../port/status.ts'

/**
 * Replaces what the writer said before: one statement, a transaction of its own, which begins by checking the term. Counted
 * on, so that a writer that takes over does not repeat a number of the one before.
 * @param term - of the writer.
 */
export function reportStatement(
  report: Omit<WriterReport, 'beat'>,
  term: number
): { readonly sql: string; readonly values: readonly unknown[] } {
  return {
    sql: `INSERT INTO writer_report SELECT 1, 1, $2, $3, $4, $5, $6, $7, $8, $9 FROM check_term($1)
      ON CONFLICT (id) DO UPDATE SET beat = writer_report.beat + 1, phase = excluded.phase, head = excluded.head,
        finalized = excluded.finalized, indexed_to = excluded.indexed_to,
        rolling_back_to = excluded.rolling_back_to, pool_covered = excluded.pool_covered,
        pool_age_ms = excluded.pool_age_ms, problem = excluded.problem`,
    values: [
      term,
      report.phase,
      report.head ?? null,
      report.finalized ?? null,
      report.indexedTo ?? null,
      report.rollingBackTo ?? null,
      report.poolCovered,
      report.poolAgeMs ?? null,
      // Nodes may say it; a text of PostgreSQL cannot hold it.
      report.problem?.replaceAll('\0', '\ufffd') ?? null
    ]
  }
}
