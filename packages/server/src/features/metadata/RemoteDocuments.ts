import { setMaxListeners } from 'node:events'
import { type MetadataCache, noMetadataCache } from '@chain-data/index'
import { createDocumentFetcher, type FetchDocument } from './createDocumentFetcher.ts'
import { createDocuments, type Document, type Documents } from './documents.ts'
import { FetchQueue, type FetchQueueLimits, type Line, type Work } from './FetchQueue.ts'
import type { GuardedFetch } from './guardedFetch.ts'
import { createHostHealth } from './hostHealth.ts'
import { isOurs, isThrottled, metadataFailure } from './metadataFailure.ts'
import type { MetadataFigures } from './metadataFigures.ts'
import type { RemoteAddress } from './resolveUri.ts'

export interface RemoteDocumentsOptions {
  readonly guardedFetch: GuardedFetch
  /** Fetches at once, per host, and queued. 32, 4 and 4096 by default. */
  readonly concurrency?: Partial<Omit<FetchQueueLimits, 'patienceMs'>>
  /** The cache that outlives the process; absent: none. The opener closes it, after the service. */
  readonly cache?: MetadataCache
  /** Bound on documents in memory, in bytes as `weighObject` counts them. 64 MiB by default. */
  readonly cacheBytes?: number
  /** Time that an answer of a URL that is no content address is in date. An hour by default. */
  readonly freshForMs?: number
  /** Time that a failure holds; doubled with each further one, up to 24 hours. A minute by default. */
  readonly retryAfterMs?: number
  /** Delay after which the next gateway is asked as well. Half a second by default. */
  readonly gatewayStaggerMs?: number
  /** `Date.now`, replaced in tests. */
  readonly now?: () => number
}

/** A fetch whose caller has long gone is still worth having, but not for hours. */
const patienceMs = 120_000

/**
 * Documents behind addresses. Known ones are returned at once, also past their date: then they are fetched anew after the
 * answer. A document proven by its content address is never fetched again. A failure holds for a minute, twice as long each
 * further time, at most a day; our own overload or end is never held against an address.
 */
export class RemoteDocuments {
  readonly #cache: MetadataCache
  readonly #queue: FetchQueue
  /** The line of what is fetched anew after an answer. */
  readonly #background: Line
  readonly #documents: Documents
  readonly #fetchDocument: FetchDocument
  readonly #underWay = new Map<
    string,
    { readonly work: Work; readonly done: Promise<Document | undefined> }
  >()
  readonly #closing = new AbortController()
  readonly #lookups = { fresh: 0, stale: 0, negative: 0, missing: 0 }
  readonly #fetches: Record<string, number> = {}
  #fetchedBytes = 0

  constructor(options: RemoteDocumentsOptions) {
    const { guardedFetch, cache = noMetadataCache, now = Date.now } = options
    const limits = { total: 32, perHost: 4, waiting: 4096, patienceMs, ...options.concurrency }
    this.#cache = cache
    this.#queue = new FetchQueue(limits)
    this.#background = this.#queue.openLine()
    this.#documents = createDocuments({
      cache,
      memoryBytes: options.cacheBytes ?? 64 * 1024 * 1024,
      freshForMs: options.freshForMs ?? 60 * 60 * 1000,
      retryAfterMs: options.retryAfterMs ?? 60 * 1000,
      now
    })
    this.#fetchDocument = createDocumentFetcher({
      guardedFetch,
      queue: this.#queue,
      health: createHostHealth(now),
      staggerMs: options.gatewayStaggerMs ?? 500,
      perHost: limits.perHost,
      onFetched: (outcome, bytes) => {
        this.#fetches[outcome] = (this.#fetches[outcome] ?? 0) + 1
        this.#fetchedBytes += bytes
      }
    })
    // Each fetch under way listens; Node 20 would call more than ten a leak.
    setMaxListeners(0, this.#closing.signal)
  }

  /** Opens the queue of one caller. */
  openLine(): Line {
    return this.#queue.openLine()
  }

  /** Remembered, under way already, or fetched now. Never rejects. */
  async load(address: RemoteAddress, line: Line): Promise<Document | undefined> {
    const { lookup, document, isDue } = await this.#documents.find(address)
    this.#lookups[lookup]++
    // Never rejects.
    if (lookup === 'stale' && isDue) this.#fetchOnce(address, this.#background).catch(() => {})
    return lookup === 'missing' ? this.#fetchOnce(address, line) : document
  }

  figures(): MetadataFigures {
    return {
      lookups: { ...this.#lookups },
      fetches: { ...this.#fetches },
      fetchedBytes: this.#fetchedBytes,
      running: this.#queue.running(),
      waiting: this.#queue.waiting(),
      isPersistent: this.#cache.isWorking()
    }
  }

  isClosed(): boolean {
    return this.#closing.signal.aborted
  }

  /** Cuts off every fetch under way. */
  close(): void {
    this.#closing.abort(metadataFailure('ABORTED', 'The service is closed'))
  }

  #fetchOnce(address: RemoteAddress, line: Line): Promise<Document | undefined> {
    const already = this.#underWay.get(address.key)
    if (already !== undefined) {
      already.work.alsoFor(line)
      return already.done
    }
    const work = this.#queue.openWork(line)
    const done = this.#fetchAndRemember(address, work).finally(() => this.#underWay.delete(address.key))
    this.#underWay.set(address.key, { work, done })
    return done
  }

  async #fetchAndRemember(address: RemoteAddress, work: Work): Promise<Document | undefined> {
    try {
      const document = await this.#fetchDocument(address, work, this.#closing.signal)
      this.#documents.remember(address, document)
      const { body: _, isProven: __, ...shown } = document
      return shown
    } catch (error) {
      const isItsOwn = !this.isClosed() && !isOurs(error) && !isThrottled(error)
      if (isItsOwn) await this.#documents.rememberFailure(address)
      return undefined
    }
  }
}
