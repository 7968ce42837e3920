import { ChainDataError } from '@chain-data/index'
import { type Extent, findElements, findMembers, JsonRefusal } from '../../nodes/solana/jsonExtents.ts'
import { type NodeResult, wordCall } from '../../nodes/solana/jsonRpc.ts'
import { createSolanaNodes, type SolanaNodes } from '../../nodes/solana/nodes.ts'
import { parseSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { UpstreamError } from '../../nodes/upstreams/upstreamError.ts'
import { createYielder } from '../../platform/concurrency/pause.ts'
import { ConfigError, NodeContradictionError } from '../../platform/errors.ts'
import type { IncompleteHolding, NftHolding, NftSourceQuery, ReadNfts } from '../holdings/holdings.ts'
import { readDasAsset } from './dasAsset.ts'

/** Most pages of one account: 20,000 entries, compressed or not. */
const MAX_PAGES = 20
/** Longest wait for one page, a second try included. */
const PAGE_WAIT_MS = 2_000

/**
 * The compressed NFTs of an account, from an indexer. It lists all assets; only compressed ones are taken that are not
 * burnt, since the chain itself lists the others.
 *
 * What was read before a page failed is kept; `failure` then says why it ended.
 *
 * @throws what {@link DasPages} throws for the first page.
 * @throws {NodeContradictionError} an NFT of another account, on whatever page: then nothing is kept.
 * @remarks One call per 1,000 assets, one after the other, 20 at most. The pages are of no common moment: an asset
 *   that moves meanwhile may be listed or not.
 */
export async function readCompressedNfts(pages: DasPages, query: NftSourceQuery): Promise<ReadNfts> {
  const { accountAddress } = query
  const nfts = new Map<string, NftHolding>()
  const incomplete: IncompleteHolding[] = []
  const seen = new Set<string>()
  const finish = () => ({ nfts: [...nfts.values()], incomplete })
  const giveUp = (failure: ChainDataError) => {
    incomplete.push({ address: accountAddress, reason: 'COMPRESSED_UNAVAILABLE' })
    return { ...finish(), failure }
  }
  let hasUnnamed = false
  const checkYield = createYielder()

  /** Takes a page in; returns whether there was anything new on it. */
  async function take(page: DasPage): Promise<boolean> {
    const known = seen.size
    for (const item of page.items) {
      await checkYield()
      const entry = readDasAsset(item, accountAddress)
      const id = entry.kind === 'compressed' ? entry.nft.mint : entry.id
      if (id === undefined) hasUnnamed = true
      else if (!seen.has(id)) {
        seen.add(id)
        if (entry.kind === 'compressed') nfts.set(id, entry.nft)
        if (entry.kind === 'unreadable') incomplete.push({ address: id, reason: 'ASSET_UNREADABLE' })
      }
    }
    for (const error of page.errors) {
      const id = idOf(error)
      if (id === undefined) hasUnnamed = true
      else if (!seen.has(id)) {
        seen.add(id)
        incomplete.push({ address: id, reason: 'ASSET_UNREADABLE' })
      }
    }
    return seen.size > known
  }

  let start: DasStart = { page: 1 }
  for (let count = 1; count <= MAX_PAGES; count++) {
    let page: DasPage
    try {
      page = await pages.read(start, query)
    } catch (error) {
      query.signal.throwIfAborted()
      if (count === 1 || !(error instanceof ChainDataError)) throw error
      return giveUp(error)
    }
    const size = page.items.length + page.errors.length
    const hasNews = await take(page)
    // A short page is the last one only where the indexer has said what a full one is.
    if (size < (page.limit ?? 1)) {
      return hasUnnamed
        ? giveUp(new NodeContradictionError('the DAS endpoint lists assets without an id'))
        : finish()
    }
    if (!hasNews) return giveUp(new NodeContradictionError('the DAS endpoint gives the same page again'))
    start = page.cursor === undefined ? { page: count + 1 } : { cursor: page.cursor }
  }
  incomplete.push({ address: accountAddress, reason: 'COMPRESSED_CUT_OFF' })
  return finish()
}

function idOf(error: unknown): string | undefined {
  const id = typeof error === 'object' && error !== null && 'id' in error ? error.id : undefined
  return typeof id === 'string' && parseSolanaAddress(id) !== undefined ? id : undefined
}

/** The start of a page: a number from 1, or the cursor that the page before handed out. */
type DasStart = { readonly page: number } | { readonly cursor: string }

/** One page of `getAssetsByOwner`; its entries are not read yet. */
interface DasPage {
  readonly items: readonly unknown[]
  /** Assets that the indexer knows of and could not show. */
  readonly errors: readonly unknown[]
  /** Most entries of one page, as the indexer understood it, but not more than was asked for; absent: not reported. */
  readonly limit?: number
  /** The start of the next page; absent: by number. */
  readonly cursor?: string
}

type DasPages = ReturnType<typeof createDasPages>

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
export function createDasPages(options: { readonly url: string; readonly maxResponseBytes?: number }) {
  const nodes = openEndpoint(options.url, options.maxResponseBytes ?? 16 * 1024 * 1024)
  return {
    /**
     * @throws {NodeUnavailableError} no answer within two seconds, or none of the documented shape.
     * @throws {NodeRpcError} the indexer answered an error.
     * @remarks One call; a second one after a failure that may pass. Entries are parsed one by one, so that a large page
     *   does not hold up others.
     */
    read(start: DasStart, { accountAddress, signal, deadlineMs }: NftSourceQuery): Promise<DasPage> {
      const call = wordCall(METHOD, { ownerAddress: accountAddress, limit: PAGE_LIMIT, ...start })
      return nodes.ask(METHOD, async node => readPage(await node.send(call), node.name), {
        signal,
        deadlineMs: Math.min(deadlineMs, Date.now() + PAGE_WAIT_MS)
      })
    }
  }
}

function openEndpoint(url: string, maxResponseBytes: number): SolanaNodes {
  try {
    return createSolanaNodes({ rpcUrls: [url], maxAttempts: 2, maxResponseBytes })
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
