import type { ContractFactsReader } from './contractFacts.ts'
import { erc721UriCall } from './erc721.ts'
import { erc1155UriCall } from './erc1155.ts'
import {
  contractsOf,
  type HeldNft,
  type IncompleteHolding,
  labelOf,
  type OwnedCandidate
} from './heldAssets.ts'
import type { Multicall } from './multicall.ts'
import { readUri } from './tokenUri.ts'

/** Token URIs kept for one answer, in characters. */
const maxUriCharacters = 32 * 1024 * 1024
/** URIs read before their sizes are added up. */
const urisPerRound = 500

/** What is listed of the ERC-721 and ERC-1155 candidates. @see EvmHoldings.readHoldings for the rules */
export async function readNfts(
  multicall: Multicall,
  contractFacts: ContractFactsReader,
  owned: readonly OwnedCandidate[]
): Promise<{ readonly nfts: readonly HeldNft[]; readonly incomplete: readonly IncompleteHolding[] }> {
  const silent = owned.filter(({ ownership }) => ownership.kind === 'silent')
  const evidence = await contractFacts.read(multicall, contractsOf(silent), ['isErc721', 'isErc1155'])
  const incomplete: IncompleteHolding[] = []
  const held: { readonly item: Omit<HeldNft, 'tokenUri' | 'name' | 'symbol'> }[] = []
  for (const { contract: address, standard, tokenId, ownership } of owned) {
    if (standard === 'erc20' || tokenId === undefined) continue
    const facts = evidence.get(address)
    const speaksForIt = standard === 'erc721' ? facts?.isErc721 : facts?.isErc1155
    if (ownership.kind === 'held') {
      held.push({ item: { address, standard, tokenId, balance: ownership.amount } })
    } else if (ownership.kind === 'unreadable' || (ownership.kind === 'silent' && speaksForIt)) {
      const reason = standard === 'erc721' ? 'OWNER_UNREADABLE' : 'BALANCE_UNREADABLE'
      incomplete.push({ address, tokenId, reason })
    }
  }
  const labels = await contractFacts.read(multicall, new Set(held.map(({ item }) => item.address)), [
    'name',
    'symbol'
  ])
  const uris = await readUris(
    multicall,
    held.map(({ item }) => item)
  )
  const nfts = held.map(({ item }, i) => {
    const tokenUri = uris[i]
    if (tokenUri === undefined) {
      incomplete.push({ address: item.address, tokenId: item.tokenId, reason: 'TOKEN_URI_UNREADABLE' })
    }
    return { ...item, tokenUri: tokenUri ?? '', ...labelOf(labels.get(item.address)) }
  })
  return { nfts, incomplete }
}

/** In rounds, so that what hostile contracts return is never in memory all at once. */
async function readUris(
  multicall: Multicall,
  items: readonly Pick<HeldNft, 'address' | 'standard' | 'tokenId'>[]
): Promise<readonly (string | undefined)[]> {
  const uris: (string | undefined)[] = []
  let characters = 0
  for (let start = 0; start < items.length; start += urisPerRound) {
    const results = await multicall.callAll(
      items
        .slice(start, start + urisPerRound)
        .map(({ address, standard, tokenId }) =>
          standard === 'erc721' ? erc721UriCall(address, tokenId) : erc1155UriCall(address, tokenId)
        )
    )
    for (const result of results) {
      const uri = readUri(result)
      characters += uri?.length ?? 0
      uris.push(characters > maxUriCharacters ? undefined : uri)
    }
  }
  return uris
}
