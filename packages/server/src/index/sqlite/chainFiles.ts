import { join } from 'node:path'

/** The files of one chain inside the store's folder. */
export interface ChainFiles {
  /** The index. Appears under this name only once it is complete. */
  readonly database: string
  /** The index while it is being created. */
  readonly unfinished: string
  /** Held by the writer for its whole life. */
  readonly lock: string
}

/** Names every file that one chain has in `folder`. SQLite adds `-wal` and `-shm` beside the database. */
export function chainFiles(folder: string, chainId: number): ChainFiles {
  const base = join(folder, `evm-${chainId}`)
  return { database: `${base}.sqlite`, unfinished: `${base}.sqlite.new`, lock: `${base}.lock` }
}
