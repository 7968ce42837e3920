import type { ContractCall } from '../state/contractCall.ts'
import type { Multicall } from '../state/multicall.ts'
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
import { readUri } from './tokenUri.ts'

/** Token URIs kept for one answer, in characters. */
const maxUriCharacters = 32 * 1024 * 1024

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

type UriItem = Pick<HeldNft, 'address' | 'standard' | 'tokenId'>

/**
 * What does not fit into {@link maxUriCharacters} is let go at once, so that hostile contracts cannot fill the memory; shorter
 * ones may still fit.
 */
function readUris(multicall: Multicall, items: readonly UriItem[]): Promise<readonly (string | undefined)[]> {
  let characters = 0
  return multicall.callAll(items, uriCallOf, result => {
    const uri = readUri(result)
    if (uri === undefined || characters + uri.length > maxUriCharacters) return undefined
    characters += uri.length
    return uri
  })
}

function uriCallOf({ address, standard, tokenId }: UriItem): ContractCall {
  return standard === 'erc721' ? erc721UriCall(address, tokenId) : erc1155UriCall(address, tokenId)
}
