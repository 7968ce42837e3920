import type { DeepStretch } from '../../../model/deepHistory.ts'
import type { Address, BlockRef } from '../../../model/evm.ts'
import { emptyWeight, encodeHeld, sweptAtOnce, weighStretch } from '../../deepHistory/deepRows.ts'
import { addressBytes, hashBytes } from '../../record/hexBytes.ts'
import type { SqliteConnection } from '../driver.ts'

/** An account of which something is kept below the block that was asked about. */
export interface AccountRow {
  readonly id: number
  readonly records_from: number
  readonly candidates_from: number
  readonly used_at: number
}

/** The statements over the cache's tables. Synchronous; those that change something belong into a transaction. */
export function createAccountTable(connection: SqliteConnection) {
  const select = connection.prepare<AccountRow>(
    `SELECT id, records_from, candidates_from, used_at FROM account
     WHERE address = ? AND anchor_number = ? AND anchor_hash = ?`
  )
  const remove = connection.prepare('DELETE FROM account WHERE address = ?')
  const insert = connection.prepare(
    `INSERT INTO account (address, anchor_number, anchor_hash, records_from, candidates_from, used_at, weight)
     VALUES (?, ?, ?, ?, ?, ?, ?)`
  )
  const deepen = connection.prepare(
    `UPDATE account SET records_from = ?, candidates_from = ?, used_at = ?, weight = weight + ? WHERE id = ?`
  )
  const markUsed = connection.prepare('UPDATE account SET used_at = ? WHERE id = ?')
  const addRecord = connection.prepare(
    'INSERT OR IGNORE INTO record (account, tx, hash, rec) VALUES (?, ?, ?, ?)'
  )
  const addCandidate = connection.prepare('INSERT OR IGNORE INTO candidate (account, held) VALUES (?, ?)')
  const readUsage = connection.prepare<{ weight: number }>('SELECT weight FROM usage')
  const oldest = connection.prepare<{ id: number; weight: number }>(
    'SELECT id, weight FROM account WHERE id <> ? ORDER BY used_at, id LIMIT 64'
  )
  const removeId = connection.prepare('DELETE FROM account WHERE id = ?')
  const oneDropped = connection.prepare<{ account: number }>('SELECT account FROM dropped LIMIT 1')
  const sweeps = ['record', 'candidate'].map(table => {
    const key = table === 'record' ? 'tx' : 'held'
    return connection.prepare(
      `DELETE FROM ${table} WHERE account = ?1 AND ${key} IN (SELECT ${key} FROM ${table} WHERE account = ?1 LIMIT ?2)`
    )
  })
  const forgetDropped = connection.prepare('DELETE FROM dropped WHERE account = ?')

  const keyOf = (address: Address, anchor: BlockRef) => [
    addressBytes(address),
    anchor.number,
    hashBytes(anchor.hash)
  ]
  const find = (address: Address, anchor: BlockRef) => select.get(keyOf(address, anchor))

  function findOrMake(address: Address, anchor: BlockRef, nowMs: number): AccountRow {
    const found = find(address, anchor)
    if (found !== undefined) return found
    // Whatever was kept of it lies below another block.
    remove.run([addressBytes(address)])
    insert.run([...keyOf(address, anchor), anchor.number, anchor.number, nowMs, emptyWeight])
    const made = find(address, anchor)
    if (made === undefined) throw new Error('an account that was inserted is not there')
    return made
  }

  return {
    find,
    markUsed: ({ id }: AccountRow, nowMs: number) => void markUsed.run([nowMs, id]),
    /** @returns the account's id. */
    save(address: Address, anchor: BlockRef, stretch: DeepStretch, nowMs: number): number {
      const { id, records_from, candidates_from } = findOrMake(address, anchor, nowMs)
      const { from, below } = stretch
      const joins = (known: number) => below >= known && from < known
      const records = joins(records_from) ? stretch.records : undefined
      const candidates = joins(candidates_from) ? stretch.candidates : undefined
      for (const { id: tx, hash, bytes } of records ?? []) addRecord.run([id, tx, hash, bytes])
      for (const candidate of candidates ?? []) addCandidate.run([id, encodeHeld(candidate)])
      deepen.run([
        records === undefined ? records_from : from,
        candidates === undefined ? candidates_from : from,
        nowMs,
        weighStretch({ from, below, ...(records && { records }), ...(candidates && { candidates }) }),
        id
      ])
      return id
    },
    /** Lets accounts leave, those not used for longest first, until the rest fits; never the one that was just written. */
    evict(bound: number, keptId: number): void {
      let excess = (readUsage.get([])?.weight ?? 0) - bound
      if (excess <= 0) return
      for (const { id, weight } of oldest.all([keptId])) {
        removeId.run([id])
        excess -= weight
        if (excess <= 0) return
      }
    },
    /** Removes some rows of accounts that have left. */
    sweep(): void {
      const dropped = oneDropped.get([])
      if (dropped === undefined) return
      const removed = sweeps.map(statement => statement.run([dropped.account, sweptAtOnce]))
      if (removed.every(count => count === 0)) forgetDropped.run([dropped.account])
    }
  }
}
