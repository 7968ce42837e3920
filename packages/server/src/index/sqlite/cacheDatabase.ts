import { setImmediate as nextTurn } from 'node:timers/promises'
import { createYielder } from '../../platform/concurrency/pause.ts'
import { StoreUnavailableError } from '../../platform/errors.ts'
import type { CacheDatabase, Statement, Steps } from '../caches/cacheDatabase.ts'
import type { Migration } from '../shared/checkMigrations.ts'
import type { SqliteDriver, SqliteStatement } from './driver.ts'
import { inTransaction, isBusy } from './driver.ts'
import { migrate } from './migrate.ts'

export interface CacheFile {
  readonly driver: SqliteDriver
  readonly path: string
  readonly migrations: readonly Migration[]
  /** How long a call waits for another server's transaction, which blocks the thread. */
  readonly busyMs: number
}

/** Another server may be making the same file right now. */
const openBusyMs = 1_000
/** Texts of statements differ in their number of rows. */
const maxPrepared = 100

/**
 * Opens the file of a cache, and makes it when missing.
 * @throws {StoreError} it is damaged, locked, or made by a newer program.
 * @remarks Its calls block the calling thread, each for one run or transaction.
 */
export function openCacheDatabase({ driver, path, migrations, busyMs }: CacheFile): CacheDatabase {
  const connection = driver.open(path, { busyTimeoutMs: openBusyMs })
  try {
    // NORMAL: a lost machine may cost the newest rows, which are read again from where they came.
    connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192')
    migrate(connection, migrations)
    connection.exec(`PRAGMA journal_size_limit = 16777216; PRAGMA busy_timeout = ${busyMs}`)
  } catch (error) {
    connection.close()
    throw error
  }
  const prepared = new Map<string, SqliteStatement<object>>()
  const checkYield = createYielder()
  let isOpen = true

  function execute({ text, values }: Statement): readonly object[] {
    const statement = prepared.get(text) ?? connection.prepare<object>(text.replaceAll('$', '?'))
    if (prepared.size >= maxPrepared) prepared.clear()
    prepared.set(text, statement)
    if (/^\s*SELECT|\bRETURNING\b/.test(text)) return statement.all(values)
    statement.run(values)
    return []
  }

  function execAll<T>(steps: Steps<T>): T {
    let next = steps.next([])
    while (next.done !== true) next = steps.next(execute(next.value))
    return next.value
  }

  function passing<T>(work: () => T): T {
    if (!isOpen) throw new StoreUnavailableError('the cache is closed')
    try {
      return work()
    } catch (error) {
      if (!isBusy(error)) throw error
      throw new StoreUnavailableError('the cache is being written by another process', {}, { cause: error })
    }
  }

  return {
    prefix: '',
    maxRows: 16,
    skipLocked: '',
    async run(steps) {
      await checkYield()
      return passing(() => execAll(steps))
    },
    async transaction(_lock, steps) {
      await nextTurn()
      return passing(() => inTransaction(connection, () => execAll(steps)))
    },
    async close() {
      if (!isOpen) return
      isOpen = false
      connection.close()
    }
  }
}
