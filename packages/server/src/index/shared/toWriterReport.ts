import type { WriterReport } from '../port/status.ts'

/** A row of `writer_report`. */
export interface ReportColumns {
  readonly beat: number
  readonly phase: string
  readonly head: number | null
  readonly finalized: number | null
  readonly indexed_to: number | null
  readonly rolling_back_to: number | null
  readonly pool_covered: boolean
  readonly pool_age_ms: number | null
  readonly problem: string | null
}

/** What the writer has said, with what it left out absent. */
export function toWriterReport(row: ReportColumns): WriterReport {
  return {
    beat: row.beat,
    // Written by the writer of this port only.
    phase: row.phase as WriterReport['phase'],
    ...(row.head !== null && { head: row.head }),
    ...(row.finalized !== null && { finalized: row.finalized }),
    ...(row.indexed_to !== null && { indexedTo: row.indexed_to }),
    ...(row.rolling_back_to !== null && { rollingBackTo: row.rolling_back_to }),
    poolCovered: row.pool_covered,
    ...(row.pool_age_ms !== null && { poolAgeMs: row.pool_age_ms }),
    ...(row.problem !== null && { problem: row.problem })
  }
}
