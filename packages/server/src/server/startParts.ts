import { createEvmHoldings } from '../chains/evm/holdings.ts'
import { createEvmRpc } from '../chains/evm/rpc.ts'
import { createSpamJudge } from '../chains/evm/spam/createSpamJudge.ts'
import { createNftSources } from '../chains/solana/createNftSources.ts'
import { createSolanaHoldings } from '../chains/solana/holdings.ts'
import { createSolanaRpc } from '../chains/solana/rpc.ts'
import { createSlotWatch } from '../chains/solana/slotWatch.ts'
import { TOKEN_PROGRAM } from '../chains/solana/solanaAddress.ts'
import type { Config } from '../config.ts'
import { type Indexer, startIndexer } from '../indexer/startIndexer.ts'
import { createGuardedFetch } from '../metadata/guardedFetch.ts'
import { createMetadataService } from '../metadata/metadataService.ts'
import { createTokenLists } from '../metadata/tokenLists.ts'
import { createAddressFormat } from '../methods/addressFormat.ts'
import { createEnhancedGetTokensAndNFTs } from '../methods/enhancedGetTokensAndNFTs.ts'
import type { Handlers } from '../methods/MethodContext.ts'
import { createDiscover } from '../methods/rpc.discover.ts'
import { createGetSyncStatus } from '../methods/svc_getSyncStatus.ts'
import { createGetTokensAndNFTs } from '../methods/svc_getTokensAndNFTs.ts'
import { createGetTransactionsByAddress } from '../methods/svc_getTransactionsByAddress.ts'
import type { SolanaStatus, SyncStatus } from '../model/sync.ts'
import { systemClock } from '../platform/clock.ts'
import type { Logger } from '../platform/logger.ts'
import type { MetadataFigures } from '../platform/metadataFigures.ts'
import type { NodeFigures } from '../platform/upstreamFigures.ts'
import { openSqliteMetadataCache } from '../store/sqlite/metadataCache/openSqliteMetadataCache.ts'
import { openSqliteReader } from '../store/sqlite/openSqliteReader.ts'

interface EvmChain {
  status(): SyncStatus
  /** Of the indexer's upstreams and of those that state is read from. */
  figures(): NodeFigures
}

/** What a server is made of, beside its HTTP layer. */
export interface Parts {
  readonly evmChains: readonly EvmChain[]
  readonly handlers: Handlers
  solanaStatuses(): readonly SolanaStatus[]
  metadataFigures(): MetadataFigures
  stopIndexing(): Promise<void>
  close(): Promise<void>
}

/** Everything that has a lifetime of its own: indexers, readers, node connections, the metadata fetcher. */
export async function startParts(config: Config, storeFolder: string, logger: Logger): Promise<Parts> {
  // Whatever can be found wrong is found in the order in which the least is left behind: addresses, then the store.
  const solanaChains = config.chains.solana.map(({ chainId, rpcUrls, commitment, mplCore, dasUrl }) => {
    const openRpc = () => createSolanaRpc({ rpcUrls, commitment, logger: logger.child({ chainId }) })
    const rpc = openRpc()
    const nftSources = createNftSources({
      openRpc,
      mplCore,
      dasUrl,
      onChange: (source, failure) =>
        failure === undefined
          ? logger.info(`${source} answers again`, { chainId })
          : logger.warn(`${source} fails, its NFTs are missing`, { chainId, problem: failure.message })
    })
    // Any account would do: every answer of a node names its slot.
    const currentSlot = async (call: { readonly signal: AbortSignal; readonly deadlineMs: number }) =>
      (await rpc.getBalance(TOKEN_PROGRAM, call)).slot
    return {
      chainId,
      holdings: createSolanaHoldings({ rpc, nftSources }),
      currentSlot,
      watch: createSlotWatch({ chainId, currentSlot, clock: systemClock })
    }
  })
  const nodes = config.chains.evm.map(chain => {
    const { chainId, rpcUrls } = chain
    return { chain, rpc: createEvmRpc({ chainId, rpcUrls, logger }) }
  })
  const {
    allowHosts,
    ipfsGateways,
    arweaveGateways,
    tokenLists: sources,
    tokenListRefreshMs
  } = config.metadata
  const gateways = { ipfs: ipfsGateways, arweave: arweaveGateways }
  const guardedFetch = createGuardedFetch({ allowHosts })
  const openChains = await openReaders(nodes, storeFolder)
  const metadataCache = openSqliteMetadataCache(storeFolder, {
    bounds: { content: config.metadata.cacheBytes, url: config.metadata.urlCacheBytes },
    logger
  })
  const metadata = createMetadataService({
    guardedFetch,
    gateways,
    allowHosts,
    cache: metadataCache,
    cacheBytes: config.metadata.memoryBytes,
    freshForMs: config.metadata.freshForMs,
    gatewayStaggerMs: config.metadata.gatewayStaggerMs
  })
  const tokenLists = createTokenLists({
    sources,
    chainIds: config.chains.evm.map(({ chainId }) => chainId),
    guardedFetch,
    gateways,
    allowHosts,
    refreshMs: tokenListRefreshMs,
    logger
  })
  // Not awaited: logos may come late, the server must not.
  tokenLists.start().catch((error: unknown) => logger.error('token lists failed', { error }))

  // Threads are started last: whatever is wrong with the configuration has been found by now.
  const evmChains = openChains.map(({ chain, reader, rpc }) => {
    const { chainId, rpcUrls, wsUrls, startBlock, finality, pollIntervalMs, waivers } = chain
    const indexer = startIndexer({
      chainId,
      rpcUrls,
      wsUrls,
      startBlock,
      finality,
      pollIntervalMs,
      waivers,
      storeFolder,
      logger,
      // State is read from nodes of the same chain as the index, or not at all.
      onGenesis: rpc.expectGenesis
    })
    return {
      chainId,
      reader,
      rpc,
      indexer,
      holdings: createEvmHoldings({ rpc, chainId }),
      status: () => indexer.status(),
      figures: (): NodeFigures => ({
        upstreams: [...(indexer.figures()?.upstreams ?? []), ...rpc.figures()],
        webSockets: indexer.figures()?.webSockets ?? [],
        ...indexFiguresOf(indexer)
      }),
      listed: (address: string) => tokenLists.find(chainId, address),
      judge: createSpamJudge({
        chainId,
        listed: () => tokenLists.tokensOf(chainId),
        allow: contractsOfChain(config.spam.allow, chainId),
        deny: contractsOfChain(config.spam.deny, chainId)
      })
    }
  })
  const evmById = new Map(evmChains.map(chain => [chain.chainId, chain]))
  const solanaById = new Map(solanaChains.map(chain => [chain.chainId, chain]))
  const { metadataWaitMs } = config.limits
  const { maxUnpaged, serveWhileSyncing, cacheBytes } = config.history

  return {
    evmChains,
    handlers: {
      svc_getTransactionsByAddress: createGetTransactionsByAddress({
        chains: evmById,
        maxUnpaged,
        serveWhileSyncing,
        cacheBytes,
        formatAddress: createAddressFormat(),
        clock: systemClock
      }),
      svc_getTokensAndNFTs: createGetTokensAndNFTs({
        chains: evmById,
        metadata,
        metadataWaitMs,
        serveWhileSyncing,
        clock: systemClock
      }),
      enhancedGetTokensAndNFTs: createEnhancedGetTokensAndNFTs({
        chains: solanaById,
        metadata,
        metadataWaitMs
      }),
      svc_getSyncStatus: createGetSyncStatus({ evmChains: evmById, solanaChains: solanaById }),
      'rpc.discover': createDiscover(config.methodPrefix)
    },
    metadataFigures: metadata.figures,
    solanaStatuses: () => solanaChains.map(({ watch }) => watch.status()),
    async stopIndexing() {
      await Promise.all(evmChains.map(({ indexer }) => indexer.stop()))
    },
    async close() {
      metadata.close()
      await metadataCache.close()
      tokenLists.close()
      for (const { rpc } of evmChains) rpc.close()
      for (const { watch } of solanaChains) watch.close()
      await Promise.all(evmChains.map(({ reader }) => reader.close()))
    }
  }
}

/** Absent while its thread has not told yet. */
function indexFiguresOf(indexer: Indexer): Pick<NodeFigures, 'index'> {
  const index = indexer.figures()?.index
  return index === undefined ? {} : { index }
}

/** All or none. */
async function openReaders<T extends { readonly chain: { readonly chainId: number } }>(
  nodes: readonly T[],
  storeFolder: string
) {
  const openings = nodes.map(async node => ({
    ...node,
    reader: await openSqliteReader(storeFolder, node.chain.chainId)
  }))
  try {
    return await Promise.all(openings)
  } catch (error) {
    for (const opening of await Promise.allSettled(openings)) {
      if (opening.status === 'fulfilled') await opening.value.reader.close()
    }
    throw error
  }
}

/** Of a list of `<chainId>:<address>`, the addresses on one chain in lower case. */
function contractsOfChain(entries: readonly string[], chainId: number): ReadonlySet<string> {
  const prefix = `${chainId}:`
  return new Set(
    entries.filter(entry => entry.startsWith(prefix)).map(entry => entry.slice(prefix.length).toLowerCase())
  )
}
