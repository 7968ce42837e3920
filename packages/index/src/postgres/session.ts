import { type StoreError, StoreLostError, StoreUnavailableError } from '../platform/errors.ts'
import { StoreInUseError } from '../port/writer.ts'
import { type Client, drop, isTermOver, Query, sqlStateOf, toStoreError, type Wire } from './driver.ts'

/** Writing a few thousand rows, or a read, does not take so long: the server is out of reach. */
const longestAnswerMs = 60_000
/** The end of a connection, which frees the lock, is answered at once by a server that answers. */
const longestGoodbyeMs = 1_000

/** No such schema, table or function: they were there when the writer was opened. */
const goneStates: readonly unknown[] = ['3F000', '42P01', '42883']

/** Makes the error for an index that was there before. */
export function lostSchema(cause?: unknown): StoreLostError {
  return new StoreLostError(
    "the schema of the chain's index, or a part of it, was dropped while in use: restore it and restart the server; a restart without it begins a new index",
    {},
    { cause }
  )
}

/** Warnings of Citus about a node that may not have committed. Others, as of a collation or of old transaction ids, come with any statement. */
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
  /** Citus has warned since the last script began that a node may not have committed it. */
  #isWarned = false
  #ended: StoreError | undefined

  /**
   * @param client - belongs to the session from now on.
   * @param heartbeatMs - a living writer is heard at least so often, also when nothing happens on its chain
   *   (see `createSilenceCheck`).
   */
  constructor(client: Client, term: number, heartbeatMs: number) {
    this.#client = client
    this.term = term
    client.once('end', () => {
      clearInterval(this.#heart)
      this.#ended ??= new StoreUnavailableError('the connection of the writer to PostgreSQL is lost')
    })
    client.on('notice', ({ message = '' }) => {
      if (lostCommit.test(message)) this.#isWarned = true
    })
    this.#heart = setInterval(() => {
      if (this.#underWay === 0) this.read('SELECT 1').catch(() => {})
    }, heartbeatMs).unref()
  }

  /**
   * What every transaction that writes begins with: it checks that the term is this session's, and keeps it until the transaction
   * ends. It sums up the table so that it also happens where the row is lost.
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
    return this.use(async client => {
      this.#isWarned = false
      try {
        const answer = await runScript<Row>(client, statements.join(';\n'), rows)
        if (this.#isWarned) this.#endInDoubt()
        return answer
      } catch (error) {
        // The first failure is reported.
        await client.query('ROLLBACK').catch(() => {})
        throw error
      }
    }, isLong)
  }

  /** Citus reports a commit and only warns where the node with the tables has failed meanwhile: the next writer reads what is stored. */
  #endInDoubt(): never {
    this.#ended = new StoreUnavailableError(
      'the database warned while it committed: whether the change is stored shows when the index is opened again'
    )
    drop(this.#client)
    throw this.#ended
  }

  async read<Row extends object>(sql: string, values: readonly unknown[] = []): Promise<readonly Row[]> {
    return this.use(async client => (await client.query<Row>(sql, [...values])).rows)
  }

  /** Does something with the connection itself. @throws as `send`. */
  async use<T>(work: (client: Client) => Promise<T>, isLong = false): Promise<T> {
    if (this.#ended !== undefined) throw this.#ended
    const limit = isLong ? undefined : setTimeout(() => drop(this.#client), longestAnswerMs)
    this.#underWay++
    try {
      return await work(this.#client)
    } catch (error) {
      if (isTermOver(error)) {
        this.#ended = new StoreInUseError('another writer of this chain has taken over', {}, { cause: error })
        throw this.#ended
      }
      const failure = toStoreError(error)
      throw goneStates.includes(sqlStateOf(failure)) ? lostSchema(failure) : failure
    } finally {
      this.#underWay--
      clearTimeout(limit)
    }
  }

  /** Ends the connection, and with it the lock. */
  async close(): Promise<void> {
    clearInterval(this.#heart)
    const limit = setTimeout(() => drop(this.#client), longestGoodbyeMs)
    if (this.#ended === undefined) await this.#client.end()
    else drop(this.#client)
    clearTimeout(limit)
  }
}

/** What sends rows of `COPY`; the driver has it and its types do not say so. */
interface CopySender {
  sendCopyFromChunk(bytes: Uint8Array): void
  endCopyFrom(): void
}

/**
 * Carries out several statements in one round trip, with the rows of every `COPY .. FROM STDIN` among them.
 * @param sql - statements without parameters. One that fails ends the script; a transaction that it has begun is then still
 *   open, and has failed.
 * @param rows - for each `COPY` in turn, whole (see `copyRows.ts`). Everything is sent at once: a server takes rows when it
 *   gets to their statement, and drops what is left of them when an earlier one has failed.
 * @returns the rows of the last statement.
 * @throws as the client does.
 */
function runScript<Row extends object>(
  client: Client,
  sql: string,
  rows: readonly Uint8Array[]
): Promise<readonly Row[]> {
  return new Promise((resolve, reject) => {
    // Of several statements the driver gives several results, and its types do not say so.
    const query = new Query(sql, (error: Error | undefined, results: unknown) => {
      if (error) reject(error)
      else resolve([results as { rows: Row[] }].flat().at(-1)?.rows ?? [])
    })
    client.query(
      Object.assign(query, {
        submit: (wire: Wire) => {
          const copying = wire as Wire & CopySender
          // Leaves as one piece.
          wire.stream.cork()
          wire.query(sql)
          for (const each of rows) {
            copying.sendCopyFromChunk(each)
            copying.endCopyFrom()
          }
          wire.stream.uncork()
        },
        // The rows are on their way.
        handleCopyInResponse: () => {}
      })
    )
  })
}
