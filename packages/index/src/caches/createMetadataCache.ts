import { createHash } from 'node:crypto'
import type {
  CachedDocument,
  CachedFailure,
  MetadataCache,
  MetadataKind,
  MetadataRecord
} from '../model/metadata.ts'
import { StoreUnavailableError } from '../platform/errors.ts'
import { ByteReader, ByteWriter } from '../record/recordBytes.ts'
import type { CacheLog } from './CacheLog.ts'
import type { CacheDatabase, Steps } from './cacheDatabase.ts'
import {
  type Entry,
  evict,
  evictedEntries,
  findEntries,
  putEntry,
  removeEntry,
  touchEntry
} from './entries.ts'
import { type Change, PendingChanges, type PendingEntry } from './pendingChanges.ts'

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

/** How the two kinds are stored: each is a space of its own. */
const spaces: Readonly<Record<MetadataKind, number>> = { content: 1, url: 2 }
/** Approximate bytes of an entry besides its value, index entries included. */
const overheadBytes = 256
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

  /** Reads stored values by their keys, as hex. */
  async function readStored(keys: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
    const found = new Map<string, Entry>()
    for (let from = 0; from < keys.length && mayAsk(); from += database.maxRows) {
      const some = keys.slice(from, from + database.maxRows).map(key => Buffer.from(key, 'hex'))
      const entries = await attempt(() => database.run(() => findEntries(Object.values(spaces), some)))
      for (const entry of entries ?? []) {
        found.set(Buffer.from(entry.key).toString('hex'), entry)
        if (entry.body !== undefined) continue
        onDamage?.()
        await attempt(() => database.run(() => removeEntry(entry.id)))
      }
    }
    return found
  }

  function add(key: string, change: Change): void {
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
      const stored = await attempt(() => database.transaction('documents', () => store(batch)))
      if (stored === undefined) return
      isOver = stored
      pending.remove(batch)
    }
  }

  /** @returns whether more may have to leave, which is done in the next transaction. */
  function* store(batch: readonly PendingEntry[]): Steps<boolean> {
    const nowMs = now()
    for (const [key, { id, space, body }] of batch) {
      const digest = Buffer.from(key, 'hex')
      if (body !== undefined) {
        yield* putEntry(space, digest, body, overheadBytes + body.length, nowMs)
      } else if (id !== undefined) {
        yield* touchEntry(id, nowMs)
      } else {
        for (const old of yield* findEntries([space], [digest])) yield* removeEntry(old.id)
      }
    }
    let isOver = false
    for (const kind of ['content', 'url'] as const) {
      const left = yield* evict(spaces[kind], bounds[kind])
      isOver ||= left === evictedEntries
    }
    return isOver
  }

  return {
    isWorking: () => isOpen,
    async read(keys) {
      const all = keys.map(key => [key, keyOf('document', key), keyOf('failure', key)] as const)
      const stored = await readStored([...new Set(all.flatMap(([, ...both]) => both))])
      const found = new Map<string, MetadataRecord>()
      if (!isOpen) return found
      const nowMs = now()
      const currentOf = (key: string) => {
        const entry = stored.get(key)
        if (entry?.body !== undefined && Math.abs(nowMs - entry.usedAtMs) > useGrainMs)
          add(key, { id: entry.id, space: 0 })
        return pending.valueOf(key, entry?.body)
      }
      for (const [key, ofDocument, ofFailure] of all) {
        const [document, failure] = [currentOf(ofDocument), currentOf(ofFailure)]
        if (document === undefined && failure === undefined) continue
        found.set(key, {
          ...(document && { document: decodeDocument(document) }),
          ...(failure && { failure: decodeFailure(failure) })
        })
      }
      return found
    },
    saveDocument(kind, key, document) {
      add(keyOf('document', key), { space: spaces[kind], body: encodeDocument(document) })
      add(keyOf('failure', key), { space: spaces[kind] })
    },
    saveFailure(kind, key, failure) {
      add(keyOf('failure', key), { space: spaces[kind], body: encodeFailure(failure) })
    },
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

/** Returns the key of what is known of an address, as hex: addresses may be long, their SHA-256 is not. */
function keyOf(what: 'document' | 'failure', address: string): string {
  return createHash('sha256').update(`${what} ${address}`).digest('hex')
}

function encodeDocument({ body, fetchedAtMs, isProven }: CachedDocument): Buffer {
  const writer = new ByteWriter(16 + body.length)
  writer.varint(fetchedAtMs)
  writer.byte(isProven ? 1 : 0)
  writer.bytes(body)
  return writer.finish()
}

function decodeDocument(bytes: Uint8Array): CachedDocument {
  const reader = new ByteReader(bytes)
  const fetchedAtMs = reader.varint()
  const isProven = reader.byte() === 1
  return { body: bytes.subarray(reader.at), fetchedAtMs, isProven }
}

function encodeFailure({ count, atMs }: CachedFailure): Buffer {
  const writer = new ByteWriter(16)
  writer.varint(count)
  writer.varint(atMs)
  return writer.finish()
}

function decodeFailure(bytes: Uint8Array): CachedFailure {
  const reader = new ByteReader(bytes)
  return { count: reader.varint(), atMs: reader.varint() }
}
