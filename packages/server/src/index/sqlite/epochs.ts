import type { SqliteConnection } from './driver.ts'

/** A stretch of the chain whose keys lie together in every large B-tree. */
export interface Epoch {
  readonly id: number
  readonly firstBlock: number
  readonly txCount: number
}

/**
 * Prepares what the writer asks and says of epochs. Ids of epochs that blocks are appended to descend below zero, those of merged
 * ones ascend from one: the rows that a merge appends then are the last ones of every table, which is the cheapest place for
 * them, and small numbers are short in every key.
 */
export function createEpochTable(connection: SqliteConnection) {
  const columns = 'id, first_block AS firstBlock, tx_count AS txCount'
  const everyId = `SELECT id FROM epoch UNION ALL SELECT id FROM holding_epoch
    UNION ALL SELECT id FROM dropped_epoch UNION ALL SELECT 0`
  const selectNewest = connection.prepare<Epoch>(
    `SELECT ${columns} FROM epoch ORDER BY first_block DESC LIMIT 1`
  )
  const selectAll = connection.prepare<Epoch>(`SELECT ${columns} FROM epoch ORDER BY first_block`)
  const countAll = connection.prepare<{ n: number }>('SELECT count(*) AS n FROM epoch')
  // A rollback leaves the candidates of an epoch: it is begun anew under its id, so that such leftovers do not add up.
  const selectLeft = connection.prepare<{ id: number | null }>(
    'SELECT max(id) AS id FROM holding_epoch WHERE id < 0 AND id NOT IN (SELECT id FROM epoch)'
  )
  const selectLowest = connection.prepare<{ id: number }>(`SELECT min(id) AS id FROM (${everyId})`)
  const selectHighest = connection.prepare<{ id: number }>(`SELECT max(id) AS id FROM (${everyId})`)
  const replace = connection.prepare('INSERT OR REPLACE INTO epoch VALUES (?, ?, ?)')

  return {
    newest: (): Epoch | undefined => selectNewest.get([]),
    /** Oldest first. */
    all: (): readonly Epoch[] => selectAll.all([]),
    count: (): number => countAll.get([])?.n ?? 0,
    /** Id for the next epoch that blocks are appended to. */
    nextId: (): number => selectLeft.get([])?.id ?? (selectLowest.get([])?.id ?? 0) - 1,
    /** Id for the next epoch that others are merged into. */
    nextMergedId: (): number => (selectHighest.get([])?.id ?? 0) + 1,
    put: ({ id, firstBlock, txCount }: Epoch): void => {
      replace.run([id, firstBlock, txCount])
    }
  }
}

export type EpochTable = ReturnType<typeof createEpochTable>
