import { entryKinds } from '../record/changeEntries.ts'
import { checkRecord } from '../record/recordSums.ts'
import type { LogRows, LogWrite } from '../shared/ChangeLog.ts'
import { entriesAtOnce, type ReplayedRows } from '../shared/replayChanges.ts'
import { checkRow } from '../shared/rowSums.ts'
import { type LogColumns, type LogFactColumns, toLogFacts, toLogRow } from '../shared/rows.ts'
import type { SqliteConnection } from './driver.ts'
import { prepareSealed } from './sealedRows.ts'

/** A row with its checksum. */
type SealedEntry = LogColumns & { readonly sum: number | null }

/** Prepares writing the log of changes, and what `meta` says of it. Every call runs inside the caller's transaction. */
export function createLogWriter(connection: SqliteConnection, chainId: number): (write: LogWrite) => void {
  const columns = ['entry', 'previous', 'kind', 'first_block', 'last_block', 'needs', 'rec']
  const insert = prepareSealed(connection, chainId, 'change_log', columns)
  const drop = connection.prepare('DELETE FROM change_log WHERE entry <= ?')
  const setBounds = connection.prepare('UPDATE meta SET changes_from = ?, changes_to = ?')
  return ({ rows, dropUpTo, from, to }) => {
    if (dropUpTo > 0) drop.run([dropUpTo])
    for (const { entry, previous, kind, firstBlock, lastBlock, needs, rec } of rows) {
      const number = entryKinds.indexOf(kind) + 1
      insert([entry, previous, number, firstBlock ?? null, lastBlock ?? null, needs ?? null, rec])
    }
    setBounds.run([from, to])
  }
}

/** Prepares the writer's reads of the log. */
export function createLogRows(connection: SqliteConnection, chainId: number): LogRows {
  const facts = connection.prepare<LogFactColumns & { readonly size: number }>(
    'SELECT entry, previous, kind, first_block, last_block, needs, length(rec) AS size FROM change_log ORDER BY entry'
  )
  const one = connection.prepare<SealedEntry>('SELECT * FROM change_log WHERE entry = ?')
  return {
    facts: async () => facts.all([]).map(row => ({ ...toLogFacts(row), byteCount: row.size })),
    bytesOf: async entries =>
      entries.flatMap(entry => one.all([entry])).map(row => checkEntry(chainId, row).rec)
  }
}

/** Prepares the reads of a replay. */
export function prepareReplay(
  connection: SqliteConnection
): (chainId: number) => Omit<ReplayedRows, 'blockRef'> {
  const after = connection.prepare<SealedEntry>(
    `SELECT * FROM change_log WHERE entry >= ? ORDER BY entry LIMIT ${entriesAtOnce}`
  )
  const facts = connection.prepare<LogFactColumns>(
    'SELECT entry, previous, kind, first_block, last_block, needs FROM change_log WHERE entry >= ? ORDER BY entry LIMIT 2'
  )
  const appended = connection.prepare<SealedEntry>(
    `SELECT * FROM change_log WHERE kind = 1 AND last_block >= ? AND first_block <= ? AND entry >= ? AND entry < ?
     ORDER BY entry DESC`
  )
  const removal = connection.prepare<SealedEntry>(
    // Left to choose, the planner walks all entries.
    `SELECT * FROM change_log INDEXED BY change_log_removed WHERE kind = 2 AND entry > ?1 AND first_block <= ?2 AND last_block >= ?2
     ORDER BY entry LIMIT 1`
  )
  const record = connection.prepare<{ rec: Uint8Array }>('SELECT rec FROM tx WHERE id = ?')
  return chainId => {
    const toRow = (row: SealedEntry) => toLogRow(checkEntry(chainId, row))
    return {
      rowsFrom: async entry => after.all([entry]).map(toRow),
      factsFrom: async entry => facts.all([entry]).map(toLogFacts),
      appended: async (...bounds) => appended.all(bounds).map(toRow),
      removal: async (entry, block) => removal.all([entry, block]).map(toRow)[0],
      async recordsOf(ids) {
        const records = new Map<number, Uint8Array>()
        for (const id of ids) {
          const found = record.get([id])
          if (found === undefined) continue
          checkRecord(chainId, id, found.rec)
          records.set(id, found.rec)
        }
        return records
      }
    }
  }
}

function checkEntry(chainId: number, row: SealedEntry): SealedEntry {
  return checkRow(chainId, 'change_log', row, { part: 'change' })
}
