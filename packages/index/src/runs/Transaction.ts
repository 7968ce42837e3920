import type { Chunk } from './chunk.ts'
import type { ChunkReads } from './chunkReads.ts'

/**
 * Value of a parameter or a column. Numbers are whole and safe; SQLite and PostgreSQL both give them back as numbers. Statements
 * select no booleans, which SQLite does not have.
 */
export type Value = number | string | Uint8Array | null

/** A row by the names of its columns, in the order of the statement. */
export type Row = Readonly<Record<string, Value>>

/** Records of transactions, one after the other in the order of the ids that were asked for. */
export interface FoundRecords {
  readonly bytes: Uint8Array
  readonly lengths: readonly number[]
}

/**
 * Reads of one transaction: all of them see the same state of one chain's index. The text of a statement is one that SQLite and
 * PostgreSQL both understand, with a `?` for each value.
 */
export interface ReadTransaction extends ChunkReads {
  /** Number of records that are best read at once. */
  readonly recordsAtOnce: number
  all<R extends object = Row>(text: string, values?: readonly Value[]): Promise<readonly R[]>
  /**
   * Reads the records of transactions.
   * @returns the id of one that has no record, where there is one.
   */
  recordsOf(ids: readonly number[]): Promise<FoundRecords | { readonly missing: number }>
}

/**
 * One transaction that writes. Statements are carried out in their order, but an engine may send them later, with the next read
 * or with the commit: a failure may show there.
 */
export interface WriteTransaction extends ReadTransaction {
  run(text: string, values?: readonly Value[]): Promise<void>
  /** Inserts rows; each has a value for each column. */
  insert(table: string, columns: readonly string[], rows: readonly (readonly Value[])[]): Promise<void>
  /** Inserts records. @param ends - where the record of each id ends in `records`. */
  putRecords(ids: Float64Array, records: Uint8Array, ends: Uint32Array): Promise<void>
  putChunks(chunks: readonly Chunk[]): Promise<void>
  /** Returns the lowest number above this one of a run that has chunks. */
  runAfter(number: number): Promise<number | undefined>
  /** Removes chunks of a run, at most so many. @returns how many; fewer than that: the run has no more. */
  dropChunks(run: number, most: number): Promise<number>
}

/** How a transaction is carried out. */
export interface WriteOptions {
  readonly isLong?: boolean
  readonly isQuiet?: boolean
}

/** The writer's connection to a store. Only one transaction is open at a time. */
export interface WritableStore {
  /**
   * Runs `work` in one transaction: all of it is stored when this returns, nothing when it throws. Work must not go on
   * after a statement has failed: PostgreSQL then stores nothing.
   * @param options.isLong - it may take as long as it takes; else an engine may give up a statement that takes a minute.
   * @param options.isQuiet - readers need not be woken: no answer of theirs changes.
   */
  write<T>(work: (transaction: WriteTransaction) => Promise<T>, options?: WriteOptions): Promise<T>
  /** Reads outside of a transaction that writes; each call sees what is committed. */
  readonly reads: ReadTransaction
  close(): Promise<void>
}
