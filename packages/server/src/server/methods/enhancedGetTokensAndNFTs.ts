import type { EnhancedTokensAndNFTsParams } from '@chain-data/protocol'
import type { ReadDocuments } from '../../model/documents.ts'
import { parseSolanaAddress } from '../../nodes/solana/solanaAddress.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { SolanaAccountHoldings, SolanaHoldingsReader } from '../../solana/holdings/holdings.ts'
import { type FetchedUris, listMetadataUris, shapeHoldings } from '../../solana/holdings/shapeHoldings.ts'
import { chainOf, type Handlers, metadataBudget } from './MethodContext.ts'

export interface SolanaHoldingsOptions {
  readonly chains: ReadonlyMap<number, { readonly holdings: SolanaHoldingsReader }>
  readonly readDocuments: ReadDocuments
  /** Longest time that one call waits for metadata. */
  readonly metadataWaitMs: number
}

/** Answers tokens, NFTs and lamports of a Solana account, read live; metadata URIs are fetched only when asked for. */
export function createEnhancedGetTokensAndNFTs(
  options: SolanaHoldingsOptions
): Handlers['enhancedGetTokensAndNFTs'] {
  const { chains, readDocuments, metadataWaitMs } = options

  return async (params, context) => {
    const { signal, deadlineMs } = context
    const { holdings: reader } = chainOf(chains, context)
    const { accountAddress, addressPath, parseMetadataUri } = normalizeParams(params)
    // 32 to 44 base58 characters may still be no 32 bytes, which a pattern cannot check.
    if (parseSolanaAddress(accountAddress) === undefined) {
      throw new Refusal('INVALID_PARAMS', `${addressPath} must be base58 of 32 bytes.`, { path: addressPath })
    }
    const holdings = await reader.readHoldings({ accountAddress, signal, deadlineMs })
    const fetched = parseMetadataUri ? await fetchUris(holdings, signal, deadlineMs) : new Map()
    return shapeHoldings(holdings, fetched)
  }

  async function fetchUris(
    holdings: SolanaAccountHoldings,
    signal: AbortSignal,
    deadlineMs: number
  ): Promise<FetchedUris> {
    const uris = listMetadataUris(holdings)
    const requests = uris.map(uri => ({ uri }))
    const budgetMs = metadataBudget(metadataWaitMs, deadlineMs)
    const documents = await readDocuments(requests, { budgetMs, signal })
    return new Map(uris.map((uri, index) => [uri, documents[index]]))
  }
}

/** The params in one form. */
interface SolanaAccountQuery {
  readonly accountAddress: string
  /** Path of the address in the request. */
  readonly addressPath: string
  readonly parseMetadataUri: boolean
}

/** Brings the documented and the accepted forms of the params together. */
function normalizeParams(params: EnhancedTokensAndNFTsParams): SolanaAccountQuery {
  const [account, extra] = params
  const options = extra && 'options' in extra ? extra.options : extra
  if (typeof account === 'string') {
    const parseMetadataUri = options?.parseMetadataUri ?? false
    return { accountAddress: account, addressPath: '/params/0', parseMetadataUri }
  }
  const own = 'parseMetadataUri' in account ? account.parseMetadataUri : undefined
  return {
    accountAddress: account.accountAddress,
    addressPath: '/params/0/accountAddress',
    parseMetadataUri: own ?? options?.parseMetadataUri ?? false
  }
}
