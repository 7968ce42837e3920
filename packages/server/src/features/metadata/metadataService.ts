import { setMaxListeners } from 'node:events'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type MetadataCache, noMetadataCache } from '@chain-data/index'
import type { MetadataRequest, TokenMetadata } from '../../model/documents.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { createYielder } from '../../platform/concurrency/pause.ts'
import { readAllowHosts } from './checkUrl.ts'
import { createDocumentFetcher } from './createDocumentFetcher.ts'
import { createDocuments, type Document, pictureDocument } from './documents.ts'
import { FetchQueue, type FetchQueueLimits, type Line, type Work } from './FetchQueue.ts'
import type { GuardedFetch } from './guardedFetch.ts'
import { createHostHealth } from './hostHealth.ts'
import { isOurs, isThrottled, metadataFailure } from './metadataFailure.ts'
import type { MetadataFigures } from './metadataFigures.ts'
import { readInlineObject } from './readJsonObject.ts'
import { imageOf, resolveImage } from './resolveImage.ts'
import { type Gateways, type RemoteAddress, resolveUri } from './resolveUri.ts'

export interface MetadataServiceOptions {
  readonly guardedFetch: GuardedFetch
  readonly gateways: Gateways
  /** The same list as the fetcher's: images of these hosts may be plain http. */
  readonly allowHosts?: readonly string[]
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

/** Reads token metadata from untrusted places. Nothing here ever fails a call. */
export interface MetadataService {
  /**
   * Reads many documents at once.
   * @param options.budgetMs - the longest this call waits; 3 s by default (spec/openrpc.json, x-limits). A later answer
   *   still fills the cache.
   * @param options.signal - ends the wait earlier.
   * @returns in the order of `requests`; absent for an unusable URI, a failure (remembered) and what is no JSON object, and
   *   where nothing came in time, or what came does not fit into 64 MiB of memory in all. Documents inside URIs are read in
   *   the order of `requests`, as long as there are time and room.
   */
  readAll(
    requests: readonly MetadataRequest[],
    options?: { readonly budgetMs?: number; readonly signal?: AbortSignal }
  ): Promise<readonly (TokenMetadata | undefined)[]>
  figures(): MetadataFigures
  /** Cuts off every fetch under way; later reads find nothing. */
  close(): void
}

/** Memory that the documents of one call may take, about. */
const maxWeightPerCall = 64 * 1024 * 1024
/** A fetch whose caller has long gone is still worth having, but not for hours. */
const patienceMs = 120_000

/**
 * Known documents are returned at once, also past their date: then they are fetched anew after the answer. A document
 * proven by its content address is never fetched again. A failure holds for a minute, twice as long each further time, at
 * most a day; our own overload or end is never held against an address.
 */
export function createMetadataService(options: MetadataServiceOptions): MetadataService {
  const { guardedFetch, gateways, cache = noMetadataCache, now = Date.now } = options
  const allowHosts = readAllowHosts(options.allowHosts ?? [])
  const limits = { total: 32, perHost: 4, waiting: 4096, patienceMs, ...options.concurrency }
  const queue = new FetchQueue(limits)
  const background = queue.openLine()
  const lookups = { fresh: 0, stale: 0, negative: 0, missing: 0 }
  const fetches: Record<string, number> = {}
  let fetchedBytes = 0
  const documents = createDocuments({
    cache,
    memoryBytes: options.cacheBytes ?? 64 * 1024 * 1024,
    freshForMs: options.freshForMs ?? 60 * 60 * 1000,
    retryAfterMs: options.retryAfterMs ?? 60 * 1000,
    now
  })
  const fetchDocument = createDocumentFetcher({
    guardedFetch,
    queue,
    health: createHostHealth(now),
    staggerMs: options.gatewayStaggerMs ?? 500,
    perHost: limits.perHost,
    onFetched(outcome, bytes) {
      fetches[outcome] = (fetches[outcome] ?? 0) + 1
      fetchedBytes += bytes
    }
  })
  const underWay = new Map<string, { readonly work: Work; readonly done: Promise<Document | undefined> }>()
  const closing = new AbortController()
  // Each fetch under way listens; Node 20 would call more than ten a leak.
  setMaxListeners(0, closing.signal)

  /** Remembered, under way already, or fetched now. Never rejects. */
  async function load(address: RemoteAddress, line: Line): Promise<Document | undefined> {
    const { lookup, document, isDue } = await documents.find(address)
    lookups[lookup]++
    // Never rejects.
    if (lookup === 'stale' && isDue) fetchOnce(address, background).catch(() => {})
    return lookup === 'missing' ? fetchOnce(address, line) : document
  }

  function fetchOnce(address: RemoteAddress, line: Line): Promise<Document | undefined> {
    const already = underWay.get(address.key)
    if (already !== undefined) {
      already.work.alsoFor(line)
      return already.done
    }
    const work = queue.openWork(line)
    const done = fetchAndRemember(address, work).finally(() => underWay.delete(address.key))
    underWay.set(address.key, { work, done })
    return done
  }

  async function fetchAndRemember(address: RemoteAddress, work: Work): Promise<Document | undefined> {
    try {
      const document = await fetchDocument(address, work, closing.signal)
      documents.remember(address, document)
      const { body: _, isProven: __, ...shown } = document
      return shown
    } catch (error) {
      const isItsOwn = !closing.signal.aborted && !isOurs(error) && !isThrottled(error)
      if (isItsOwn) await documents.rememberFailure(address)
      return undefined
    }
  }

  /**
   * The document behind a URI; never rejects.
   * @param readsInline - false: documents inside URIs are left alone, because reading them holds up everybody.
   */
  async function find(
    { uri, tokenId }: MetadataRequest,
    line: Line,
    readsInline = true
  ): Promise<Document | undefined> {
    const resolved = resolveUri(uri, gateways, tokenId === undefined ? {} : { tokenId })
    if (resolved.kind === 'unusable' || closing.signal.aborted) return undefined
    if (resolved.kind === 'remote') return load(resolved, line)
    if (resolved.content.mediaType.startsWith('image/')) return pictureDocument
    if (!readsInline) return undefined
    try {
      return readInlineObject(resolved.content)
    } catch {
      return undefined
    }
  }

  function show({ data, isPicture }: Document, { uri, tokenId }: MetadataRequest): TokenMetadata {
    const imageOptions = { gateways, allowHosts, ...(tokenId === undefined ? {} : { tokenId }) }
    return { data, image: isPicture ? resolveImage(uri, imageOptions) : imageOf(data, imageOptions) }
  }

  return {
    async readAll(requests, { budgetMs = 3_000, signal } = {}) {
      const budget = openBudget(signal, budgetMs)
      try {
        const line = queue.openLine()
        const checkYield = createYielder()
        const shown: Promise<TokenMetadata | undefined>[] = []
        let readWeight = 0
        let shownWeight = 0
        for (const request of requests) {
          await checkYield()
          const found = find(request, line, !budget.isOver() && readWeight < maxWeightPerCall)
          shown.push(
            budget.orNothing(found).then(document => {
              if (document === undefined) return undefined
              readWeight += document.weight
              // One that is too large leaves its room to smaller ones.
              if (shownWeight + document.weight > maxWeightPerCall) return undefined
              shownWeight += document.weight
              return show(document, request)
            })
          )
        }
        return await Promise.all(shown)
      } finally {
        budget.end()
      }
    },

    figures: () => ({
      lookups: { ...lookups },
      fetches: { ...fetches },
      fetchedBytes,
      running: queue.running(),
      waiting: queue.waiting(),
      isPersistent: cache.isWorking()
    }),

    close() {
      closing.abort(metadataFailure('ABORTED', 'The service is closed'))
    }
  }
}

/**
 * Bounds the time that one call waits, for all it wants together.
 *
 * @param signal - ends it at once.
 * @remarks One listener for any number of works: a signal takes longer for each further one.
 */
function openBudget(signal: AbortSignal | undefined, budgetMs: number) {
  const scope = openAbortScope([signal])
  scope.setDeadline(budgetMs)
  // One turn later, so that what is there already is given out even when no time is left.
  const giveUp = () => nextTurn(undefined)
  const over = new Promise<undefined>(resolve => {
    scope.signal.addEventListener('abort', () => giveUp().then(resolve), { once: true })
  })
  return {
    /** Returns nothing once the budget is over; `work` goes on and must not reject. */
    orNothing: <T>(work: Promise<T | undefined>): Promise<T | undefined> =>
      Promise.race([work, scope.signal.aborted ? giveUp() : over]),
    isOver: () => scope.signal.aborted,
    end: () => scope.release()
  }
}
