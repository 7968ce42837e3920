import { UpstreamError } from '../../nodes/httpUpstream.ts'
import { exchange, type NodeResult, wordCall } from '../../nodes/solana/exchange.ts'
import { type Extent, findElements, findMembers, JsonRefusal } from '../../nodes/solana/jsonExtents.ts'
import { createSolanaUpstreams, type SolanaUpstreams } from '../../nodes/solana/upstreams.ts'
import { ConfigError } from '../../platform/errors.ts'
import type { NftSourceQuery } from '../holdings/holdings.ts'

/** Where a page begins: a number from 1, or what the page before handed out. */
export type DasPlace = { readonly page: number } | { readonly cursor: string }

/** One page of `getAssetsByOwner`; its entries are not looked at yet. */
export interface DasPage {
  readonly items: readonly unknown[]
  /** Assets that the indexer knows of and could not show. */
  readonly errors: readonly unknown[]
  /** Most entries of one page, as the indexer understood it, but not more than was asked for; absent: not told. */
  readonly limit?: number
  /** Where the next page begins; absent: by number. */
  readonly cursor?: string
}

export interface DasPages {
  /**
   * @throws {NodeUnavailableError} no answer in time, or none of the documented shape.
   * @throws {NodeRpcError} the indexer answered an error.
   * @remarks One call; a second one after a failure that may pass. Entries are parsed one by one, so that a large page
   *   does not hold up others.
   */
  read(place: DasPlace, query: NftSourceQuery): Promise<DasPage>
}

/** The most that the indexers in use give out at once. */
const PAGE_LIMIT = 1_000
const METHOD = 'getAssetsByOwner'

/**
 * Pages of an indexer that speaks the Digital Asset Standard API.
 *
 * @param options.url - may hold a key: it never enters a message.
 * @param options.maxResponseBytes - bound on one page. Default 16 MiB.
 * @throws {ConfigError} when the URL cannot be used.
 */
export function createDasPages(options: {
  readonly url: string
  readonly maxResponseBytes?: number
}): DasPages {
  const upstreams = openUpstreams(options.url, options.maxResponseBytes ?? 16 * 1024 * 1024)
  return {
    read(place, { accountAddress, signal, deadlineMs }) {
      const call = wordCall(METHOD, { ownerAddress: accountAddress, limit: PAGE_LIMIT, ...place })
      return upstreams.ask(
        METHOD,
        async (http, within) => readPage(await exchange(http, call, within), http.name),
        {
          signal,
          deadlineMs
        }
      )
    }
  }
}

function openUpstreams(url: string, maxResponseBytes: number): SolanaUpstreams {
  try {
    // The API knows no commitment: nothing of it is sent.
    return createSolanaUpstreams({ rpcUrls: [url], commitment: 'confirmed', maxRounds: 2, maxResponseBytes })
  } catch {
    // That message would speak of rpcUrls.
    throw new ConfigError('dasUrl cannot be used; expected http://... or https://...')
  }
}

async function readPage(answer: NodeResult, name: string): Promise<DasPage> {
  try {
    const { members } = await findMembers(answer, answer.result.start)
    const items = await readElements(answer, members.get('items'))
    const errors = parse(answer, members.get('errors'))
    const limit = parse(answer, members.get('limit'))
    const cursor = parse(answer, members.get('cursor'))
    return {
      items,
      errors: Array.isArray(errors) ? errors : [],
      ...(isPositive(limit) ? { limit: Math.min(limit, PAGE_LIMIT) } : {}),
      ...(typeof cursor === 'string' && cursor !== '' ? { cursor } : {})
    }
  } catch (error) {
    if (!(error instanceof JsonRefusal || error instanceof SyntaxError)) throw error
    throw new UpstreamError(`${name} answered no list of assets`, 'malformed')
  }
}

/** @throws {JsonRefusal} no list. */
async function readElements(answer: NodeResult, list: Extent | undefined): Promise<readonly unknown[]> {
  if (list === undefined) throw new JsonRefusal('items', answer.result.start)
  const elements: unknown[] = []
  for await (const element of findElements(answer, list.start)) elements.push(parse(answer, element))
  return elements
}

function parse({ text }: NodeResult, extent: Extent | undefined): unknown {
  return extent && JSON.parse(text.slice(extent.start, extent.end))
}

function isPositive(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0
}
