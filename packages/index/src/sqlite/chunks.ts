import type { Chunk } from '../runs/chunk.ts'
import type { ChunkReads, FoundChunk } from '../runs/chunkReads.ts'
import type { SqliteConnection } from './driver.ts'

/**
 * Tables of chunks. Chunks are found by a small table of their lower bounds, because large rows would make the tree that is
 * searched a deep one.
 */
export const chunkTables = `
  CREATE TABLE chunk (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;

  CREATE TABLE chunk_bound (
    run INTEGER NOT NULL,
    section INTEGER NOT NULL,
    lower BLOB NOT NULL,
    number INTEGER NOT NULL,
    chunk INTEGER NOT NULL,
    PRIMARY KEY (run, section, lower)
  ) STRICT, WITHOUT ROWID;
`

/** Prepares reading chunks in the transaction of a connection. */
export function prepareChunkReads(connection: SqliteConnection): ChunkReads {
  const find = connection.prepare<{ number: number; bytes: Uint8Array }>(
    `SELECT bound.number AS number, chunk.bytes AS bytes FROM
       (SELECT number, chunk FROM chunk_bound WHERE run = ? AND section = ? AND lower <= ? ORDER BY lower DESC LIMIT 1) AS bound
       JOIN chunk ON chunk.id = bound.chunk`
  )
  const scan = connection.prepare<{ number: number; bytes: Uint8Array }>(
    `SELECT bound.number AS number, chunk.bytes AS bytes FROM chunk_bound AS bound JOIN chunk ON chunk.id = bound.chunk
     WHERE bound.run = ? AND bound.section = ? AND bound.lower >= ? ORDER BY bound.lower LIMIT ? + 0`
  )
  return {
    searchesAtOnce: [1, 1],
    find: async searches =>
      searches.map(({ run, section, key }): FoundChunk | undefined => find.get([run, section, key])),
    scan: async (run, section, from, limit) => scan.all([run, section, from, limit])
  }
}

/** Prepares writing chunks in the transaction of a connection. */
export function prepareChunkWrites(connection: SqliteConnection) {
  const newest = connection.prepare<{ id: number | null }>('SELECT max(id) AS id FROM chunk')
  const insert = connection.prepare('INSERT INTO chunk VALUES (?, ?)')
  const insertBound = connection.prepare('INSERT INTO chunk_bound VALUES (?, ?, ?, ?, ?)')
  const doomed = connection.prepare<{ section: number; lower: Uint8Array; chunk: number }>(
    'SELECT section, lower, chunk FROM chunk_bound WHERE run = ? LIMIT ? + 0'
  )
  const after = connection.prepare<{ run: number | null }>(
    'SELECT min(run) AS run FROM chunk_bound WHERE run > ?'
  )
  const remove = connection.prepare('DELETE FROM chunk WHERE id = ?')
  const removeBound = connection.prepare(
    'DELETE FROM chunk_bound WHERE run = ? AND section = ? AND lower = ?'
  )
  return {
    put(chunks: readonly Chunk[]): void {
      let id = newest.get([])?.id ?? 0
      for (const { run, section, lower, number, bytes } of chunks) {
        insert.run([++id, bytes])
        insertBound.run([run, section, lower, number, id])
      }
    },
    runAfter: (number: number): number | undefined => after.get([number])?.run ?? undefined,
    drop(run: number, most: number): number {
      const rows = doomed.all([run, most])
      for (const { section, lower, chunk } of rows) {
        remove.run([chunk])
        removeBound.run([run, section, lower])
      }
      return rows.length
    }
  }
}
