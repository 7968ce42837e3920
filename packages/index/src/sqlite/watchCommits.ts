import type { SqliteConnection } from './driver.ts'

/** Reports whether anything was committed to a file, by whichever process. */
export interface CommitWatch {
  /** Returns another number once something was committed since the last call. */
  version(): number
  /** Closes its connection. The next version is another one: the file may be, too. */
  close(): void
}

/**
 * Watches a file through a connection that reads nothing else: SQLite counts for each connection how often others have
 * committed since it last looked.
 */
export function watchCommits(connect: () => SqliteConnection): CommitWatch {
  let version = 0
  let counted: number | undefined
  let open: { readonly connection: SqliteConnection; readonly count: () => number | undefined } | undefined

  const openCount = () => {
    const connection = connect()
    const select = connection.prepare<{ data_version: number }>('PRAGMA data_version')
    return { connection, count: () => select.get([])?.data_version }
  }

  return {
    version() {
      open ??= openCount()
      const now = open.count()
      if (now !== counted) version++
      counted = now
      return version
    },
    close() {
      open?.connection.close()
      open = undefined
      counted = undefined
    }
  }
}
