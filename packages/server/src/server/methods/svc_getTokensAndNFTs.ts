import type { Address, HoldingCandidate, StoreReader, SyncStatus } from '@chain-data/index'
import type { HeldNft, HeldToken } from '../../evm/holdings/heldAssets.ts'
import type { EvmHoldings, EvmHoldingsAtBlock, HoldingsRequest } from '../../evm/holdings/holdings.ts'
import { type ListedLabel, shapeHoldings } from '../../evm/holdings/shapeHoldings.ts'
import type { SpamJudge } from '../../evm/holdings/spam/createSpamJudge.ts'
import { BlockLostError } from '../../evm/state/pinBlock.ts'
import type { ReadDocuments, TokenMetadata } from '../../model/documents.ts'
import type { FoundPrices, Prices } from '../../model/prices.ts'
import type { FormatAddress } from '../../platform/addressFormat.ts'
import { Refusal } from '../../platform/refusal.ts'
import { roundRobin } from '../../platform/roundRobin.ts'
import { chainOf, type Handlers, type MethodContext, metadataBudget } from './MethodContext.ts'
import type { BelowIndex, OlderHistory } from './OlderHistory.ts'
import {
  coverageOf,
  openSettled,
  requireFollowing,
  requireSynced,
  retryWhileMoving
} from './requireCurrent.ts'

/** The sources of the holdings on one chain. */
interface EvmHoldingsChain {
  readonly chainId: number
  readonly reader: Pick<StoreReader, 'openSnapshot'>
  readonly holdings: EvmHoldings
  status(): SyncStatus
  /** Returns the label that token lists give an ERC-20 contract; absent when none knows it. */
  listed(address: string): ListedLabel | undefined
  readonly judge: SpamJudge
  /** Absent: history older than the index is not answered. */
  readonly older?: OlderHistory | undefined
}

export interface EvmHoldingsMethodOptions {
  readonly chains: ReadonlyMap<number, EvmHoldingsChain>
  readonly readDocuments: ReadDocuments
  /** Absent where the host names no prices. */
  readonly prices?: Prices | undefined
  /** Longest time that one call waits for metadata, and for prices. */
  readonly metadataWaitMs: number
  /** Answer from what is indexed while the first backfill still runs. */
  readonly serveWhileSyncing: boolean
  readonly formatAddress: FormatAddress
}

/** Answers ERC-20 tokens, NFTs and native balance: the index names candidates, the node's state at one block decides. */
export function createGetTokensAndNFTs(options: EvmHoldingsMethodOptions): Handlers['svc_getTokensAndNFTs'] {
  const { chains, formatAddress } = options

  return async ([anyCaseAddress, tokenAddresses = []], context) => {
    const chain = chainOf(chains, context)
    const address = anyCaseAddress.toLowerCase() as Address
    const filter = tokenAddresses.map(token => token.toLowerCase() as Address)
    const { signal, deadlineMs } = context
    const request = { address, filter, signal, deadlineMs }
    const holdings = await readHoldings(options, chain, request, context)
    const [documents, found] = await Promise.all([
      readMetadata(options, holdings.nfts, context),
      readPrices(options, chain, holdings.tokens, context)
    ])
    return shapeHoldings(holdings, {
      metadata: documents,
      listed: chain.listed,
      ...{ judge: chain.judge, formatAddress },
      ...(found !== undefined && { prices: { ...found, account: address } })
    })
  }
}

interface OlderCandidates {
  /** The first block that they do not cover. */
  readonly below: number
  readonly candidates: readonly HoldingCandidate[]
}

/** Asks for the native currency first, then for tokens that a list vouches for: the number of assets is bounded. */
async function readPrices(
  { prices, metadataWaitMs }: EvmHoldingsMethodOptions,
  { chainId, judge }: EvmHoldingsChain,
  tokens: readonly HeldToken[],
  { signal, deadlineMs }: MethodContext
): Promise<FoundPrices | undefined> {
  if (prices === undefined) return undefined
  const judged = tokens.map(token => ({ address: token.address, verdict: judge(token)?.verdict }))
  const asked = [
    ...judged.filter(({ verdict }) => verdict === 'ok'),
    ...judged.filter(({ verdict }) => verdict !== 'ok' && verdict !== 'spam')
  ]
  const assets = [{ chainId }, ...asked.map(({ address }) => ({ chainId, address }))]
  return prices.read(assets, { budgetMs: metadataBudget(metadataWaitMs, deadlineMs), signal })
}

/**
 * Reads holdings from index and state at the same block. Where no node reads the block that the index is at, one of the
 * two will move within a moment: then both are read again.
 */
async function readHoldings(
  options: EvmHoldingsMethodOptions,
  chain: EvmHoldingsChain,
  request: Required<Pick<HoldingsRequest, 'address' | 'filter' | 'signal' | 'deadlineMs'>>,
  context: MethodContext
): Promise<EvmHoldingsAtBlock> {
  const { address, signal } = request
  const older = await readOlder(options, chain, address, context)
  return await retryWhileMoving(
    signal,
    error => error instanceof BlockLostError,
    async () =>
      chain.holdings.readHoldings({
        ...request,
        ...(await readCandidates(options, chain, address, older, context))
      })
  )
}

/** Reads candidates older than the index; the snapshot is closed before nodes are asked for them. */
async function readOlder(
  { serveWhileSyncing }: EvmHoldingsMethodOptions,
  chain: EvmHoldingsChain,
  owner: Address,
  context: MethodContext
): Promise<OlderCandidates | undefined> {
  if (chain.older === undefined) return undefined
  const { snapshot, status } = await openSettled(chain, context)
  let below: BelowIndex | undefined
  try {
    await requireSynced(snapshot, status, serveWhileSyncing)
    below = await chain.older.open(snapshot, owner, status, context)
  } finally {
    await snapshot.close()
  }
  return below && { below: below.anchor.number, candidates: await below.readCandidates() }
}

/** Closes the snapshot before the node is asked, because that may take long. */
async function readCandidates(
  { serveWhileSyncing }: EvmHoldingsMethodOptions,
  chain: EvmHoldingsChain,
  owner: Address,
  older: OlderCandidates | undefined,
  context: MethodContext
): Promise<Pick<HoldingsRequest, 'candidates' | 'at' | 'branch'>> {
  const { snapshot, status } = await openSettled(chain, context)
  try {
    await requireSynced(snapshot, status, serveWhileSyncing)
    // An index that lags far behind does not know what the account has received since.
    requireFollowing(status)
    const range = await snapshot.indexedRange()
    const candidates: HoldingCandidate[] = []
    for await (const chunk of snapshot.holdingCandidates(owner)) candidates.push(...chunk)
    if (older !== undefined && (range?.from ?? 0) > older.below) throw indexMoved(chain.chainId)
    candidates.push(...(older?.candidates ?? []))
    // Logs are enough for that, which every node has.
    const deepHistory = older === undefined ? 'none' : 'node'
    context.onCoverage?.(await coverageOf(chain.chainId, snapshot, { deepHistory }))
    if (!range) return { candidates }
    const at = { ...range.to, timestampSeconds: range.toTimestampSeconds }
    return { candidates, at, branch: await snapshot.rollbacks() }
  } finally {
    await snapshot.close()
  }
}

async function readMetadata(
  { readDocuments, metadataWaitMs }: EvmHoldingsMethodOptions,
  nfts: readonly HeldNft[],
  { signal, deadlineMs }: MethodContext
): Promise<readonly (TokenMetadata | undefined)[]> {
  const named = nfts.filter(({ tokenUri }) => tokenUri !== '')
  if (named.length === 0) return []
  // Room and time are bounded: so no collection may come before all the others.
  const withUri = roundRobin(named, ({ address }) => address)
  const requests = withUri.map(({ tokenUri, standard, tokenId }) => ({
    uri: tokenUri,
    ...(standard === 'erc1155' ? { tokenId } : {})
  }))
  const budgetMs = metadataBudget(metadataWaitMs, deadlineMs)
  const found = await readDocuments(requests, { budgetMs, signal })
  const metadataOf = new Map(withUri.map((nft, index) => [nft, found[index]]))
  return nfts.map(nft => metadataOf.get(nft))
}

/** Makes the refusal for an index that was replaced by one that begins later. */
function indexMoved(chainId: number): Refusal {
  return new Refusal(
    'UPSTREAM_UNAVAILABLE',
    `The index of chain ${chainId} begins at another block by now.`,
    {}
  )
}
