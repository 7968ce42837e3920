import { readFileSync, renameSync, rmSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import type { Damage } from '../platform/errors.ts'
import type { SqliteConnection } from './driver.ts'

/*
 * Readers report damage to the writer through a file next to the index: they must not write into the index, and they may be
 * in other processes than the writer.
 */

/** Appends one line, which other processes cannot tear. */
export async function appendDamage(path: string, damage: Damage): Promise<void> {
  await appendFile(path, `${JSON.stringify(damage)}\n`)
}

/** Takes what was reported since the last call. The rename keeps lines that come meanwhile. */
export function takeDamageFile(path: string): readonly Damage[] {
  const taken = `${path}.taken`
  try {
    renameSync(path, taken)
  } catch {
    return []
  }
  const lines = readFileSync(taken, 'utf8').split('\n')
  rmSync(taken)
  return lines.flatMap(line => {
    try {
      return [JSON.parse(line) as Damage]
    } catch {
      // A line that a crash cut: the damage will be met again.
      return []
    }
  })
}

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
  let connection: SqliteConnection | undefined
  let count: (() => number | undefined) | undefined

  return {
    version() {
      if (connection === undefined || count === undefined) {
        connection = connect()
        const select = connection.prepare<{ data_version: number }>('PRAGMA data_version')
        count = () => select.get([])?.data_version
      }
      const now = count()
      if (now !== counted) version++
      counted = now
      return version
    },
    close() {
      connection?.close()
      connection = undefined
      counted = undefined
    }
  }
}
