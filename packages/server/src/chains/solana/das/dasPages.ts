import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError, NodeContradictionError, NodeRpcError } from '../../../platform/errors.ts'
import { createHttpUpstream, type HttpUpstream, UpstreamError } from '../../../platform/httpUpstream.ts'
import type { NftSourceQuery } from '../holdings.ts'

/** Where a page begins: a number from 1, or what the page before handed out. */
export type DasPlace = { readonly page: number } | { readonly cursor: string }

/** One page of `getAssetsByOwner`; its entries are not looked at yet. */
export interface DasPage {
  readonly items: readonly unknown[]
  /** Assets that the indexer knows of and could not show. */
  readonly errors: readonly unknown[]
  /** Most entries of one page, as the indexer understood it. */
  readonly limit: number
  /** Where the next page begins; absent: by number. */
  readonly cursor?: string
}

export interface DasPages {
  /**
   * @throws {UpstreamError} no answer in time, or none of the documented shape.
   * @throws {NodeRpcError} the indexer answered an error.
   * @throws {NodeContradictionError} the answer is for another question.
   * @remarks One call; a second one after a failure that may pass.
   */
  read(place: DasPlace, query: NftSourceQuery): Promise<DasPage>
}

/** The most that the indexers in use give out at once. */
const PAGE_LIMIT = 1_000
const ATTEMPTS = 2
const pauseMs = 250
const longestPauseMs = 2_000

/**
 * Pages of an indexer that speaks the Digital Asset Standard API.
 *
 * @param options.url - may hold a key: it never enters a message.
 * @throws {ConfigError} when the URL cannot be used.
 */
export function createDasPages(options: {
  readonly url: string
  /** Bound on one page. Default 16 MiB. */
  readonly maxResponseBytes?: number
}): DasPages {
  const { maxResponseBytes = 16 * 1024 * 1024 } = options
  const upstream = openUpstream(options.url, maxResponseBytes)
  let lastId = 0

  async function ask(place: DasPlace, { accountAddress, signal, deadlineMs }: NftSourceQuery) {
    const id = `${++lastId}`
    const params = { ownerAddress: accountAddress, limit: PAGE_LIMIT, ...place }
    const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'getAssetsByOwner', params })
    const timer = AbortSignal.timeout(Math.max(0, Math.ceil(deadlineMs - Date.now())))
    try {
      const { status, text } = await upstream.post(body, AbortSignal.any([signal, timer]))
      return readAnswer(status, text, id)
    } catch (error) {
      signal.throwIfAborted()
      if (timer.aborted) throw new UpstreamError('the DAS endpoint did not answer in time', 'timedOut')
      throw error
    }
  }

  return {
    async read(place, query) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await ask(place, query)
        } catch (error) {
          if (!(error instanceof UpstreamError) || attempt === ATTEMPTS) throw error
          const waitMs = Math.max(pauseMs, error.retryAfterMs ?? 0)
          if (waitMs > longestPauseMs || Date.now() + waitMs >= query.deadlineMs) throw error
          await sleep(waitMs, undefined, { signal: query.signal }).catch(() => query.signal.throwIfAborted())
        }
      }
    }
  }
}

function openUpstream(url: string, maxResponseBytes: number): HttpUpstream {
  try {
    return createHttpUpstream({ url, position: 1, maxResponseBytes })
  } catch {
    // That message would speak of rpcUrls.
    throw new ConfigError('dasUrl cannot be used; expected http://... or https://...')
  }
}

function readAnswer(status: number, text: string, id: string): DasPage {
  const answer = parseRecord(text)
  if (answer === undefined) throw malformed(`no JSON-RPC (HTTP ${status})`)
  // Asked first: an indexer that does not understand a question may answer it without its id.
  if (isRecord(answer.error)) {
    const code = typeof answer.error.code === 'number' ? answer.error.code : 0
    // Its own words may quote its URL or the request: only the code is passed on.
    throw new NodeRpcError(`the DAS endpoint answered error ${code}`, code, undefined)
  }
  if (answer.id !== id) throw new NodeContradictionError('the DAS endpoint answered another question')
  const { result } = answer
  if (!isRecord(result) || !Array.isArray(result.items)) throw malformed('no list of assets')
  const { items, errors, limit, cursor } = result
  return {
    items,
    errors: Array.isArray(errors) ? errors : [],
    limit: isPositive(limit) ? Math.min(limit, PAGE_LIMIT) : PAGE_LIMIT,
    ...(typeof cursor === 'string' && cursor !== '' ? { cursor } : {})
  }
}

function malformed(what: string): UpstreamError {
  return new UpstreamError(`the DAS endpoint answered ${what}`, 'malformed')
}

function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
