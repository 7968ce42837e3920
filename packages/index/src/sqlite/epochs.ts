import type { SqliteConnection } from './driver.ts'
import { type EpochProof, proofs } from './epochSums.ts'

/** A stretch of the chain whose keys lie together in every large B-tree. */
export interface Epoch {
  readonly id: number
  readonly firstBlock: number
  readonly txCount: number
  readonly proof: EpochProof
}

/**
 * Prepares what the writer asks and says of epochs. Ids of epochs that blocks are appended to descend below zero, those of merged
 * ones ascend from one: the rows that a merge appends then are the last ones of every table, which is the cheapest place for
 * them, and small numbers are short in every key.
 */
export function createEpochTable(connection: SqliteConnection) {
  const columns = 'id, first_block AS firstBlock, tx_count AS txCount, proof'
  const everyId = `SELECT id FROM epoch UNION ALL SELECT id FROM holding_epoch
    UNION ALL SELECT id FROM dropped_epoch UNION ALL SELECT 0`
  const selectNewest = connection.prepare<Epoch>(
    `SELECT ${columns} FROM epoch ORDER BY first_block DESC LIMIT 1`
  )
  const selectGrowingDown = connection.prepare<Epoch>(
    `SELECT ${columns} FROM (SELECT * FROM epoch ORDER BY first_block LIMIT 1)
     WHERE id NOT IN (SELECT epoch FROM merge_source)`
  )
  const selectAll = connection.prepare<Epoch>(`SELECT ${columns} FROM epoch ORDER BY first_block`)
  const selectHolding = connection.prepare<Epoch>(
    `SELECT ${columns} FROM epoch WHERE first_block <= ? ORDER BY first_block DESC LIMIT 1`
  )
  const countAll = connection.prepare<{ n: number }>('SELECT count(*) AS n FROM epoch')
  // A rollback leaves the candidates of an epoch: it is begun anew under its id, so that such leftovers do not add up.
  const selectLeft = connection.prepare<{ id: number | null }>(
    `SELECT max(id) AS id FROM holding_epoch
     WHERE id < 0 AND proof = ${proofs.parts} AND id NOT IN (SELECT id FROM epoch)`
  )
  const selectLowest = connection.prepare<{ id: number }>(`SELECT min(id) AS id FROM (${everyId})`)
  const selectHighest = connection.prepare<{ id: number }>(`SELECT max(id) AS id FROM (${everyId})`)
  const replace = connection.prepare('INSERT OR REPLACE INTO epoch VALUES (?, ?, ?, ?)')

  return {
    newest: (): Epoch | undefined => selectNewest.get([]),
    /** The oldest one, to which older blocks are added; absent while it is being merged. */
    growingDown: (): Epoch | undefined => selectGrowingDown.get([]),
    /** The epoch that a block lies in. */
    holding: (block: number): Epoch | undefined => selectHolding.get([block]),
    /** Oldest first. */
    all: (): readonly Epoch[] => selectAll.all([]),
    count: (): number => countAll.get([])?.n ?? 0,
    /** Id for the next epoch that blocks are appended to. */
    nextId: (): number => selectLeft.get([])?.id ?? (selectLowest.get([])?.id ?? 0) - 1,
    /** Id for the next epoch that others are merged into. */
    nextMergedId: (): number => (selectHighest.get([])?.id ?? 0) + 1,
    put: ({ id, firstBlock, txCount, proof }: Epoch): void => {
      replace.run([id, firstBlock, txCount, proof])
    }
  }
}

/** How epochs grow. */
export interface MergeLayout {
  /** A block that finds so many transactions in its epoch begins the next one. */
  readonly epochTransactions: number
  /** So many neighbours of one size are merged into one of the next size. */
  readonly mergeFanOut: number
}

/**
 * The neighbours to merge next, oldest first; nothing when there are none. Sizes are levels, each `mergeFanOut` times the one
 * before: `mergeFanOut` neighbours of one level are merged, the lowest level first, and smaller ones that lie before or between
 * them go along. So each row is copied about once for each level.
 * @param epochs - all of them, oldest first.
 * @param safeBlock - only epochs whose blocks all lie at or below this one are merged.
 */
export function chooseEpochs(
  epochs: readonly Epoch[],
  safeBlock: number,
  layout: MergeLayout
): readonly Epoch[] | undefined {
  const complete = completeEpochs(epochs, safeBlock, layout)
  const levels = complete.map(({ txCount }) => levelOf(txCount, layout))
  const highest = Math.max(-1, ...levels)
  for (let level = 0; level <= highest; level++) {
    let start = 0
    let found = 0
    for (const [i, each] of levels.entries()) {
      if (each === level) found++
      if (each > level) {
        start = i + 1
        found = 0
      }
      if (found === layout.mergeFanOut) return complete.slice(start, i + 1)
    }
  }
  return undefined
}

/**
 * The newest complete epoch whose rows have no sums of their own, as a merge of one: parts need not be counted any more then, and
 * candidates that were accepted as they were found are proven again.
 * @param unproven - ids of epochs whose candidates are not proven.
 */
export function chooseUnlinked(
  epochs: readonly Epoch[],
  unproven: readonly number[],
  safeBlock: number,
  layout: MergeLayout
): readonly Epoch[] | undefined {
  const newest = completeEpochs(epochs, safeBlock, layout).findLast(
    ({ id, proof }) => proof !== proofs.rows || unproven.includes(id)
  )
  return newest && [newest]
}

/**
 * The newest epoch still grows, and where the others end is where the next one begins. The oldest one may grow too, by older
 * blocks, until it is full or has block 0.
 */
function completeEpochs(
  epochs: readonly Epoch[],
  safeBlock: number,
  { epochTransactions }: MergeLayout
): readonly Epoch[] {
  const growsDown = ({ firstBlock, txCount, proof }: Epoch) =>
    firstBlock > 0 && txCount < epochTransactions && proof === proofs.parts
  return epochs.filter((epoch, i) => {
    const next = epochs[i + 1]
    return next !== undefined && next.firstBlock - 1 <= safeBlock && !(i === 0 && growsDown(epoch))
  })
}

function levelOf(txCount: number, { epochTransactions, mergeFanOut }: MergeLayout): number {
  let level = 0
  for (let size = epochTransactions * mergeFanOut; size <= txCount; size *= mergeFanOut) level++
  return level
}
