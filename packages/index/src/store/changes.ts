import { entryKinds } from '../record/changeEntries.ts'
import { checkRecord } from '../record/recordSums.ts'
import type { ReadTransaction, WriteTransaction } from '../runs/Transaction.ts'
import { IndexDamagedError } from '../platform/errors.ts'
import type { LogRow, LogRows, LogWrite } from './ChangeLog.ts'
import type { MetaEdit } from './meta.ts'
import type { StoredRecord } from './records.ts'
import { entriesAtOnce, type ReplayedRows } from './replayChanges.ts'
import { checkRow } from './rowSums.ts'
import { insertSummed, selectIn } from './sets.ts'

interface SummedEntry extends LogRow {
  readonly sum: number | null
}

const columns = ['entry', 'previous', 'kind', 'first_block', 'last_block', 'rec'] as const

/** Writes the log of changes, and its bounds into `meta`. */
export async function writeLog(
  transaction: WriteTransaction,
  chainId: number,
  meta: MetaEdit,
  { rows, dropUpTo, from, to }: LogWrite
): Promise<void> {
  if (dropUpTo > 0) await transaction.run('DELETE FROM change_log WHERE entry <= ?', [dropUpTo])
  const values = rows.map(row => columns.map(column => row[column]))
  await insertSummed(transaction, chainId, 'change_log', columns, values)
  meta.setLog({ from, to })
}

/** Creates the writer's reads of the log. */
export function createLogRows(transaction: ReadTransaction, chainId: number): LogRows {
  return {
    facts: () =>
      transaction.all(
        `SELECT entry, previous, kind, first_block, last_block, length(rec) AS size FROM change_log ORDER BY entry`
      ),
    async bytesOf(entries) {
      const text = 'SELECT * FROM change_log WHERE entry IN (?)'
      const rows = await selectIn<SummedEntry>(transaction, text, entries)
      if (rows.length < entries.length) throw new IndexDamagedError({ part: 'change' }, 'it is missing')
      return new Map(rows.map(row => [row.entry, checkEntry(chainId, row).rec]))
    }
  }
}

/** Creates the reads of a replay. @param open - gives the transaction for the next read. */
export function createReplay(open: () => ReadTransaction, chainId: number): Omit<ReplayedRows, 'blockRef'> {
  return {
    async rowsFrom(entry) {
      const text = `SELECT * FROM change_log WHERE entry >= ? ORDER BY entry LIMIT ${entriesAtOnce}`
      return (await open().all<SummedEntry>(text, [entry])).map(row => checkEntry(chainId, row))
    },
    async firstFrom(entry) {
      const text = 'SELECT entry, previous FROM change_log WHERE entry >= ? ORDER BY entry LIMIT 1'
      return (await open().all<Pick<LogRow, 'entry' | 'previous'>>(text, [entry]))[0]
    },
    async removal(after, block) {
      // Only the index of removals is left: of the others SQLite would walk the whole log.
      const text = `SELECT * FROM change_log WHERE kind = ${entryKinds.rollback} AND +entry > ?
        AND first_block <= ? AND last_block >= ? ORDER BY entry LIMIT 1`
      const [row] = await open().all<SummedEntry>(text, [after, block, block])
      return row && checkEntry(chainId, row)
    },
    async recordsOf(ids) {
      const text = 'SELECT id, rec FROM tx WHERE id IN (?)'
      const rows = await selectIn<StoredRecord>(open(), text, ids)
      for (const { id, rec } of rows) checkRecord(chainId, id, rec)
      return new Map(rows.map(({ id, rec }) => [id, rec]))
    }
  }
}

function checkEntry(chainId: number, row: SummedEntry): SummedEntry {
  return checkRow(chainId, 'change_log', row, { part: 'change' })
}
