import type { WriterReport } from '../port/status.ts'
import { type ReportColumns, toWriterReport } from '../shared/toWriterReport.ts'
import type { SqliteConnection } from './driver.ts'

/** Prepares the reading of what the writer has said last; it sees what the connection's transaction sees. */
export function createReportReader(connection: SqliteConnection): () => WriterReport | undefined {
  const select = connection.prepare<Omit<ReportColumns, 'pool_covered'> & { readonly pool_covered: number }>(
    'SELECT * FROM writer_report'
  )
  return () => {
    const row = select.get([])
    return row && toWriterReport({ ...row, pool_covered: row.pool_covered === 1 })
  }
}

/** Prepares the writing of it: one statement, and a transaction of its own. */
export function createReportWriter(
  connection: SqliteConnection
): (report: Omit<WriterReport, 'beat'>) => void {
  // Counted on, so that a writer that takes over does not repeat a number of the one before.
  const replace = connection.prepare(
    `INSERT INTO writer_report VALUES (1, 1, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET beat = beat + 1, phase = excluded.phase, head = excluded.head,
       finalized = excluded.finalized, indexed_to = excluded.indexed_to,
       rolling_back_to = excluded.rolling_back_to, pool_covered = excluded.pool_covered,
       pool_age_ms = excluded.pool_age_ms, problem = excluded.problem`
  )
  return report => {
    replace.run([
      report.phase,
      report.head ?? null,
      report.finalized ?? null,
      report.indexedTo ?? null,
      report.rollingBackTo ?? null,
      report.poolCovered ? 1 : 0,
      report.poolAgeMs ?? null,
      report.problem ?? null
    ])
  }
}
