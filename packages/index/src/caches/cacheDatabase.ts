/** Value of a statement's parameter. */
export type CacheValue = number | string | Uint8Array | null

/** One statement; `$1` stands for the first value. The text has to be understood by every engine. */
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
  /** Written before each table's name. */
  readonly prefix: string
  /** Number of rows that one statement may read or write. */
  readonly maxRows: number
  /** Runs steps outside a transaction. */
  run<T>(steps: Steps<T>): Promise<T>
  /** Runs steps in one transaction, while no other server's transaction with the same `lock` runs. */
  transaction<T>(lock: string, steps: Steps<T>): Promise<T>
  close(): Promise<void>
}
