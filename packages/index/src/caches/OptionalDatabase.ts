import { StoreUnavailableError } from '../platform/errors.ts'
import type { CacheLog } from './CacheLog.ts'
import type { CacheDatabase, Steps } from './cacheDatabase.ts'

/** The words of a cache in logs. */
export interface CacheWords {
  readonly name: string
  readonly withoutIt: string
}

interface OptionalDatabaseOptions {
  readonly logger: CacheLog
  readonly words: CacheWords
  readonly now: () => number
  /** Called once it is not used any more. */
  onEnd(): void
}

/** A database that was away or locked is not asked again for so long: answers would wait for it. */
const awayPauseMs = 5_000

/** A database that its cache can do without: failures are logged and never thrown, and those that stay end its use. */
export class OptionalDatabase {
  readonly #database: CacheDatabase
  readonly #options: OptionalDatabaseOptions
  #awayUntilMs = 0
  #isAway = false
  #isOpen = true

  constructor(database: CacheDatabase, options: OptionalDatabaseOptions) {
    this.#database = database
    this.#options = options
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  get maxRows(): number {
    return this.#database.maxRows
  }

  /** Checks whether it is open, and was not away a moment ago. */
  mayAsk(): boolean {
    return this.#isOpen && this.#options.now() >= this.#awayUntilMs
  }

  /** Ends the pause after it was away. */
  endPause(): void {
    this.#awayUntilMs = 0
  }

  /** Runs steps outside a transaction; absent when they fail. */
  run<T>(work: () => Steps<T>): Promise<T | undefined> {
    return this.#attempt(() => this.#database.run(work))
  }

  /** Runs steps in one transaction; absent when they fail. */
  transaction<T>(lock: string, work: () => Steps<T>): Promise<T | undefined> {
    return this.#attempt(() => this.#database.transaction(lock, work))
  }

  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#options.onEnd()
    // It has nothing more to lose.
    await this.#database.close().catch(() => {})
  }

  async #attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work()
      if (this.#isAway) this.#options.logger.info(`the ${this.#options.words.name} cache answers again`)
      this.#isAway = false
      return result
    } catch (error) {
      this.#handle(error)
      return undefined
    }
  }

  /** A database that is away or locked may come back; what it refuses it refuses again, so this run goes on without it. */
  #handle(error: unknown): void {
    const { logger, words, now } = this.#options
    if (!this.#isOpen) return
    if (error instanceof StoreUnavailableError) {
      this.#awayUntilMs = now() + awayPauseMs
      if (!this.#isAway) {
        logger.warn(`the ${words.name} cache does not answer; ${words.withoutIt} meanwhile`, { error })
      }
      this.#isAway = true
      return
    }
    logger.warn(`the ${words.name} cache has failed; ${words.withoutIt}`, { error })
    void this.close()
  }
}
