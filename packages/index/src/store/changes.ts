import { entryKinds } from '../record/changeEntries.ts'
import { checkRecord } from '../record/recordSums.ts'
import type { ReadTransaction, Value, WriteTransaction } from '../runs/Transaction.ts'
import type { LogRow, LogRows, LogWrite } from './ChangeLog.ts'
import type { MetaEdit } from './meta.ts'
import { entriesAtOnce, type ReplayedRows } from './replayChanges.ts'
import { checkRow } from './rowSums.ts'
import { type LogColumns, type LogFactColumns, toLogFacts, toLogRow } from './rows.ts'
import { insertSummed, selectIn } from './sets.ts'

interface SummedEntry extends LogColumns {
  readonly sum: number | null
}

/** Writes the log of changes, and its bounds into `meta`. */
export async function writeLog(
  transaction: WriteTransaction,
  chainId: number,
  meta: MetaEdit,
  { rows, dropUpTo, from, to }: LogWrite
): Promise<void> {
  if (dropUpTo > 0) await transaction.run('DELETE FROM change_log WHERE entry <= ?', [dropUpTo])
  const values = rows.map(({ entry, previous, kind, firstBlock, lastBlock, needs, rec }) => [
    ...[entry, previous, entryKinds.indexOf(kind) + 1],
    ...[firstBlock ?? null, lastBlock ?? null, needs ?? null, rec]
  ])
  const columns = ['entry', 'previous', 'kind', 'first_block', 'last_block', 'needs', 'rec']
  await insertSummed(transaction, chainId, 'change_log', columns, values)
  meta.setLog({ from, to })
}

/** Creates the writer's reads of the log. */
export function createLogRows(transaction: ReadTransaction, chainId: number): LogRows {
  return {
    async facts() {
      const rows = await transaction.all<LogFactColumns & { readonly size: number }>(
        `SELECT entry, previous, kind, first_block, last_block, needs, length(rec) AS size
         FROM change_log ORDER BY entry`
      )
      return rows.map(row => ({ ...toLogFacts(row), byteCount: row.size }))
    },
    async bytesOf(entries) {
      const text = 'SELECT * FROM change_log WHERE entry IN (?)'
      const rows = await selectIn<SummedEntry>(transaction, text, entries)
      const found = new Map(rows.map(row => [row.entry, checkEntry(chainId, row).rec]))
      return entries.flatMap(entry => found.get(entry) ?? [])
    }
  }
}

/** Creates the reads of a replay. */
export function createReplay(transaction: ReadTransaction, chainId: number): Omit<ReplayedRows, 'blockRef'> {
  const select = async (rest: string, values: readonly Value[]): Promise<readonly LogRow[]> => {
    const rows = await transaction.all<SummedEntry>(`SELECT * FROM change_log WHERE ${rest}`, values)
    return rows.map(row => toLogRow(checkEntry(chainId, row)))
  }
  return {
    rowsFrom: entry => select(`entry >= ? ORDER BY entry LIMIT ${entriesAtOnce}`, [entry]),
    async factsFrom(entry) {
      const text =
        'SELECT entry, previous, kind, first_block, last_block, needs FROM change_log WHERE entry >= ? ORDER BY entry LIMIT 2'
      return (await transaction.all<LogFactColumns>(text, [entry])).map(toLogFacts)
    },
    appended(...bounds) {
      const newestFirst =
        'kind = 1 AND last_block >= ? AND first_block <= ? AND entry >= ? AND entry < ? ORDER BY entry DESC'
      return select(newestFirst, bounds)
    },
    async removal(after, block) {
      // Only the index of removals is left: of the others SQLite would walk the whole log.
      const oldest = 'kind = 2 AND +entry > ? AND first_block <= ? AND last_block >= ? ORDER BY entry LIMIT 1'
      return (await select(oldest, [after, block, block]))[0]
    },
    async recordsOf(ids) {
      const text = 'SELECT id, rec FROM tx WHERE id IN (?)'
      const rows = await selectIn<{ readonly id: number; readonly rec: Uint8Array }>(transaction, text, ids)
      for (const { id, rec } of rows) checkRecord(chainId, id, rec)
      return new Map(rows.map(({ id, rec }) => [id, rec]))
    }
  }
}

function checkEntry(chainId: number, row: SummedEntry): SummedEntry {
  return checkRow(chainId, 'change_log', row, { part: 'change' })
}
