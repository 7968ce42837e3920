import { type StoreError, StoreUnavailableError } from '../platform/errors.ts'
import { type Client, connect, drop, toStoreError } from './driver.ts'

/** Row of an answer; its columns are those of the statement's text. */
export type Row = Readonly<Record<string, unknown>>

/** A connection of readers, used by one snapshot at a time. After the first failure every call fails: it is of no more use. */
export class ReadConnection {
  readonly #client: Client
  readonly #answerMs: number
  readonly #onEnd: (connection: ReadConnection) => void
  #failure: StoreError | undefined

  private constructor(client: Client, answerMs: number, onEnd: (connection: ReadConnection) => void) {
    this.#client = client
    this.#answerMs = answerMs
    this.#onEnd = onEnd
    client.once('end', () => this.drop())
  }

  /**
   * @param url - never logged and in no message: it may hold a password.
   * @param answerMs - time limit of each answer.
   * @param onEnd - called when the connection ends, however and whenever.
   * @throws as `connect`.
   */
  static async open(
    url: string,
    answerMs: number,
    onEnd: (connection: ReadConnection) => void
  ): Promise<ReadConnection> {
    return new ReadConnection(await connect(url, 'queries'), answerMs, onEnd)
  }

  /**
   * Returns the rows of a prepared statement. One round trip, which calls share that do not wait for each other.
   * @throws {StoreUnavailableError} the server is gone, ended the call or does not answer in time.
   * @throws {StoreError} it refuses.
   */
  async ask(
    { name, text }: { readonly name: string; readonly text: string },
    values: readonly unknown[]
  ): Promise<readonly Row[]> {
    const { rows } = await this.#call(() => this.#client.query<Row>({ name, text, values: [...values] }))
    return rows
  }

  /** Returns the rows of each of some statements without values. One round trip; throws as `ask`. */
  async run(text: string): Promise<readonly (readonly Row[])[]> {
    const results: { rows: Row[] } | { rows: Row[] }[] = await this.#call(() => this.#client.query(text))
    return [results].flat().map(({ rows }) => rows)
  }

  /** Ends it at once, whatever it is doing. */
  drop(reason = 'the connection to PostgreSQL has ended'): void {
    this.#failure ??= new StoreUnavailableError(reason)
    drop(this.#client)
    this.#onEnd(this)
  }

  async #call<T>(send: () => Promise<T>): Promise<T> {
    if (this.#failure !== undefined) throw this.#failure
    // Calls of one turn of the event loop leave as one piece.
    const { stream } = this.#client.connection
    stream.cork()
    process.nextTick(() => stream.uncork())
    const limit = setTimeout(
      () => this.drop(`PostgreSQL did not answer within ${this.#answerMs} ms`),
      this.#answerMs
    )
    try {
      return await send()
    } catch (error) {
      this.#failure ??= toStoreError(error)
      throw this.#failure
    } finally {
      clearTimeout(limit)
    }
  }
}
