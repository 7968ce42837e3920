import type { CachedFailure, MetadataCache, MetadataKind, MetadataRecord } from '@chain-data/index'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { createYielder } from '../../platform/concurrency/pause.ts'
import type { MetadataLookup } from './metadataFigures.ts'
import { type JsonObject, readJsonObject, weighObject } from './readJsonObject.ts'
import type { RemoteAddress } from './resolveUri.ts'

/** A document ready for use. How it is shown depends on who asks (`{id}` in the image). */
export interface Document {
  readonly data: JsonObject
  /** See `weighObject`. */
  readonly weight: number
  /** The address leads to a picture and not to an object; then `data` is empty. */
  readonly isPicture?: true
}

/** A picture where an object was expected. */
export const pictureDocument: Document = { data: {}, weight: 64, isPicture: true }
/** What the cache holds in place of its bytes: JSON, but no object. */
export const pictureBody: Uint8Array = Buffer.from('"picture"')

/** The knowledge of an address. */
interface Finding {
  readonly lookup: MetadataLookup
  /** Given with `fresh` and `stale`. */
  readonly document?: Document
  /** Past its date, and no attempt has failed lately. */
  readonly isDue: boolean
}

export interface DocumentsOptions {
  /** Behind the memory; outlives the process. */
  readonly cache: MetadataCache
  readonly memoryBytes: number
  /** Time that a document of a URL is in date. */
  readonly freshForMs: number
  /** Pause after a failure, doubled with each further one up to a day. */
  readonly retryAfterMs: number
  readonly now: () => number
}

/** Documents by address: in memory, bounded, and behind it the cache that outlives the process. */
export interface Documents {
  /** @remarks Never rejects. Look-ups of one turn are read together, in portions. */
  find(address: RemoteAddress): Promise<Finding>
  remember(address: RemoteAddress, document: Document & FetchedText): void
  /** @remarks Never rejects. A document that was had before stays, wherever it is remembered. */
  rememberFailure(address: RemoteAddress): Promise<void>
}

export interface FetchedText {
  readonly body: Uint8Array
  /** It was held against its content address. */
  readonly isProven: boolean
}

interface Entry {
  readonly document?: Document & { readonly fetchedAtMs: number; readonly isProven: boolean }
  readonly failure?: CachedFailure
}

/**
 * The content of a content address does not change; but where nobody could hold it against the address, a gateway may have
 * given a wrong one, and that must not last for ever.
 */
const unprovenFreshForMs = 7 * 24 * 60 * 60 * 1000
const longestRetryMs = 24 * 60 * 60 * 1000
/** Bytes of a memory entry besides its document. */
const entryOverheadBytes = 512
/** Read in one go: each may be 2 MiB. */
const portion = 16

export function createDocuments(options: DocumentsOptions): Documents {
  const { cache, memoryBytes, freshForMs, retryAfterMs, now } = options
  const memory = new BoundedMap<string, Entry>(memoryBytes)
  /** Keys that are not read yet, with their waiting readers. */
  const wanted = new Map<string, ((entry: Entry) => void)[]>()
  let isReading = false

  function judge({ document, failure }: Entry, address: RemoteAddress): Finding {
    const sinceFailure = failure === undefined ? Number.POSITIVE_INFINITY : now() - failure.atMs
    const pauseMs = Math.min(retryAfterMs * 2 ** Math.min((failure?.count ?? 1) - 1, 20), longestRetryMs)
    // A clock that was put back must not stretch any of this.
    const isPaused = sinceFailure >= 0 && sinceFailure < pauseMs
    if (document === undefined) return { lookup: isPaused ? 'negative' : 'missing', isDue: !isPaused }
    const age = now() - document.fetchedAtMs
    const limit = address.contentAddressed ? Math.max(unprovenFreshForMs, freshForMs) : freshForMs
    const isFresh = document.isProven || (age >= 0 && age < limit)
    return isFresh
      ? { lookup: 'fresh', document, isDue: false }
      : { lookup: 'stale', document, isDue: !isPaused }
  }

  /** Reads the wanted keys in portions, one at a time, so that the slices of several do not add up. */
  async function readWanted(): Promise<void> {
    const checkYield = createYielder()
    while (wanted.size > 0) {
      const part = firstOf(wanted, portion)
      for (const [key] of part) wanted.delete(key)
      const records = await cache
        .read(part.map(([key]) => key))
        .catch(() => new Map<string, MetadataRecord>())
      for (const [key, tell] of part) {
        await checkYield()
        // Something newer may have come meanwhile.
        const entry = memory.get(key) ?? entryOf(records.get(key))
        keep(key, entry)
        for (const each of tell) each(entry)
      }
    }
    isReading = false
  }

  function look(key: string): Promise<Entry> {
    const known = memory.get(key)
    if (known !== undefined || !cache.isWorking()) return Promise.resolve(known ?? {})
    return new Promise(resolve => {
      if (!isReading) setImmediate(readWanted)
      isReading = true
      const others = wanted.get(key)
      if (others === undefined) wanted.set(key, [resolve])
      else others.push(resolve)
    })
  }

  function keep(key: string, entry: Entry): void {
    if (entry.document === undefined && entry.failure === undefined) return
    memory.set(key, entry, entryOverheadBytes + key.length + (entry.document?.weight ?? 0))
  }

  return {
    async find(address) {
      return judge(await look(address.key), address)
    },
    remember(address, { body, isProven, ...document }) {
      const fetchedAtMs = now()
      keep(address.key, { document: { ...document, fetchedAtMs, isProven } })
      cache.saveDocument(kindOf(address), address.key, { body, fetchedAtMs, isProven })
    },
    async rememberFailure(address) {
      const known = await look(address.key)
      const failure = { count: (known.failure?.count ?? 0) + 1, atMs: now() }
      keep(address.key, { ...known, failure })
      cache.saveFailure(kindOf(address), address.key, failure)
    }
  }
}

function firstOf<T>(items: Iterable<T>, count: number): readonly T[] {
  const first: T[] = []
  for (const item of items) if (first.push(item) === count) break
  return first
}

function kindOf(address: RemoteAddress): MetadataKind {
  return address.contentAddressed ? 'content' : 'url'
}

/** Reads a stored record; a damaged one is no document. */
function entryOf(record: MetadataRecord | undefined): Entry {
  const failure = record?.failure === undefined ? {} : { failure: record.failure }
  if (record?.document === undefined) return failure
  const { body, fetchedAtMs, isProven } = record.document
  if (pictureBodyIs(body)) return { ...failure, document: { ...pictureDocument, fetchedAtMs, isProven } }
  try {
    const data = readJsonObject(body)
    return { ...failure, document: { data, weight: weighObject(data, body.length), fetchedAtMs, isProven } }
  } catch {
    return failure
  }
}

function pictureBodyIs(body: Uint8Array): boolean {
  return body.length === pictureBody.length && Buffer.compare(body, pictureBody) === 0
}
