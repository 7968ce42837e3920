import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { StoreError } from '../../platform/errors.ts'
import { chainFiles } from '../sqlite/chainFiles.ts'
import type { SqliteDriver, SqlValue } from '../sqlite/driver.ts'
import { loadSqliteDriver } from '../sqlite/loadSqliteDriver.ts'

/** Everything in an index that its chain determines, as text. Two indexes of the same blocks give the same dump. */
export interface StoreDump {
  /** One line a row, ordered; bytes in hex. */
  readonly text: string
  /** SHA-256 of `text`, for failure messages that stay readable. */
  readonly sha256: string
  /** Rows by section. */
  readonly counts: Readonly<Record<DumpSection, number>>
}

/**
 * In the order of the dump. `holding` holds each candidate once, whatever epochs say; it may exceed what the blocks
 * say after a reorg, since candidates are never deleted.
 */
const sections = {
  meta: 'SELECT indexed_from FROM meta',
  block: 'SELECT * FROM block ORDER BY number',
  epoch: 'SELECT * FROM epoch ORDER BY id',
  tx: 'SELECT * FROM tx ORDER BY id',
  address_tx: 'SELECT * FROM address_tx ORDER BY epoch, address, tx_id',
  tx_hash: 'SELECT * FROM tx_hash ORDER BY epoch, key, tx_id',
  holding: `SELECT DISTINCT owner, contract, token_id, standard FROM holding
            ORDER BY owner, contract, token_id, standard`
}
export type DumpSection = keyof typeof sections

/**
 * Dumps the SQLite index of one chain, also next to an open writer. Left out on purpose: what depends on when things
 * happened (pool, first-seen times, remembered reorgs, undo data, backfilled and degraded marks).
 * @param options.omit - sections to leave out.
 * @throws {StoreError} there is no such file, or no driver.
 */
export function dumpStore(
  folder: string,
  chainId: number,
  options: { readonly omit?: readonly DumpSection[]; readonly driver?: SqliteDriver } = {}
): StoreDump {
  const { omit = [], driver = loadSqliteDriver() } = options
  const path = chainFiles(folder, chainId).database
  if (!existsSync(path)) throw new StoreError(`there is no index of chain ${chainId} to dump`, { chainId })
  const connection = driver.open(path, { busyTimeoutMs: 5000 })
  try {
    const lines: string[] = []
    const counts: Record<DumpSection, number> = {
      meta: 0,
      block: 0,
      epoch: 0,
      tx: 0,
      address_tx: 0,
      tx_hash: 0,
      holding: 0
    }
    connection.exec('BEGIN')
    for (const [name, sql] of Object.entries(sections) as [DumpSection, string][]) {
      if (omit.includes(name)) continue
      const rows = connection.prepare(sql).all([])
      counts[name] = rows.length
      for (const row of rows) lines.push(`${name} ${Object.values(row).map(toText).join(' ')}`)
    }
    connection.exec('ROLLBACK')
    const text = lines.join('\n')
    return { text, sha256: createHash('sha256').update(text).digest('hex'), counts }
  } finally {
    connection.close()
  }
}

function toText(value: SqlValue): string {
  return value instanceof Uint8Array ? `x${Buffer.from(value).toString('hex')}` : String(value)
}
