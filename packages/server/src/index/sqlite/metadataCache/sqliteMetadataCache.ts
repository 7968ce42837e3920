import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  CachedDocument,
  CachedFailure,
  MetadataCache,
  MetadataKind,
  MetadataRecord
} from '../../../model/metadata.ts'
import { createYielder } from '../../../platform/concurrency/pause.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { MetadataBounds, MetadataChange } from '../../metadataCache/documentRow.ts'
import { PendingChanges } from '../../metadataCache/pendingChanges.ts'
import type { SqliteConnection } from '../driver.ts'
import { isBusy } from '../error.ts'
import { inTransaction } from '../inTransaction.ts'
import { createDocumentTable, type DocumentTable } from './documentTable.ts'

interface Options {
  readonly bounds: MetadataBounds
  readonly logger: Logger
  readonly now: () => number
}

const flushAfterMs = 200
/** A use is written down only where the last one is older: reading must not become writing. */
const useGrainMs = 60 * 60 * 1000
/** So long a locked file is left alone. */
const lockedPauseMs = 5_000

/** See `openSqliteMetadataCache`. */
export class SqliteMetadataCache implements MetadataCache {
  readonly #connection: SqliteConnection
  readonly #table: DocumentTable
  readonly #options: Options
  /** One for all reads, so that many small ones do not add up. */
  readonly #checkYield = createYielder()
  readonly #pending = new PendingChanges()
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #lockedUntilMs = 0
  #hasToldOfLock = false
  #isOpen = true
  #isClosing = false

  constructor(connection: SqliteConnection, options: Options) {
    this.#connection = connection
    this.#table = createDocumentTable(connection)
    this.#options = options
  }

  isWorking(): boolean {
    return this.#isOpen
  }

  async read(keys: readonly string[]): Promise<ReadonlyMap<string, MetadataRecord>> {
    const found = new Map<string, MetadataRecord>()
    for (const key of keys) {
      await this.#checkYield()
      const record = this.#pending.laidOver(this.#readStored(key), key)
      if (record.document !== undefined || record.failure !== undefined) found.set(key, record)
    }
    return found
  }

  saveDocument(kind: MetadataKind, key: string, document: CachedDocument): void {
    this.#add(key, { is: 'document', kind, document })
  }

  saveFailure(kind: MetadataKind, key: string, failure: CachedFailure): void {
    this.#add(key, { is: 'failure', kind, failure })
  }

  async close(): Promise<void> {
    this.#isClosing = true
    clearTimeout(this.#timer)
    await this.#flushing
    this.#lockedUntilMs = 0
    await this.#flush()
    this.#end()
  }

  #readStored(key: string): MetadataRecord {
    if (!this.#isOpen || this.#isLocked()) return {}
    try {
      const stored = this.#table.read(key)
      if (stored === undefined) return {}
      if (Math.abs(this.#options.now() - stored.usedAtMs) > useGrainMs) this.#add(key, { is: 'use' })
      return stored.record
    } catch (error) {
      this.#handle(error)
      return {}
    }
  }

  #add(key: string, change: MetadataChange): void {
    if (!this.#isOpen) return
    if (!this.#pending.add(key, change)) return
    this.#timer ??= setTimeout(() => this.#beginFlush(), flushAfterMs).unref()
  }

  #beginFlush(): void {
    this.#timer = undefined
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined
      if (this.#isOpen && this.#pending.size > 0)
        this.#timer ??= setTimeout(() => this.#beginFlush(), flushAfterMs).unref()
    })
  }

  /**
   * Transaction by transaction, other work in between. What has to leave may be very much, where a bound was lowered: closing
   * does not wait for that, the next run goes on with it.
   */
  async #flush(): Promise<void> {
    let isOver = false
    const hasWork = () => this.#pending.size > 0 || (isOver && !this.#isClosing)
    while (this.#isOpen && !this.#isLocked() && hasWork()) {
      const batch = this.#pending.nextBatch()
      try {
        isOver = inTransaction(this.#connection, () => {
          const nowMs = this.#options.now()
          for (const [key, changes] of batch) {
            for (const change of changes) this.#table.apply(key, change, nowMs)
          }
          return this.#table.evict(this.#options.bounds)
        })
      } catch (error) {
        this.#handle(error)
        return
      }
      this.#pending.remove(batch)
      await nextTurn()
    }
  }

  #isLocked(): boolean {
    return this.#options.now() < this.#lockedUntilMs
  }

  /** A lock may pass, anything else will not: then this run goes on without the file. */
  #handle(error: unknown): void {
    const { logger, now } = this.#options
    if (isBusy(error)) {
      this.#lockedUntilMs = now() + lockedPauseMs
      if (!this.#hasToldOfLock)
        logger.warn('the metadata cache is locked; metadata is kept in memory meanwhile', { error })
      this.#hasToldOfLock = true
      return
    }
    if (!this.#isOpen) return
    logger.warn('the metadata cache has failed; metadata is kept in memory', { error })
    this.#end()
  }

  #end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#pending.clear()
    try {
      this.#connection.close()
    } catch {
      // It has nothing more to lose.
    }
  }
}
