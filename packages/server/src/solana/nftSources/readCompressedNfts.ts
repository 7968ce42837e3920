import { createCountedTurns } from '../../nodes/solana/createCountedTurns.ts'
import { parseSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { ChainDataError, NodeContradictionError } from '../../platform/errors.ts'
import type { IncompleteHolding, NftHolding, NftSourceQuery } from '../holdings/holdings.ts'
import type { ReadNfts } from './nftSource.ts'
import { readDasAsset } from './dasAsset.ts'
import type { DasPage, DasPages, DasPlace } from './dasPages.ts'

/** Most pages of one account: 20,000 entries, compressed or not. */
const MAX_PAGES = 20
/** Entries read before other work gets a turn. */
const ENTRIES_PER_TURN = 50

/**
 * The compressed NFTs of an account, from an indexer. It lists all assets; only compressed ones are taken that are not
 * burnt, since the chain itself tells about the others.
 *
 * What was read before a page failed is kept; `failure` then tells why it ended.
 *
 * @throws what {@link DasPages} throws for the first page.
 * @throws {NodeContradictionError} an NFT of somebody else, on whatever page: then nothing is kept.
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
  const turns = createCountedTurns(ENTRIES_PER_TURN)

  /** Takes a page in; tells whether there was anything new on it. */
  async function take(page: DasPage): Promise<boolean> {
    const known = seen.size
    for (const item of page.items) {
      const pause = turns.step()
      if (pause !== undefined) await pause
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

  let place: DasPlace = { page: 1 }
  for (let count = 1; count <= MAX_PAGES; count++) {
    let page: DasPage
    try {
      page = await pages.read(place, query)
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
    place = page.cursor === undefined ? { page: count + 1 } : { cursor: page.cursor }
  }
  incomplete.push({ address: accountAddress, reason: 'COMPRESSED_CUT_OFF' })
  return finish()
}

function idOf(error: unknown): string | undefined {
  const id = typeof error === 'object' && error !== null && 'id' in error ? error.id : undefined
  return typeof id === 'string' && parseSolanaAddress(id) !== undefined ? id : undefined
}
