import { BoundedMap } from '../platform/boundedMap.ts'
import { MetadataError } from '../platform/errors.ts'
import { readAllowHosts } from './checkUrl.ts'
import { createFetchQueue } from './fetchQueue.ts'
import type { GuardedFetch } from './guardedFetch.ts'
import { type JsonObject, readJsonObject } from './readJsonObject.ts'
import { imageOf } from './resolveImage.ts'
import { type Gateways, resolveUri } from './resolveUri.ts'

export interface TokenMetadata {
  /** Verbatim: unknown keys, nulls and all. */
  readonly data: JsonObject
  /** https URL or `data:image/` URI; "" where the object names no usable picture. */
  readonly image: string
}

export interface MetadataRequest {
  /** As on chain. */
  readonly uri: string
  /** ERC-1155 only: replaces `{id}`. */
  readonly tokenId?: bigint
}

export interface MetadataServiceOptions {
  readonly guardedFetch: GuardedFetch
  readonly gateways: Gateways
  /** The same list as the fetcher's: images of these hosts may be plain http. */
  readonly allowHosts?: readonly string[]
  /** Fetches at once; per host; and waiting for their turn. */
  readonly concurrency?: { readonly total?: number; readonly perHost?: number; readonly waiting?: number }
  /** Bound on what is remembered, in bytes of metadata text. */
  readonly cacheBytes?: number
  /** How long an answer of a URL that is no content address holds. */
  readonly freshForMs?: number
  /** How long a failure holds; doubled with each further one, up to 24 hours. */
  readonly retryAfterMs?: number
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** Reads token metadata from untrusted places. Nothing here ever fails a call. */
export interface MetadataService {
  /**
   * @param options.signal - stops the waiting, not the fetch: a late answer still fills the cache.
   * @returns absent while unavailable: unusable URI, failure (remembered), no JSON object, given up.
   */
  read(
    uri: string,
    options?: { readonly tokenId?: bigint; readonly signal?: AbortSignal }
  ): Promise<TokenMetadata | undefined>
  /**
   * Reads many at once.
   * @param options.budgetMs - the longest this call waits; 3 s by default (spec/openrpc.json, x-limits).
   * @returns in the order of `requests`; absent where nothing came in time or within 32 MiB of text in all.
   */
  readAll(
    requests: readonly MetadataRequest[],
    options?: { readonly budgetMs?: number; readonly signal?: AbortSignal }
  ): Promise<readonly (TokenMetadata | undefined)[]>
  /** Cuts off every fetch under way; later reads find nothing. */
  close(): void
}

/** A document as fetched: how it is shown depends on who asks (`{id}` in the image). */
interface Document {
  readonly data: JsonObject
  readonly bytes: number
}

interface CacheEntry {
  /** Absent: the last attempt failed. */
  readonly document?: Document
  readonly failures: number
  readonly validUntilMs: number
}

const longestRetryMs = 24 * 60 * 60 * 1000
const maxBytesPerCall = 32 * 1024 * 1024
/** What a cache entry weighs beside its text. */
const entryOverheadBytes = 512

export function createMetadataService(options: MetadataServiceOptions): MetadataService {
  const { guardedFetch, gateways, now = Date.now } = options
  const allowHosts = readAllowHosts(options.allowHosts ?? [])
  const freshForMs = options.freshForMs ?? 60 * 60 * 1000
  const retryAfterMs = options.retryAfterMs ?? 60 * 1000
  const enqueue = createFetchQueue({ total: 32, perHost: 4, waiting: 4096, ...options.concurrency })
  const cache = new BoundedMap<string, CacheEntry>(options.cacheBytes ?? 64 * 1024 * 1024)
  const underWay = new Map<string, Promise<Document | undefined>>()
  const closing = new AbortController()

  /** Cached, or under way already, or fetched now. Never rejects. */
  async function load(urls: readonly string[], contentAddressed: boolean): Promise<Document | undefined> {
    const key = urls.join(' ')
    const known = cache.get(key)
    if (known !== undefined && now() < known.validUntilMs) return known.document
    let work = underWay.get(key)
    if (work === undefined) {
      work = fetchAndRemember(key, urls, contentAddressed).finally(() => underWay.delete(key))
      underWay.set(key, work)
    }
    return work
  }

  async function fetchAndRemember(
    key: string,
    urls: readonly string[],
    contentAddressed: boolean
  ): Promise<Document | undefined> {
    const failures = cache.get(key)?.failures ?? 0
    try {
      const document = await fetchFirst(urls)
      const validUntilMs = contentAddressed ? Number.POSITIVE_INFINITY : now() + freshForMs
      remember(key, { document, failures: 0, validUntilMs })
      return document
    } catch (error) {
      // Our own overload or end says nothing about the address.
      if (error instanceof MetadataError && isOurs(error)) return undefined
      const pauseMs = Math.min(retryAfterMs * 2 ** Math.min(failures, 20), longestRetryMs)
      remember(key, { failures: failures + 1, validUntilMs: now() + pauseMs })
      return undefined
    }
  }

  function remember(key: string, entry: CacheEntry): void {
    cache.set(key, entry, entryOverheadBytes + key.length + (entry.document?.bytes ?? 0))
  }

  async function fetchFirst(urls: readonly string[]): Promise<Document> {
    let failure: unknown
    for (const url of urls) {
      try {
        return await enqueue(hostOf(url), async () => {
          const { body } = await guardedFetch(url, { signal: closing.signal })
          return { data: readJsonObject(body), bytes: body.length }
        })
      } catch (error) {
        failure = error
      }
    }
    throw failure
  }

  /** The document behind a URI; never rejects. */
  async function find({ uri, tokenId }: MetadataRequest): Promise<Document | undefined> {
    const resolved = resolveUri(uri, gateways, tokenId === undefined ? {} : { tokenId })
    if (resolved.kind === 'unusable' || closing.signal.aborted) return undefined
    if (resolved.kind === 'remote') return load(resolved.urls, resolved.contentAddressed)
    try {
      const { bytes, charset } = resolved.content
      return { data: readJsonObject(bytes, charset), bytes: bytes.length }
    } catch {
      return undefined
    }
  }

  function show({ data }: Document, { tokenId }: MetadataRequest): TokenMetadata {
    const image = imageOf(data, { gateways, allowHosts, ...(tokenId === undefined ? {} : { tokenId }) })
    return { data, image }
  }

  return {
    async read(uri, { tokenId, signal } = {}) {
      const request = tokenId === undefined ? { uri } : { uri, tokenId }
      const document = await untilAborted(find(request), signal)
      return document && show(document, request)
    },

    async readAll(requests, { budgetMs = 3_000, signal } = {}) {
      const budget = new AbortController()
      const stop = () => budget.abort()
      const timer = setTimeout(stop, budgetMs)
      if (signal?.aborted) stop()
      signal?.addEventListener('abort', stop, { once: true })
      try {
        const documents = await Promise.all(
          requests.map(request => untilAborted(find(request), budget.signal))
        )
        let bytes = 0
        return documents.map((document, i) => {
          const request = requests[i]
          if (document === undefined || request === undefined) return undefined
          bytes += document.bytes
          return bytes > maxBytesPerCall ? undefined : show(document, request)
        })
      } finally {
        clearTimeout(timer)
        signal?.removeEventListener('abort', stop)
      }
    },

    close() {
      closing.abort()
    }
  }
}

function isOurs(error: MetadataError): boolean {
  return error.context.reason === 'BUSY' || error.context.reason === 'ABORTED'
}

/** Hosts share their limit whatever their scheme; a text that is no URL fails in the fetch. */
function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : ''
}

/** Absent once `signal` fires; `work` goes on and must not reject. */
function untilAborted<T>(
  work: Promise<T | undefined>,
  signal: AbortSignal | undefined
): Promise<T | undefined> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    // One turn later, so that what is there already is given out even when no time is left.
    const stop = () => setImmediate(resolve, undefined)
    if (signal.aborted) stop()
    signal.addEventListener('abort', stop, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop))
  })
}
