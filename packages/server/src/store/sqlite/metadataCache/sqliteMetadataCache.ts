import { setImmediate as nextTurn } from 'node:timers/promises'
import type {
  CachedDocument,
  CachedFailure,
  MetadataCache,
  MetadataKind,
  MetadataRecord
} from '../../../model/metadata.ts'
import { createTurns } from '../../../platform/createTurns.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { SqliteConnection } from '../driver.ts'
import { inTransaction } from '../inTransaction.ts'
import { isBusy } from '../sqliteError.ts'
import {
  createDocumentTable,
  type DocumentTable,
  type MetadataBounds,
  type MetadataChange
} from './documentTable.ts'

interface Options {
  readonly bounds: MetadataBounds
  readonly logger: Logger
  readonly now: () => number
}

const flushAfterMs = 200
/** One transaction's share. */
const rowsAtOnce = 64
const bytesAtOnce = 512 * 1024
/** Beyond this the newest are not stored: the disk cannot keep up, or somebody else holds the file. */
const maxPendingBytes = 16 * 1024 * 1024
/** A use is written down only where the last one is older: reading must not become writing. */
const useGrainMs = 60 * 60 * 1000
/** So long a locked file is left alone. */
const lockedPauseMs = 5_000
const changeOverheadBytes = 128

/** See `openSqliteMetadataCache`. */
export class SqliteMetadataCache implements MetadataCache {
  readonly #connection: SqliteConnection
  readonly #table: DocumentTable
  readonly #options: Options
  /** One for all reads, so that many small ones do not add up. */
  readonly #turn = createTurns()
  /** Not stored yet, in order of arrival; an address has at most one document and one later failure. */
  readonly #pending = new Map<string, readonly MetadataChange[]>()
  #pendingBytes = 0
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
      await this.#turn()
      const record = withChanges(this.#readStored(key), this.#pending.get(key) ?? [])
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
    const before = this.#pending.get(key) ?? []
    const kept = change.is === 'document' ? [] : before.filter(({ is }) => is !== change.is)
    const bytes = weigh([...kept, change]) - weigh(before)
    if (this.#pendingBytes + bytes > maxPendingBytes) return
    this.#pending.set(key, [...kept, change])
    this.#pendingBytes += bytes
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
      const batch = this.#nextBatch()
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
      for (const [key, changes] of batch) {
        this.#pendingBytes -= weigh(changes)
        this.#pending.delete(key)
      }
      await nextTurn()
    }
  }

  #nextBatch(): readonly (readonly [string, readonly MetadataChange[]])[] {
    const batch: (readonly [string, readonly MetadataChange[]])[] = []
    let bytes = 0
    for (const entry of this.#pending) {
      batch.push(entry)
      bytes += weigh(entry[1])
      if (batch.length >= rowsAtOnce || bytes >= bytesAtOnce) break
    }
    return batch
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
    this.#pendingBytes = 0
    try {
      this.#connection.close()
    } catch {
      // It has nothing more to lose.
    }
  }
}

function weigh(changes: readonly MetadataChange[]): number {
  return changes.reduce(
    (bytes, change) =>
      bytes + changeOverheadBytes + (change.is === 'document' ? change.document.body.length : 0),
    0
  )
}

function withChanges(stored: MetadataRecord, changes: readonly MetadataChange[]): MetadataRecord {
  let record = stored
  for (const change of changes) {
    if (change.is === 'document') record = { document: change.document }
    if (change.is === 'failure') record = { ...record, failure: change.failure }
  }
  return record
}
