import { type StoreError, StoreLostError, StoreUnavailableError } from '../platform/errors.ts'
import { StoreInUseError } from '../port/writer.ts'
import { type Client, drop, Query, sqlStateOf, toStoreError, type Wire } from './driver.ts'

/** Writing a few thousand rows, or a read, does not take so long: the server is out of reach. */
const answerMs = 60_000
/** Time limit of the polite end of a connection, which a server answers at once. */
const endMs = 1_000

/** No such schema, table or function: they were there when the writer was opened. */
const goneStates: readonly unknown[] = ['3F000', '42P01', '42883']
/** Raised by `require_term`. */
const termIsOver = 'CD001'
const takenOver = 'another writer of this chain has taken over'
const doubtful =
  'the database warned while it committed: whether the change is stored shows when the index is opened again'

/** Makes the error for an index that was there before. */
export function lostSchema(cause?: unknown): StoreLostError {
  return new StoreLostError(
    "the schema of the chain's index, or a part of it, was dropped while in use: restore it and restart the server; a restart without it begins a new index",
    {},
    { cause }
  )
}

/** Warnings of Citus, which reports a commit, that a node may not have it. Others, as of a collation, come with any statement. */
const lostCommit = /^(failed to commit transaction|connection to the remote node)/

/**
 * The connection of the writer that has the term. It is not reopened: with it the lock is lost, and perhaps the answer to a
 * commit. Every call fails from then on; open another writer, which reads what is stored.
 */
export class WriterSession {
  readonly #client: Client
  /** Every transaction that writes checks it. */
  readonly term: number
  readonly #heart: NodeJS.Timeout
  #underWay = 0
  #isWarned = false
  #ended: StoreError | undefined

  /**
   * @param client - belongs to the session from now on.
   * @param heartbeatMs - a living writer is heard at least so often, also when nothing happens on its chain (see `lock.ts`).
   */
  constructor(client: Client, term: number, heartbeatMs: number) {
    this.#client = client
    this.term = term
    client.once('end', () =>
      this.#end(new StoreUnavailableError('the connection of the writer to PostgreSQL is lost'))
    )
    client.on('notice', ({ message = '' }) => {
      if (lostCommit.test(message)) this.#isWarned = true
    })
    this.#heart = setInterval(() => {
      // It may have been sent in an open transaction, whose COMMIT would take everything back without a word.
      if (this.#underWay === 0) this.read('SELECT 1').catch(error => this.#end(toStoreError(error)))
    }, heartbeatMs).unref()
  }

  /**
   * Begins every transaction that writes: checks that the term is this session's, and keeps it until the transaction ends. The
   * maximum has a row also where that of the term is lost.
   */
  get begin(): string {
    return `BEGIN; SELECT FROM leader WHERE id = 1 FOR SHARE;
      SELECT require_term(${this.term}, max(term)) FROM leader WHERE id = 1`
  }

  /**
   * Carries out statements in one round trip. A failure takes back the transaction that is open then.
   * @param rows - those of each `COPY` among them.
   * @param options.isLong - it may take as long as it takes.
   * @returns the rows of the last statement.
   * @throws {StoreInUseError} another writer has taken over.
   * @throws {StoreError} nothing is stored; only when the connection is lost it may be, as a whole.
   */
  async send<Row extends object>(
    statements: readonly string[],
    rows: readonly Uint8Array[] = [],
    { isLong = false } = {}
  ): Promise<readonly Row[]> {
    return this.#use(async client => {
      try {
        const answer = await runScript<Row>(client, statements.join(';\n'), rows)
        if (!this.#isWarned) return answer
        // The next writer reads what is stored.
        throw this.#end(new StoreUnavailableError(doubtful))
      } catch (error) {
        // The first failure is reported.
        await client.query('ROLLBACK').catch(() => {})
        throw error
      }
    }, isLong)
  }

  /** Reads outside of a transaction. @throws as `send`. */
  async read<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.#use(async client => (await client.query<Row>(sql, [...values])).rows)
  }

  async #use<T>(work: (client: Client) => Promise<T>, isLong = false): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended
    const limit = isLong ? undefined : setTimeout(() => drop(this.#client), answerMs)
    this.#underWay++
    try {
      return await work(this.#client)
    } catch (error) {
      const state = sqlStateOf(error)
      if (state === termIsOver) this.#end(new StoreInUseError(takenOver, {}, { cause: error }))
      if (this.#ended !== undefined) throw this.#ended
      throw goneStates.includes(state) ? lostSchema(error) : toStoreError(error)
    } finally {
      this.#underWay--
      clearTimeout(limit)
    }
  }

  /** @param failure - of all calls from now on. */
  #end(failure: StoreError): StoreError {
    clearInterval(this.#heart)
    drop(this.#client)
    this.#ended ??= failure
    return this.#ended
  }

  /** Ends the connection, and with it the lock. */
  async close(): Promise<void> {
    clearInterval(this.#heart)
    const limit = setTimeout(() => drop(this.#client), endMs)
    await this.#client.end()
    clearTimeout(limit)
  }
}

/** The driver has it, and its types do not say so. */
interface CopySender extends Wire {
  sendCopyFromChunk(bytes: Uint8Array): void
  endCopyFrom(): void
}

/**
 * Carries out several statements in one round trip.
 * @param sql - without parameters. A statement that fails ends the script, and leaves a transaction open that has failed.
 * @param rows - for each `COPY .. FROM STDIN` in turn, whole. Everything is sent at once: a server takes rows when it gets to
 *   their statement, and drops what is left of them when an earlier one has failed.
 * @returns the rows of the last statement.
 */
function runScript<Row extends object>(
  client: Client,
  sql: string,
  rows: readonly Uint8Array[]
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    // Several statements have several results.
    const query = new Query(sql, (error: Error | undefined, results: unknown) => {
      if (error) reject(error)
      else resolve([results as { rows: Row[] }].flat().at(-1)?.rows ?? [])
    })
    const submit = (wire: Wire) => {
      const copying = wire as CopySender
      // Leaves as one piece.
      wire.stream.cork()
      wire.query(sql)
      for (const each of rows) {
        copying.sendCopyFromChunk(each)
        copying.endCopyFrom()
      }
      wire.stream.uncork()
    }
    client.query(Object.assign(query, { submit, handleCopyInResponse: () => {} }))
  })
}
