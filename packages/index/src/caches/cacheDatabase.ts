/** Value of a statement's parameter. */
export type CacheValue = number | string | Uint8Array | null

/** One statement; `$1` stands for the first value, `cache.` before a table for its place. Every engine has to understand the text. */
export interface Statement {
  readonly text: string
  readonly values: readonly CacheValue[]
}

/**
 * Work on a cache as a generator: it yields statements and gets their rows. So the same work runs synchronously over SQLite,
 * where nothing else of the thread comes between two statements, and with awaits over PostgreSQL.
 */
export type Steps<T> = Generator<Statement, T, readonly object[]>

/** Yields one statement. @returns its rows, as its author says the text selects them. */
export function* ask<Row extends object>(text: string, ...values: CacheValue[]): Steps<readonly Row[]> {
  return (yield { text, values }) as readonly Row[]
}

/**
 * Database of a cache that several servers may share; each engine has one.
 * Failures are `StoreUnavailableError` where they may pass, else `StoreError`.
 */
export interface CacheDatabase {
  /** Number of rows that one statement may read or write. */
  readonly maxRows: number
  /** Runs the steps of work outside a transaction. */
  run<T>(work: () => Steps<T>): Promise<T>
  /** Runs them in one transaction, while no other server's transaction with the same `lock` runs. */
  transaction<T>(lock: string, work: () => Steps<T>): Promise<T>
  close(): Promise<void>
}
