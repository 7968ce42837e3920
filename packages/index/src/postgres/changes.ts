import { entryKinds } from '../record/changeEntries.ts'
import type { LogRows, LogWrite } from '../shared/ChangeLog.ts'
import { type LogColumns, type LogFactColumns, toLogFacts } from '../shared/rows.ts'
import { isSound, type Judged, requireSound } from './judged.ts'
import { bigintsLiteral, bytesLiteral } from './literals.ts'
import { chainSchema } from './schema.ts'
import type { WriterSession } from './session.ts'

/** The channel on which readers hear of commits. */
export function commitChannel(chainId: number): string {
  return `${chainSchema(chainId)}_commits`
}

/** Statements that write the log of changes, and what `meta` says of it, and wake readers once that is committed. */
export function logStatements(chainId: number, { rows, dropUpTo, from, to }: LogWrite): readonly string[] {
  return [
    ...(dropUpTo > 0 ? [`DELETE FROM change_log WHERE entry <= ${dropUpTo}`] : []),
    ...rows.map(({ entry, previous, kind, firstBlock, lastBlock, needs, rec }) => {
      const numbers = [entry, previous, entryKinds.indexOf(kind) + 1, firstBlock, lastBlock, needs]
      const values = numbers.map(number => number ?? 'NULL').join(', ')
      return `INSERT INTO change_log (entry, previous, kind, first_block, last_block, needs, rec)
        VALUES (${values}, ${bytesLiteral(rec)})`
    }),
    `UPDATE meta SET changes_from = ${from}, changes_to = ${to}`,
    `NOTIFY ${commitChannel(chainId)}`
  ]
}

/** The writer's reads of the log. */
export function createLogRows(session: WriterSession, chainId: number): LogRows {
  return {
    async facts() {
      const rows = await session.read<LogFactColumns & { readonly size: number }>(
        `SELECT entry, previous, kind, first_block, last_block, needs, octet_length(rec) AS size
         FROM change_log ORDER BY entry`
      )
      return rows.map(row => ({ ...toLogFacts(row), byteCount: row.size }))
    },
    async bytesOf(entries) {
      const rows = await session.read<LogColumns & Judged>(
        `SELECT *, ${isSound(chainId, 'change_log')} AS "isSound" FROM change_log
         WHERE entry = ANY (${bigintsLiteral(entries)}) ORDER BY entry`
      )
      return rows.map(row => requireSound(row, { part: 'change' }).rec)
    }
  }
}
