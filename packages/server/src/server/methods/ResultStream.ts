/** Some elements of a result: the values, or their JSON text with commas between them, where that was made already. */
export type ResultChunk = readonly unknown[] | string

/**
 * A result too long to hold: the elements of a JSON array, in chunks. Whoever receives one must call `close` in
 * the end, also when it was never read, because it holds a view of the store open.
 */
export class ResultStream {
  readonly chunks: AsyncIterable<ResultChunk>
  readonly #release: () => Promise<void>
  #released: Promise<void> | undefined

  constructor(chunks: AsyncIterable<ResultChunk>, release: () => Promise<void>) {
    this.chunks = chunks
    this.#release = release
  }

  /** Releases what the stream holds; a second call waits for the first. */
  close(): Promise<void> {
    this.#released ??= this.#release()
    return this.#released
  }
}
