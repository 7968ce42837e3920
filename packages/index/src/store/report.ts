import type { WriterReport } from '../port/status.ts'
import type { ReadTransaction, WriteTransaction } from '../runs/Transaction.ts'
import { checkRow } from './rowSums.ts'
import { type ReportColumns, reportColumns, reportValues } from './rows.ts'
import { insertSummed } from './sets.ts'

/**
 * Reads the writer's last report; absent before the first one.
 * @throws {IndexDamagedError} it is not what was written.
 */
export async function readReport(
  transaction: ReadTransaction,
  chainId: number
): Promise<ReportColumns | undefined> {
  const [row] = await transaction.all<ReportColumns & { readonly sum: number | null }>(
    'SELECT * FROM writer_report'
  )
  return row && checkRow(chainId, 'writer_report', row, { part: 'report' })
}

/** Writes a report. The beat is counted on, so that a writer that takes over does not repeat an earlier number. */
export async function writeReport(
  transaction: WriteTransaction,
  chainId: number,
  report: Omit<WriterReport, 'beat'>
): Promise<void> {
  const [last] = await transaction.all<Pick<ReportColumns, 'beat'>>('SELECT beat FROM writer_report')
  await transaction.run('DELETE FROM writer_report')
  const columns = ['id', 'beat', ...reportColumns]
  await insertSummed(transaction, chainId, 'writer_report', columns, [
    [1, (last?.beat ?? 0) + 1, ...reportValues(report)]
  ])
}
