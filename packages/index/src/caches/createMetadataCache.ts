import { createHash } from 'node:crypto'
import type { MetadataCache, MetadataKind, MetadataRecord } from '../model/metadata.ts'
import { StoreUnavailableError } from '../platform/errors.ts'
import { sumOfRow } from '../store/rowSums.ts'
import type { CacheLog } from './CacheLog.ts'
import { ask, type CacheDatabase, type Steps } from './cacheDatabase.ts'
import { type MetadataChange, PendingChanges, type PendingEntry } from './pendingChanges.ts'

export interface MetadataCacheOptions {
  /** Maximum of bytes of each kind; least recently used documents are removed first. */
  readonly bounds: Readonly<Record<MetadataKind, number>>
  readonly logger: CacheLog
  /** What logs call it, and what follows from its trouble. Default: the cache of metadata. */
  readonly words?: CacheWords
  /** Called for each row that differs from its checksum: what it held counts as unknown, and is fetched again. */
  onDamage?(): void
  /** Default: `Date.now`; replaced in tests. */
  readonly now?: () => number
}

/** The words of a cache in logs. */
export interface CacheWords {
  readonly name: string
  readonly withoutIt: string
}

export const metadataWords: CacheWords = { name: 'metadata', withoutIt: 'metadata is kept in memory' }

interface DocumentRow {
  readonly key: Uint8Array
  readonly used_at: number
  readonly fetched_at: number | null
  readonly is_proven: number | boolean
  readonly failures: number
  readonly failed_at: number | null
  readonly body: Uint8Array | null
  readonly document_sum: number | null
  readonly failure_sum: number | null
}

/** How the two kinds are stored. */
const kindNumbers: Readonly<Record<MetadataKind, number>> = { content: 1, url: 2 }
/** Approximate bytes of a row besides its body, index entries included. */
const rowOverheadBytes = 256
/** Rows that one transaction removes of each kind, so that it stays short. */
const evictedRows = 64
const flushAfterMs = 200
/** A use is stored only if the last one is older: reading must not become writing. */
const useGrainMs = 60 * 60 * 1000
/** A database that was away or locked is not asked again for so long: answers would wait for it. */
const awayPauseMs = 5_000

/** Creates the cache of documents over the tables of an engine's `cacheDatabase.ts`. */
export function createMetadataCache(
  database: CacheDatabase,
  { bounds, logger, words = metadataWords, onDamage, now = Date.now }: MetadataCacheOptions
): MetadataCache {
  const document = `${database.prefix}document`
  const usage = `${database.prefix}usage`
  const pending = new PendingChanges()
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined
  let awayUntilMs = 0
  let isAway = false
  let isOpen = true
  let isClosing = false

  const mayAsk = () => isOpen && now() >= awayUntilMs

  /** Runs work on the database; absent when that fails, which is logged. */
  async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work()
      if (isAway) logger.info(`the ${words.name} cache answers again`)
      isAway = false
      return result
    } catch (error) {
      handle(error)
      return undefined
    }
  }

  /** A database that is away or locked may come back; what it refuses it refuses again, so this run goes on without it. */
  function handle(error: unknown): void {
    if (!isOpen) return
    if (error instanceof StoreUnavailableError) {
      awayUntilMs = now() + awayPauseMs
      if (!isAway) {
        logger.warn(`the ${words.name} cache does not answer; ${words.withoutIt} meanwhile`, { error })
      }
      isAway = true
      return
    }
    logger.warn(`the ${words.name} cache has failed; ${words.withoutIt}`, { error })
    void end()
  }

  async function end(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    clearTimeout(timer)
    pending.clear()
    // It has nothing more to lose.
    await database.close().catch(() => {})
  }

  async function readStored(keys: readonly string[]): Promise<ReadonlyMap<string, DocumentRow>> {
    const found = new Map<string, DocumentRow>()
    const byDigest = new Map(keys.map(key => [digestOf(key).toString('hex'), key]))
    const all = [...byDigest.keys()]
    for (let from = 0; from < all.length && mayAsk(); from += database.maxRows) {
      const digests = all.slice(from, from + database.maxRows)
      const rows = await attempt(() => database.run(selectDocuments(document, digests)))
      for (const row of rows ?? []) {
        const key = byDigest.get(Buffer.from(row.key).toString('hex'))
        if (key === undefined) continue
        found.set(key, row)
        if (!isDocumentSound(row) || !isFailureSound(row)) onDamage?.()
      }
    }
    return found
  }

  function add(key: string, change: MetadataChange): void {
    if (isOpen && pending.add(key, change)) flushLater()
  }

  function flushLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      flushing ??= flush().finally(() => {
        flushing = undefined
        if (isOpen && !isClosing && pending.size > 0) flushLater()
      })
    }, flushAfterMs).unref()
  }

  /**
   * Stores pending changes, transaction by transaction. A lowered bound may evict very many rows: closing does not wait for
   * that, the next run continues.
   */
  async function flush(): Promise<void> {
    let isOver = false
    while (mayAsk() && (pending.size > 0 || (isOver && !isClosing))) {
      const batch = pending.nextBatch()
      // Rows are changed in any order, and servers must not wait for each other in a circle: one writes at a time.
      const stored = await attempt(() => database.transaction('documents', store(batch)))
      if (stored === undefined) return
      isOver = stored
      pending.remove(batch)
    }
  }

  /** @returns whether more has to leave, which is done in the next transaction. */
  function* store(batch: readonly PendingEntry[]): Steps<boolean> {
    const nowMs = now()
    for (const [key, changes] of batch) {
      for (const change of changes) yield* apply(digestOf(key), change, nowMs)
    }
    for (const kind of ['content', 'url'] as const) {
      yield* ask(
        `DELETE FROM ${document} WHERE id IN (
           SELECT id FROM (
             SELECT id, sum(weight) OVER (ORDER BY used_at, id) - weight AS ahead FROM (
               SELECT id, weight, used_at FROM ${document} WHERE kind = $1 ORDER BY used_at, id LIMIT ${evictedRows}
             ) AS oldest
           ) AS leaving
           WHERE ahead < (SELECT weight FROM ${usage} WHERE kind = $1) - $2
         )`,
        ...[kindNumbers[kind], bounds[kind]]
      )
    }
    const over = yield* ask(
      `SELECT kind FROM ${usage} WHERE weight > CASE kind WHEN $1 THEN CAST($2 AS bigint) ELSE CAST($3 AS bigint) END`,
      ...[kindNumbers.content, bounds.content, bounds.url]
    )
    return over.length > 0
  }

  function* apply(digest: Buffer, change: MetadataChange, nowMs: number): Steps<void> {
    if (change.is === 'use') {
      yield* ask(`UPDATE ${document} SET used_at = $1 WHERE key = $2`, nowMs, digest)
    } else if (change.is === 'failure') {
      const { count, atMs } = change.failure
      yield* ask(
        `INSERT INTO ${document} (key, kind, used_at, weight, is_proven, failures, failed_at, failure_sum)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
         ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at, failures = excluded.failures,
           failed_at = excluded.failed_at, failure_sum = excluded.failure_sum`,
        ...[digest, kindNumbers[change.kind], nowMs, rowOverheadBytes, 0, count, atMs],
        sumOfFailure({ key: digest, failures: count, failed_at: atMs })
      )
    } else {
      const { body, fetchedAtMs, isProven } = change.document
      const weight = rowOverheadBytes + body.length
      yield* ask(
        `INSERT INTO ${document} (key, kind, used_at, weight, fetched_at, is_proven, failures, body, document_sum)
         VALUES ($1, $2, $3, $4, $5, $6, 0, $7, $8)
         ON CONFLICT (key) DO UPDATE SET used_at = excluded.used_at, weight = excluded.weight,
           fetched_at = excluded.fetched_at, is_proven = excluded.is_proven, failures = 0, failed_at = NULL, body = excluded.body,
           document_sum = excluded.document_sum, failure_sum = NULL`,
        ...[digest, kindNumbers[change.kind], nowMs, weight, fetchedAtMs, Number(isProven), body],
        sumOfDocument({ key: digest, fetched_at: fetchedAtMs, is_proven: isProven, body })
      )
    }
  }

  return {
    isWorking: () => isOpen,
    async read(keys) {
      const rows = await readStored(keys)
      const found = new Map<string, MetadataRecord>()
      if (!isOpen) return found
      const nowMs = now()
      for (const key of keys) {
        const row = rows.get(key)
        if (row !== undefined && Math.abs(nowMs - row.used_at) > useGrainMs) add(key, { is: 'use' })
        const record = pending.laidOver(row === undefined ? {} : toMetadataRecord(row), key)
        if (record.document !== undefined || record.failure !== undefined) found.set(key, record)
      }
      return found
    },
    saveDocument: (kind, key, saved) => add(key, { is: 'document', kind, document: saved }),
    saveFailure: (kind, key, failure) => add(key, { is: 'failure', kind, failure }),
    async close() {
      isClosing = true
      clearTimeout(timer)
      await flushing
      awayUntilMs = 0
      await flush()
      await end()
    }
  }
}

function* selectDocuments(table: string, digests: readonly string[]): Steps<readonly DocumentRow[]> {
  return yield* ask<DocumentRow>(
    `SELECT key, used_at, fetched_at, is_proven, failures, failed_at, body, document_sum, failure_sum FROM ${table}
     WHERE key IN (${digests.map((_, at) => `$${at + 1}`).join(', ')})`,
    ...digests.map(digest => Buffer.from(digest, 'hex'))
  )
}

/** Key of a row: addresses may be long, their SHA-256 is not. */
function digestOf(key: string): Buffer {
  return createHash('sha256').update(key).digest()
}

/** Leaves out what differs from its checksum. */
function toMetadataRecord(row: DocumentRow): MetadataRecord {
  const { fetched_at, is_proven, failures, failed_at, body } = row
  return {
    ...(body === null || fetched_at === null || !isDocumentSound(row)
      ? {}
      : { document: { body, fetchedAtMs: fetched_at, isProven: Boolean(is_proven) } }),
    ...(failed_at === null || !isFailureSound(row) ? {} : { failure: { count: failures, atMs: failed_at } })
  }
}

function isDocumentSound(row: DocumentRow): boolean {
  return row.document_sum === null
    ? row.body === null && row.fetched_at === null
    : row.document_sum === sumOfDocument(row)
}

function isFailureSound(row: DocumentRow): boolean {
  return row.failure_sum === null ? row.failed_at === null : row.failure_sum === sumOfFailure(row)
}

/** Documents belong to no chain. */
const noChain = 0

function sumOfDocument({
  key,
  fetched_at,
  is_proven,
  body
}: Pick<DocumentRow, 'key' | 'fetched_at' | 'is_proven' | 'body'>): number {
  return sumOfRow(noChain, 'document', { key, fetched_at, is_proven: Number(is_proven), body })
}

function sumOfFailure({
  key,
  failures,
  failed_at
}: Pick<DocumentRow, 'key' | 'failures' | 'failed_at'>): number {
  return sumOfRow(noChain, 'failure', { key, failures, failed_at })
}
