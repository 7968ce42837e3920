import type { Chunk } from '../src/runs/chunk.ts'
import type { SqliteConnection, SqliteDriver } from '../src/sqlite/driver.ts'
import { chainFiles } from '../src/sqlite/open.ts'
import type { DamageableStore } from './store.contract.ts'

/** Reads and changes the file of one chain's index past its writer. */
export function openSqliteByHand(folder: string, chainId: number, driver: SqliteDriver) {
  const withFile = <T>(work: (connection: SqliteConnection) => T): T => {
    const connection = driver.open(chainFiles(folder, chainId).database, { busyTimeoutMs: 5000 })
    try {
      return work(connection)
    } finally {
      connection.close()
    }
  }
  const lose = (connection: SqliteConnection, { run, section, number }: Omit<Chunk, 'lower' | 'bytes'>) => {
    const at = [run, section, number]
    const bound = 'chunk_bound WHERE run = ? AND section = ? AND number = ?'
    connection.prepare(`DELETE FROM chunk WHERE id IN (SELECT chunk FROM ${bound})`).run(at)
    connection.prepare(`DELETE FROM ${bound}`).run(at)
  }
  const byHand: Pick<DamageableStore, 'run' | 'chunks' | 'loseChunk' | 'putChunk'> = {
    run: async (text, values = []) => withFile(connection => connection.prepare(text).all(values)),
    chunks: async () =>
      withFile(connection =>
        connection
          .prepare<Chunk>(
            `SELECT run, section, number, lower, bytes FROM chunk_bound JOIN chunk ON chunk.id = chunk_bound.chunk
             ORDER BY run, section, number`
          )
          .all([])
      ),
    loseChunk: async position => withFile(connection => lose(connection, position)),
    putChunk: async ({ run, section, number, lower, bytes }) =>
      withFile(connection => {
        lose(connection, { run, section, number })
        connection.prepare('INSERT INTO chunk VALUES (NULL, ?)').run([bytes])
        connection
          .prepare('INSERT INTO chunk_bound SELECT ?, ?, ?, ?, max(id) FROM chunk')
          .run([run, section, lower, number])
      })
  }
  return { withFile, ...byHand }
}
