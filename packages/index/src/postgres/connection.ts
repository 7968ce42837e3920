import { StoreUnavailableError } from '../platform/errors.ts'
import { type Client, connect, drop, toStoreError } from './driver.ts'

/** A statement that is prepared once for each connection, under its name. */
interface Statement {
  readonly name: string
  readonly text: string
}

/** Row of an answer; its columns are those of the statement's text. */
export type Row = Readonly<Record<string, unknown>>

/**
 * One connection of the reader, used by one snapshot at a time. Once anything has failed over it, it is broken and for
 * nothing but `drop`: what state it is in is not worth finding out.
 */
export class ReadConnection {
  readonly #client: Client
  readonly #answerMs: number
  /** The last call under way: the protocol answers one after the other. */
  #last: Promise<unknown> = Promise.resolve()
  #isBroken = false

  private constructor(client: Client, answerMs: number) {
    this.#client = client
    this.#answerMs = answerMs
  }

  /**
   * @param url - never logged and in no message: it may hold a password.
   * @param answerMs - how long to wait for each answer.
   * @param onEnd - called when the connection ends, however and whenever.
   * @throws {StoreUnavailableError} the server does not answer.
   * @throws {StoreError} it refuses the login, or is too old.
   */
  static async open(
    url: string,
    answerMs: number,
    onEnd: (connection: ReadConnection) => void
  ): Promise<ReadConnection> {
    const client = await connect(url, 'queries')
    const connection = new ReadConnection(client, answerMs)
    client.once('end', () => {
      connection.#isBroken = true
      onEnd(connection)
    })
    return connection
  }

  get isBroken(): boolean {
    return this.#isBroken
  }

  /**
   * The rows of a prepared statement; one round trip, and one more waits until it is over.
   * @throws {StoreUnavailableError} the server is gone, ended the call or does not answer in time.
   * @throws {StoreError} it refuses.
   */
  async ask(statement: Statement, values: readonly unknown[]): Promise<readonly Row[]> {
    const { rows } = await this.#call(() => this.#client.query<Row>({ ...statement, values: [...values] }))
    return rows
  }

  /** The rows of each of some statements without values. One round trip; throws as `ask`. */
  async run(text: string): Promise<readonly (readonly Row[])[]> {
    const results: { rows: Row[] } | { rows: Row[] }[] = await this.#call(() => this.#client.query(text))
    return [results].flat().map(({ rows }) => rows)
  }

  /** At once, whatever it is doing. */
  drop(): void {
    this.#isBroken = true
    drop(this.#client)
  }

  #call<T>(send: () => Promise<T>): Promise<T> {
    const answer = this.#last.then(() => this.#answerOf(send))
    this.#last = answer.catch(() => {})
    return answer
  }

  async #answerOf<T>(send: () => Promise<T>): Promise<T> {
    if (this.#isBroken) throw new StoreUnavailableError('the connection to PostgreSQL has ended')
    // Not `withDeadline`: no work here listens to its abort signal, which shows in the processor time of short reads.
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise<never>((_, reject) => {
      timer = setTimeout(
        () => reject(new StoreUnavailableError(`PostgreSQL did not answer within ${this.#answerMs} ms`)),
        this.#answerMs
      ).unref()
    })
    try {
      return await Promise.race([send(), tooLate])
    } catch (error) {
      this.#isBroken = true
      throw toStoreError(error)
    } finally {
      clearTimeout(timer)
    }
  }
}
