import { createHash } from 'node:crypto'
import type {
  CachedDocument,
  CachedFailure,
  MetadataCache,
  MetadataKind,
  MetadataRecord
} from '../model/metadata.ts'
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
import { type CacheWords, OptionalDatabase } from './OptionalDatabase.ts'
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

export const metadataWords: CacheWords = { name: 'metadata', withoutIt: 'metadata is kept in memory' }

/** How the two kinds are stored: each is a space of its own. */
const spaces: Readonly<Record<MetadataKind, number>> = { content: 1, url: 2 }
/** Approximate bytes of an entry besides its value, index entries included. */
const overheadBytes = 256
const flushAfterMs = 200
/** A use is stored only if the last one is older: reading must not become writing. */
const useGrainMs = 60 * 60 * 1000

/** Creates the cache of documents over the tables of an engine's `cacheDatabase.ts`. */
export function createMetadataCache(
  database: CacheDatabase,
  { bounds, logger, words = metadataWords, onDamage, now = Date.now }: MetadataCacheOptions
): MetadataCache {
  const pending = new PendingChanges()
  let timer: NodeJS.Timeout | undefined
  let flushing: Promise<void> | undefined
  let isClosing = false
  const tables = new OptionalDatabase(database, {
    ...{ logger, words, now },
    onEnd() {
      clearTimeout(timer)
      pending.clear()
    }
  })

  /** Reads stored values by their keys, as hex. */
  async function readStored(keys: readonly string[]): Promise<ReadonlyMap<string, Entry>> {
    const found = new Map<string, Entry>()
    for (let from = 0; from < keys.length && tables.mayAsk(); from += tables.maxRows) {
      const some = keys.slice(from, from + tables.maxRows).map(key => Buffer.from(key, 'hex'))
      const entries = await tables.run(() => findEntries(Object.values(spaces), some))
      for (const entry of entries ?? []) {
        found.set(Buffer.from(entry.key).toString('hex'), entry)
        if (entry.body !== undefined) continue
        onDamage?.()
        await tables.run(() => removeEntry(entry.id))
      }
    }
    return found
  }

  function add(key: string, change: Change): void {
    if (tables.isOpen && pending.add(key, change)) flushLater()
  }

  function flushLater(): void {
    timer ??= setTimeout(() => {
      timer = undefined
      flushing ??= flush().finally(() => {
        flushing = undefined
        if (tables.isOpen && !isClosing && pending.size > 0) flushLater()
      })
    }, flushAfterMs).unref()
  }

  /**
   * Stores pending changes, transaction by transaction. A lowered bound may evict very many rows: closing does not wait for
   * that, the next run continues.
   */
  async function flush(): Promise<void> {
    let isOver = false
    while (tables.mayAsk() && (pending.size > 0 || (isOver && !isClosing))) {
      const batch = pending.nextBatch()
      // Rows are changed in any order, and servers must not wait for each other in a circle: one writes at a time.
      const hasMore = await tables.transaction('documents', () => store(batch, bounds, now()))
      if (hasMore === undefined) return
      isOver = hasMore
      pending.remove(batch)
    }
  }

  return {
    isWorking: () => tables.isOpen,
    async read(keys) {
      const all = keys.map(key => [key, keyOf('document', key), keyOf('failure', key)] as const)
      const entries = await readStored([...new Set(all.flatMap(([, ...both]) => both))])
      const found = new Map<string, MetadataRecord>()
      if (!tables.isOpen) return found
      const nowMs = now()
      const currentOf = (key: string) => {
        const entry = entries.get(key)
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
      tables.endPause()
      await flush()
      await tables.close()
    }
  }
}

/** @returns whether more may have to leave, which is done in the next transaction. */
function* store(
  batch: readonly PendingEntry[],
  bounds: MetadataCacheOptions['bounds'],
  nowMs: number
): Steps<boolean> {
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
