import { setImmediate as nextTurn } from 'node:timers/promises'
import type { MetadataRequest, TokenMetadata } from '../../model/documents.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { createYielder } from '../../platform/concurrency/pause.ts'
import { readAllowHosts } from './checkUrl.ts'
import { type Document, pictureDocument } from './documents.ts'
import type { Line } from './FetchQueue.ts'
import type { MetadataFigures } from './metadataFigures.ts'
import { RemoteDocuments, type RemoteDocumentsOptions } from './RemoteDocuments.ts'
import { readInlineObject } from './readJsonObject.ts'
import { imageOf, resolveImage } from './resolveImage.ts'
import { type Gateways, resolveUri } from './resolveUri.ts'

export interface MetadataServiceOptions extends RemoteDocumentsOptions {
  readonly gateways: Gateways
  /** The same list as the fetcher's: images of these hosts may be plain http. */
  readonly allowHosts?: readonly string[]
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

/** Reads documents inside URIs itself, and leaves those behind addresses to {@link RemoteDocuments}. */
export function createMetadataService(options: MetadataServiceOptions): MetadataService {
  const { gateways } = options
  const allowHosts = readAllowHosts(options.allowHosts ?? [])
  const remote = new RemoteDocuments(options)

  /**
   * The document behind a URI; never rejects.
   * @param readsInline - false: documents inside URIs are left alone, because reading them holds up everybody.
   */
  async function find(
    { uri, tokenId }: MetadataRequest,
    line: Line,
    readsInline: boolean
  ): Promise<Document | undefined> {
    const resolved = resolveUri(uri, gateways, tokenId === undefined ? {} : { tokenId })
    if (resolved.kind === 'unusable' || remote.isClosed()) return undefined
    if (resolved.kind === 'remote') return remote.load(resolved, line)
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
        const line = remote.openLine()
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

    figures: () => remote.figures(),
    close: () => remote.close()
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
