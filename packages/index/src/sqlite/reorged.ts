import type { BlockRef, Hash } from '../model/evm.ts'
import { hashBytes } from '../record/hexBytes.ts'
import { checkRow, sumOfRow } from '../shared/rowSums.ts'
import { toRef } from '../shared/rows.ts'
import type { SqliteConnection } from './driver.ts'
import { createKeyParts, reorgedHashes } from './keyParts.ts'
import { prepareSealed } from './sealedRows.ts'

interface ReorgedRow {
  readonly hash: Uint8Array
  readonly ancestor_number: number
  readonly ancestor_hash: Uint8Array
  readonly sum: number | null
}

/** Prepares finding the block below which a reorg removed a transaction. */
export function prepareFindReorged(
  connection: SqliteConnection
): (hash: Hash, chainId: number) => BlockRef | undefined {
  const select = connection.prepare<ReorgedRow>('SELECT * FROM reorged WHERE hash = ?')
  const parts = createKeyParts(connection, reorgedHashes)
  return (hash, chainId) => {
    parts.prove(hashBytes(hash))
    const row = select.get([hashBytes(hash)])
    if (row === undefined) return undefined
    const { ancestor_number: number, ancestor_hash } = checkRow(chainId, 'reorged', row, { part: 'undo' })
    return toRef({ number, hash: ancestor_hash })
  }
}

/** Prepares remembering the transactions that reorgs remove. Every call runs inside the caller's transaction. */
export function prepareReorged(connection: SqliteConnection, chainId: number) {
  const parts = createKeyParts(connection, reorgedHashes)
  const select = connection.prepare('SELECT 1 FROM reorged WHERE hash = ?')
  const remove = connection.prepare('DELETE FROM reorged WHERE hash = ?')
  const every = connection.prepare<ReorgedRow>('SELECT * FROM reorged')
  const above = connection.prepare<ReorgedRow>('SELECT * FROM reorged WHERE ancestor_number > ?')
  const put = prepareSealed(
    connection,
    chainId,
    'reorged',
    ['hash', 'ancestor_number', 'ancestor_hash'],
    'INSERT OR REPLACE'
  )
  return {
    /** Gives earlier reorgs the new ancestor: it is always a block of the index. */
    moveDown(ancestor: BlockRef): void {
      const hash = hashBytes(ancestor.hash)
      for (const row of above.all([ancestor.number])) put([row.hash, ancestor.number, hash])
    },
    remember(hashes: readonly Uint8Array[], ancestor: BlockRef): void {
      const hash = hashBytes(ancestor.hash)
      for (const each of hashes) {
        if (select.get([each]) === undefined) parts.change(each, 0, 1)
        put([each, ancestor.number, hash])
      }
    },
    /** What a later block has again is confirmed again. */
    forget(hash: Uint8Array): void {
      if (remove.run([hash]) > 0) parts.change(hash, 0, -1)
    },
    /** Keeps what is as it was written: a cursor of one that is forgotten is taken for no transaction. */
    forgetDamaged(): void {
      const sound = every.all([]).filter(row => row.sum === sumOfRow(chainId, 'reorged', row))
      // Rows whose keys were altered may not be found by them.
      this.forgetAll()
      for (const { hash, ancestor_number: number, ancestor_hash } of sound) {
        this.remember([hash], toRef({ number, hash: ancestor_hash }))
      }
    },
    forgetAll(): void {
      connection.exec('DELETE FROM reorged')
      parts.clear()
    }
  }
}
