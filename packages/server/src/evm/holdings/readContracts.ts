import type { Address } from '@chain-data/index'
import type { ContractCall } from '../state/contractCalls.ts'
import type { Multicall } from '../state/multicall.ts'
import { type AskedCandidate, askRefusedAgain } from './askRefusedAgain.ts'
import type { ContractFactsReader } from './contractFacts.ts'
import { expandRanges } from './expandRanges.ts'
import {
  byContractThenId,
  contractsOf,
  type HeldNft,
  type HeldToken,
  type IncompleteHolding,
  isRange,
  labelOf,
  type OwnedCandidate,
  type WantedCandidate
} from './heldAssets.ts'
import { erc721UriCall, erc1155UriCall, ownershipReaders, readUri } from './tokenStandards.ts'

/** Tokens and NFTs of one account at the pinned block. */
export interface FoundAssets {
  readonly tokens: readonly HeldToken[]
  readonly nfts: readonly HeldNft[]
  readonly incomplete: readonly IncompleteHolding[]
}

/**
 * Asks the candidates' contracts who owns what, then reads what is shown of the owned tokens and NFTs.
 *
 * @param candidates - of one owner, each once.
 * @param listed - contracts that the caller asked for.
 * @throws what `multicall` throws.
 * @see EvmHoldings.readHoldings for the rules
 */
export async function readContracts(
  multicall: Multicall,
  contractFacts: ContractFactsReader,
  candidates: readonly WantedCandidate[],
  listed: ReadonlySet<Address>,
  deadlineMs: number | undefined
): Promise<FoundAssets> {
  const ranges = candidates.filter(isRange)
  const asked = await multicall.callAll(
    candidates.filter(candidate => !isRange(candidate)),
    candidate => ownershipReaders[candidate.standard].call(candidate),
    (result, candidate): AskedCandidate => ({
      ...candidate,
      ownership: ownershipReaders[candidate.standard].read(result, candidate),
      isRefusal: result.kind === 'reverted'
    })
  )
  const owned = await askRefusedAgain(multicall, asked)
  const tokens = owned.filter(item => item.standard === 'erc20')
  const untilMs = deadlineMs === undefined ? undefined : (Date.now() + deadlineMs) / 2
  const inRanges = await expandRanges(multicall, contractFacts, ranges, owned, { untilMs })
  const nfts = [...owned.filter(item => item.standard !== 'erc20'), ...inRanges.owned].sort(byContractThenId)
  const nftContracts = contractsOf([...nfts, ...ranges])
  const foundTokens = await readTokens(multicall, contractFacts, tokens, listed, nftContracts)
  const foundNfts = await readNfts(multicall, contractFacts, nfts)
  return {
    tokens: foundTokens.tokens,
    nfts: foundNfts.nfts,
    incomplete: [...foundTokens.incomplete, ...foundNfts.incomplete, ...inRanges.incomplete].sort((a, b) =>
      byContractThenId({ ...a, contract: a.address }, { ...b, contract: b.address })
    )
  }
}

/**
 * Reads what is listed of the ERC-20 candidates.
 * @param listed - contracts that the caller asked for: they appear with 0 too.
 * @param nftContracts - contracts that logged NFTs of this owner.
 * @see EvmHoldings.readHoldings for the rules
 */
async function readTokens(
  multicall: Multicall,
  contractFacts: ContractFactsReader,
  owned: readonly OwnedCandidate[],
  listed: ReadonlySet<Address>,
  nftContracts: ReadonlySet<Address>
): Promise<{ readonly tokens: readonly HeldToken[]; readonly incomplete: readonly IncompleteHolding[] }> {
  const open = owned.filter(({ contract, ownership }) => ownership.kind !== 'none' || listed.has(contract))
  const facts = await contractFacts.read(multicall, contractsOf(open), ['decimals'])
  const guessed = open.filter(({ origin }) => origin === 'filter')
  const interfaces = await contractFacts.read(multicall, contractsOf(guessed), ['isErc721', 'isErc1155'])

  const kept: { readonly address: Address; readonly amount: bigint; readonly decimals: number }[] = []
  const incomplete: IncompleteHolding[] = []
  for (const { contract: address, origin, ownership } of open) {
    const decimals = facts.get(address)?.decimals
    const { isErc721, isErc1155 } = interfaces.get(address) ?? {}
    if (isErc721 || isErc1155) continue
    if (ownership.kind === 'silent') {
      if (decimals !== undefined) incomplete.push({ address, reason: 'BALANCE_UNREADABLE' })
    } else if (ownership.kind === 'unreadable') {
      incomplete.push({ address, reason: 'BALANCE_UNREADABLE' })
    } else if (decimals !== undefined) {
      kept.push({ address, amount: ownership.kind === 'held' ? ownership.amount : 0n, decimals })
    } else if (!nftContracts.has(address) && (origin === 'log' || ownership.kind === 'held')) {
      // A collection counts its tokens through `balanceOf` too; only its logs tell it from a token without decimals.
      incomplete.push({ address, reason: 'DECIMALS_UNREADABLE' })
    }
  }
  const labels = await contractFacts.read(
    multicall,
    kept.map(({ address }) => address),
    ['name', 'symbol']
  )
  return { tokens: kept.map(token => ({ ...token, ...labelOf(labels.get(token.address)) })), incomplete }
}

/** Token URIs kept for one answer, in characters. */
const maxUriCharacters = 32 * 1024 * 1024

/** Reads what is listed of the ERC-721 and ERC-1155 candidates. @see EvmHoldings.readHoldings for the rules */
async function readNfts(
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
 * Reads URIs. One that does not fit into {@link maxUriCharacters} is let go at once, so that hostile contracts cannot fill the memory; shorter
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
