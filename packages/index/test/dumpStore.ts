import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { StoreError } from '../src/platform/errors.ts'
import type { SqliteDriver, SqlValue } from '../src/sqlite/driver.ts'
import { loadSqliteDriver } from '../src/sqlite/loadDriver.ts'
import { chainFiles } from '../src/sqlite/open.ts'

/** Everything in an index that its chain determines, as text. Two indexes of the same blocks give the same dump. */
export interface StoreDump {
  /** One line a row, ordered; bytes in hex. */
  readonly text: string
  /** SHA-256 of `text`, for failure messages that stay readable. */
  readonly sha256: string
  /** Rows by section. */
  readonly counts: Readonly<Record<DumpSection, number>>
}

/** In the order of the dump. All runs follow from these. */
export const dumpSections = ['meta', 'block', 'tx', 'extra'] as const
export type DumpSection = (typeof dumpSections)[number]

const selects: Readonly<Record<DumpSection, string>> = {
  meta: 'SELECT indexed_from FROM meta',
  block: 'SELECT number, hash, parent_hash, timestamp_seconds, tx_count FROM block ORDER BY number',
  tx: 'SELECT id, rec FROM tx ORDER BY id',
  extra: 'SELECT number, rec FROM block_extra ORDER BY number'
}

/**
 * Dumps the SQLite index of one chain, also next to an open writer. Left out on purpose: what depends on when things
 * happened (pool, first-seen times, remembered reorgs, marks, coverage, and how blocks are laid out in runs).
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
    const lines: DumpLines = {}
    connection.exec('BEGIN')
    for (const name of dumpSections) {
      if (omit.includes(name)) continue
      const rows = connection.prepare<Record<string, SqlValue>>(selects[name]).all([])
      lines[name] = rows.map(row => Object.values(row).map(toText).join(' '))
    }
    connection.exec('ROLLBACK')
    return toDump(lines)
  } finally {
    connection.close()
  }
}

/** The rows of each section, in order. */
export type DumpLines = { [section in DumpSection]?: readonly string[] }

/** Makes one text of what was read, whichever engine it was read from. */
export function toDump(lines: DumpLines): StoreDump {
  const counts = Object.fromEntries(dumpSections.map(name => [name, lines[name]?.length ?? 0]))
  const text = dumpSections.flatMap(name => (lines[name] ?? []).map(line => `${name} ${line}`)).join('\n')
  return {
    text,
    sha256: createHash('sha256').update(text).digest('hex'),
    counts: counts as Record<DumpSection, number>
  }
}

function toText(value: SqlValue): string {
  return value instanceof Uint8Array ? `x${Buffer.from(value).toString('hex')}` : String(value)
}
