import { newestDroppableUndo, type UndoLayout } from '../shared/blocks.ts'
import { inTransaction, type SqliteConnection } from './driver.ts'
import { createEpochList } from './epochList.ts'
import { type Proof, proofs } from './epochSums.ts'
import { chooseEpochs, chooseUnlinked, createEpochTable, type MergeLayout } from './epochs.ts'
import { createKeyedTables } from './keyedTables.ts'
import { createCursor } from './meta.ts'

/** How far a merge goes in one piece of work, and how far it may wait. */
export interface MergerLayout extends MergeLayout, UndoLayout {
  /** One piece of work copies or removes about so many rows of each table. */
  readonly mergeRows: number
}

interface Merge {
  readonly target: number
  readonly tablesDone: number
}

/**
 * Merges neighbouring epochs into larger ones, so that a dormant address is not looked up in hundreds of them. Copies in the
 * order of the keys. Readers find epochs through the table `epoch`, where the merged one replaces its sources in one
 * transaction. Its progress is in the file: after a crash it continues where it was. Its sources are older than the blocks
 * that a reorg usually removes; a deeper rollback ends the merge (`forgetMerge`).
 */
export class EpochMerger {
  readonly #connection: SqliteConnection
  readonly #layout: MergerLayout
  readonly #list: ReturnType<typeof createEpochList>
  readonly #epochs: ReturnType<typeof createEpochTable>
  readonly #cursor: ReturnType<typeof createCursor>
  readonly #tables: ReturnType<typeof createKeyedTables>
  readonly #statements: ReturnType<typeof prepare>

  constructor(connection: SqliteConnection, chainId: number, layout: MergerLayout) {
    this.#connection = connection
    this.#layout = layout
    this.#list = createEpochList(connection)
    this.#epochs = createEpochTable(connection)
    this.#cursor = createCursor(connection)
    this.#tables = createKeyedTables(connection, chainId)
    this.#statements = prepare(connection)
  }

  /**
   * Does one piece of work in a transaction of its own.
   * @returns false when there was nothing to do.
   */
  step(): boolean {
    const dropped = this.#statements.dropped.get([])?.id
    if (dropped !== undefined) return this.#do(() => this.#drop(dropped))
    const merge = this.#statements.merge.get([])
    if (merge !== undefined) return this.#do(() => this.#copy(merge))
    const sources = this.#chosen()
    if (sources === undefined) return false
    return this.#do(() => {
      this.#statements.begin.run([this.#epochs.nextMergedId()])
      for (const { id } of sources) this.#statements.addSource.run([id])
    })
  }

  countEpochs(): number {
    return this.#epochs.count()
  }

  #do(work: () => void): true {
    inTransaction(this.#connection, () => {
      this.#list.read()
      work()
      this.#list.stamp()
    })
    return true
  }

  #chosen() {
    const head = this.#cursor.head()
    if (head === undefined) return undefined
    const { finalized, backfilled } = this.#cursor.meta().marks
    const safeBlock = newestDroppableUndo(head.number, finalized, this.#layout)
    const epochs = this.#epochs.all()
    const chosen = chooseEpochs(epochs, safeBlock, this.#layout)
    // A pause within a backfill is no time to copy rows that are copied again once there are enough epochs to merge.
    if (chosen !== undefined || !backfilled) return chosen
    const unproven = this.#list
      .read()
      .holdings.flatMap(({ id, proof }) => (proof === proofs.none ? [id] : []))
    return chooseUnlinked(epochs, unproven, safeBlock, this.#layout)
  }

  /** Removes rows before the next merge begins, which reuses their pages. */
  #drop(epoch: number): void {
    for (const table of this.#tables) {
      if (table.remove(epoch, this.#layout.mergeRows)) return
    }
    this.#statements.forgetSums.run([epoch])
    this.#statements.forgetDropped.run([epoch])
  }

  #copy({ target, tablesDone }: Merge): void {
    const table = this.#tables[tablesDone]
    if (table === undefined) {
      this.#complete(target)
      return
    }
    const sources = this.#statements.sources.all([]).map(({ epoch, proof, holdingProof }) => ({
      epoch,
      proof: table === this.#tables.at(-1) ? holdingProof : proof
    }))
    if (!table.copy(target, sources, this.#layout.mergeRows)) this.#statements.advance.run([])
  }

  #complete(target: number): void {
    const { sum, replaceSources, showHoldings } = this.#statements
    const { firstBlock, txCount } = sum.get([]) ?? { firstBlock: 0, txCount: 0 }
    for (const statement of replaceSources) statement.run([])
    this.#epochs.put({ id: target, firstBlock, txCount, proof: proofs.rows })
    showHoldings.run([target])
  }
}

/**
 * Ends a merge whose source was removed by a rollback, or has become the newest epoch again and grows. Call it after the
 * rollback, in its transaction.
 */
export function forgetMerge(connection: SqliteConnection): void {
  const overtaken = connection.prepare(
    `SELECT 1 FROM merge_source WHERE epoch NOT IN (SELECT id FROM epoch)
       OR epoch = (SELECT id FROM epoch ORDER BY first_block DESC LIMIT 1) LIMIT 1`
  )
  if (overtaken.get([]) !== undefined) endMerge(connection)
}

/** Ends a merge of which this epoch is a source, because its rows change. Call it in the transaction that changes them. */
export function forgetMergeOf(connection: SqliteConnection, epoch: number): void {
  const isSource = connection.prepare('SELECT 1 FROM merge_source WHERE epoch = ?').get([epoch]) !== undefined
  if (isSource) endMerge(connection)
}

function endMerge(connection: SqliteConnection): void {
  connection.exec('INSERT INTO dropped_epoch SELECT target FROM merge')
  connection.exec('DELETE FROM merge_source; DELETE FROM merge')
}

function prepare(connection: SqliteConnection) {
  return {
    dropped: connection.prepare<{ id: number }>('SELECT id FROM dropped_epoch LIMIT 1'),
    forgetSums: connection.prepare('DELETE FROM epoch_sum WHERE id >= 256 * ?1 AND id < 256 * (?1 + 1)'),
    forgetDropped: connection.prepare('DELETE FROM dropped_epoch WHERE id = ?'),
    merge: connection.prepare<Merge>('SELECT target, tables_done AS tablesDone FROM merge'),
    sources: connection.prepare<{ epoch: number; proof: Proof; holdingProof: Proof }>(
      `SELECT merge_source.epoch AS epoch, epoch.proof AS proof, coalesce(holding_epoch.proof, epoch.proof) AS holdingProof
       FROM merge_source JOIN epoch ON epoch.id = merge_source.epoch
       LEFT JOIN holding_epoch ON holding_epoch.id = merge_source.epoch`
    ),
    begin: connection.prepare('INSERT INTO merge VALUES (1, ?, 0)'),
    addSource: connection.prepare('INSERT INTO merge_source VALUES (?)'),
    advance: connection.prepare('UPDATE merge SET tables_done = tables_done + 1'),
    sum: connection.prepare<{ firstBlock: number; txCount: number }>(
      `SELECT min(first_block) AS firstBlock, sum(tx_count) AS txCount FROM epoch
       WHERE id IN (SELECT epoch FROM merge_source)`
    ),
    replaceSources: [
      'DELETE FROM epoch WHERE id IN (SELECT epoch FROM merge_source)',
      'DELETE FROM holding_epoch WHERE id IN (SELECT epoch FROM merge_source)',
      'INSERT INTO dropped_epoch SELECT epoch FROM merge_source',
      'DELETE FROM merge_source',
      'DELETE FROM merge'
    ].map(sql => connection.prepare(sql)),
    showHoldings: connection.prepare(
      `INSERT INTO holding_epoch SELECT ?1, ${proofs.rows} WHERE EXISTS (SELECT 1 FROM holding WHERE epoch = ?1)`
    )
  }
}
