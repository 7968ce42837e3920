import type { MetadataRecord } from '../../../model/metadata.ts'
import {
  type DocumentRow,
  digestOf,
  evictedAtOnce,
  kindNumbers,
  type MetadataBounds,
  type MetadataChange,
  rowOverheadBytes,
  toMetadataRecord
} from '../../metadataCache/documentRow.ts'
import type { SqliteConnection } from '../driver.ts'

/** The statements over the cache's one table. Synchronous; those that change it belong into a transaction. */
export function createDocumentTable(connection: SqliteConnection) {
  const select = connection.prepare<DocumentRow>(
    'SELECT used_at, fetched_at, is_proven, failures, failed_at, body FROM document WHERE key = ?'
  )
  const upsertDocument = connection.prepare(
    `INSERT INTO document (key, kind, used_at, weight, fetched_at, is_proven, failures, body) VALUES (?, ?, ?, ?, ?, ?, 0, ?)
     ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at, weight = excluded.weight, fetched_at = excluded.fetched_at,
       is_proven = excluded.is_proven, failures = 0, failed_at = NULL, body = excluded.body`
  )
  const upsertFailure = connection.prepare(
    `INSERT INTO document (key, kind, used_at, weight, is_proven, failures, failed_at) VALUES (?, ?, ?, ?, 0, ?, ?)
     ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at, failures = excluded.failures, failed_at = excluded.failed_at`
  )
  const markUsed = connection.prepare('UPDATE document SET used_at = ? WHERE key = ?')
  const readUsage = connection.prepare<{ weight: number }>('SELECT weight FROM usage WHERE kind = ?')
  const oldest = connection.prepare<{ id: number; weight: number }>(
    'SELECT id, weight FROM document WHERE kind = ? ORDER BY used_at, id LIMIT ?'
  )
  const remove = connection.prepare('DELETE FROM document WHERE id = ?')

  /** @returns whether more has to leave. */
  function evictKind(kind: number, bound: number): boolean {
    let excess = (readUsage.get([kind])?.weight ?? 0) - bound
    if (excess <= 0) return false
    for (const { id, weight } of oldest.all([kind, evictedAtOnce])) {
      remove.run([id])
      excess -= weight
      if (excess <= 0) return false
    }
    return true
  }

  return {
    read(key: string): { readonly record: MetadataRecord; readonly usedAtMs: number } | undefined {
      const row = select.get([digestOf(key)])
      return row && { record: toMetadataRecord(row), usedAtMs: row.used_at }
    },
    apply(key: string, change: MetadataChange, nowMs: number): void {
      const digest = digestOf(key)
      switch (change.is) {
        case 'document': {
          const { body, fetchedAtMs, isProven } = change.document
          const weight = rowOverheadBytes + body.length
          const kind = kindNumbers[change.kind]
          upsertDocument.run([digest, kind, nowMs, weight, fetchedAtMs, Number(isProven), body])
          return
        }
        case 'failure': {
          const { count, atMs } = change.failure
          upsertFailure.run([digest, kindNumbers[change.kind], nowMs, rowOverheadBytes, count, atMs])
          return
        }
        case 'use':
          markUsed.run([nowMs, digest])
      }
    },
    /** @returns whether more has to leave, which is to be done in the next transaction. */
    evict(bounds: MetadataBounds): boolean {
      const isOver = [evictKind(kindNumbers.content, bounds.content), evictKind(kindNumbers.url, bounds.url)]
      return isOver.includes(true)
    }
  }
}

export type DocumentTable = ReturnType<typeof createDocumentTable>
