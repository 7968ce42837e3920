import type {
  CachedDocument,
  CachedFailure,
  MetadataCache,
  MetadataKind,
  MetadataRecord
} from '../../../model/metadata.ts'
import { StoreUnavailableError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import {
  type DocumentRow,
  type MetadataBounds,
  type MetadataChange,
  toMetadataRecord
} from '../../metadataCache/documentRow.ts'
import { PendingChanges, type PendingEntry } from '../../metadataCache/pendingChanges.ts'
import { connect, drop } from '../connect.ts'
import type { Pool, PoolClient } from '../driver.ts'
import { toStoreError } from '../error.ts'
import { migrate } from '../migrate.ts'
import { applyChanges, evictDocuments, lockCache, readDocuments } from './documentStatements.ts'
import { metadataMigrations, metadataSchema } from './metadataMigrations.ts'

interface Options {
  readonly url: string
  readonly bounds: MetadataBounds
  readonly logger: Logger
  readonly now: () => number
}

const flushAfterMs = 200
/** A use is written down only where the last one is older: reading must not become writing. */
const useGrainMs = 60 * 60 * 1000
/** A database that was away a moment ago is not asked again: answers would wait for it. */
const awayPauseMs = 5_000

/** See `openPostgresMetadataCache`. */
export class PostgresMetadataCache implements MetadataCache {
  readonly #pool: Pool
  readonly #options: Options
  readonly #pending = new PendingChanges()
  /** The schema is there and of this program's version. */
  #ready: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #awayUntilMs = 0
  #isAway = false
  #isOpen = true
  #isClosing = false

  constructor(pool: Pool, options: Options) {
    this.#pool = pool
    this.#options = options
  }

  isWorking(): boolean {
    return this.#isOpen
  }

  async read(keys: readonly string[]): Promise<ReadonlyMap<string, MetadataRecord>> {
    const rows = await this.#readStored(keys)
    const found = new Map<string, MetadataRecord>()
    if (!this.#isOpen) return found
    const nowMs = this.#options.now()
    for (const key of keys) {
      const row = rows.get(key)
      if (row !== undefined && Math.abs(nowMs - row.used_at) > useGrainMs) this.#add(key, { is: 'use' })
      const record = this.#pending.laidOver(row === undefined ? {} : toMetadataRecord(row), key)
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
    this.#awayUntilMs = 0
    await this.#flush()
    await this.#end()
  }

  async #readStored(keys: readonly string[]): Promise<ReadonlyMap<string, DocumentRow>> {
    if (keys.length === 0 || !this.#mayAsk()) return new Map()
    try {
      await this.#prepare()
      const rows = await readDocuments(this.#pool, keys)
      this.#tellOfReturn()
      return rows
    } catch (error) {
      this.#handle(error)
      return new Map()
    }
  }

  #add(key: string, change: MetadataChange): void {
    if (!this.#isOpen || !this.#pending.add(key, change)) return
    this.#beginLater()
  }

  #beginLater(): void {
    this.#timer ??= setTimeout(() => this.#beginFlush(), flushAfterMs).unref()
  }

  #beginFlush(): void {
    this.#timer = undefined
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = undefined
      if (this.#isOpen && !this.#isClosing && this.#pending.size > 0) this.#beginLater()
    })
  }

  /**
   * Transaction by transaction. What has to leave may be very much, where a bound was lowered: closing does not wait for
   * that, the next run goes on with it.
   */
  async #flush(): Promise<void> {
    let isOver = false
    while (this.#mayAsk() && (this.#pending.size > 0 || (isOver && !this.#isClosing))) {
      const batch = this.#pending.nextBatch()
      try {
        await this.#prepare()
        isOver = await this.#store(batch)
        this.#tellOfReturn()
      } catch (error) {
        this.#handle(error)
        return
      }
      this.#pending.remove(batch)
    }
  }

  /** @returns whether more has to leave. */
  async #store(batch: readonly PendingEntry[]): Promise<boolean> {
    const client: PoolClient = await this.#pool.connect()
    let failure: Error | undefined
    try {
      await client.query('BEGIN')
      await lockCache(client)
      await applyChanges(client, batch, this.#options.now())
      const isOver = await evictDocuments(client, this.#options.bounds)
      await client.query('COMMIT')
      return isOver
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      throw error
    } finally {
      // With an error the connection is ended, and the server forgets what was begun on it.
      client.release(failure)
    }
  }

  async #prepare(): Promise<void> {
    this.#ready ??= makeSchema(this.#options.url)
    try {
      await this.#ready
    } catch (error) {
      this.#ready = undefined
      throw error
    }
  }

  #mayAsk(): boolean {
    return this.#isOpen && this.#options.now() >= this.#awayUntilMs
  }

  #tellOfReturn(): void {
    if (this.#isAway) this.#options.logger.info('the metadata cache answers again')
    this.#isAway = false
  }

  /** A database that is away may come back; what it refuses it will refuse again: then this run goes on without it. */
  #handle(cause: unknown): void {
    const { logger, now } = this.#options
    const error = toStoreError(cause)
    if (!this.#isOpen) return
    if (error instanceof StoreUnavailableError) {
      this.#awayUntilMs = now() + awayPauseMs
      if (!this.#isAway) {
        logger.warn('the metadata cache does not answer; metadata is kept in memory meanwhile', { error })
      }
      this.#isAway = true
      return
    }
    logger.warn('the metadata cache has failed; metadata is kept in memory', { error })
    this.#end().catch(() => undefined)
  }

  async #end(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    clearTimeout(this.#timer)
    this.#pending.clear()
    await this.#pool.end()
  }
}

async function makeSchema(url: string): Promise<void> {
  const client = await connect(url, 'metadata')
  try {
    await migrate(client, metadataSchema, metadataMigrations)
  } finally {
    drop(client)
  }
}
