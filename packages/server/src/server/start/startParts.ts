import {
  type Address,
  type BlockRef,
  type Damage,
  IndexDamagedError,
  noMetadataCache
} from '@chain-data/index'
import { createAccountStates } from '../../audit/accountStates.ts'
import { createDeepHistory } from '../../evm/below/createDeepHistory.ts'
import { toIndexedBlock } from '../../evm/blocks/blockRows.ts'
import { createEvmSource } from '../../evm/blocks/evmSource.ts'
import { createEvmHoldings } from '../../evm/holdings/holdings.ts'
import { createSpamJudge } from '../../evm/holdings/spam/createSpamJudge.ts'
import { chainPresets } from '../../model/chainPresets.ts'
import { labelChain, nameOfChain } from '../../model/labelChain.ts'
import { urlOf } from '../../model/nodeEndpoint.ts'
import { mapProblems, toChainState } from '../../model/sync.ts'
import { isUnknownPart } from '../../model/waivableChecks.ts'
import { createEvmRpc, type EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { clusterOfChainId } from '../../nodes/solana/clusters.ts'
import { createSolanaHistoryRpc } from '../../nodes/solana/historyRpc.ts'
import { createSolanaNodes } from '../../nodes/solana/nodes.ts'
import { createSolanaRpc } from '../../nodes/solana/rpc.ts'
import { TOKEN_PROGRAM } from '../../nodes/solana/solanaAddress.ts'
import { withoutNextStep } from '../../nodes/upstreams/nextSteps.ts'
import { createAddressFormat } from '../../platform/addressFormat.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import { systemClock } from '../../platform/clock.ts'
import { NodeUnavailableError } from '../../platform/errors.ts'
import type { NodeFigures, ServerFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import { hostOf } from '../../platform/nameNodes.ts'
import { Refusal } from '../../platform/refusal.ts'
import { createSolanaHistory } from '../../solana/history/history.ts'
import { createSolanaHoldings } from '../../solana/holdings/holdings.ts'
import { createNftSources } from '../../solana/nftSources/createNftSources.ts'
import { createSlotWatch, type SlotWatch } from '../../solana/slotWatch.ts'
import type { EvmChain } from '../config/applyPresets.ts'
import { recomputableParts } from '../config/chooseRoots.ts'
import type { Config } from '../config/config.ts'
import type { Indexer } from '../indexer/startIndexer.ts'
import { createReplayer } from '../live/createReplayer.ts'
import { createMetadataService } from '../metadata/metadataService.ts'
import { createEnhancedGetTokensAndNFTs } from '../methods/enhancedGetTokensAndNFTs.ts'
import { createEnhancedGetTransactionsByAddress } from '../methods/enhancedGetTransactionsByAddress.ts'
import type { Handlers } from '../methods/MethodContext.ts'
import { createGetSyncStatus } from '../methods/svc_getSyncStatus.ts'
import { createGetTokensAndNFTs } from '../methods/svc_getTokensAndNFTs.ts'
import { createGetTransactionsByAddress } from '../methods/svc_getTransactionsByAddress.ts'
import { createVerifyHistory } from '../methods/svc_verifyHistory.ts'
import { createVerifySolanaHistory } from '../methods/svc_verifySolanaHistory.ts'
import { createWatchAddresses } from '../methods/svc_watchAddresses.ts'
import { openMetadataSources } from './openMetadataSources.ts'
import type { Stores } from './openStores.ts'
import { startIndexing } from './startIndexing.ts'

/** The parts of a server, beside its HTTP layer. */
export interface Parts {
  readonly handlers: Handlers
  readonly figures: ServerFigures
  /** Passes damage of a chain's index on to its writer. */
  reportDamage(chainId: number, damage: Damage): void
  stopIndexing(): Promise<void>
  close(): Promise<void>
}

/**
 * Starts everything that has a lifetime of its own: indexers, readers, node connections, the metadata fetcher.
 * @param hide - takes passwords out of what a chain's status says of a problem.
 */
export async function startParts(
  config: Config,
  stores: Stores,
  logger: Logger,
  hide: (text: string) => string
): Promise<Parts> {
  // Whatever can be found wrong is found in the order in which the least is left behind: addresses, then the store.
  const clusters = config.chains.solana.map(({ chainId, dev, rpcUrls, commitment, mplCore, dasUrl }) => {
    const cluster = dev ? undefined : clusterOfChainId(chainId)
    const openNodes = () => createSolanaNodes({ rpcUrls, cluster, logger: logger.child({ chainId }) })
    const openRpc = () => createSolanaRpc({ nodes: openNodes(), commitment })
    const nodes = openNodes()
    const rpc = createSolanaRpc({ nodes, commitment })
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
    const historyRpc = createSolanaHistoryRpc({ nodes, commitment })
    return { chainId, rpc, historyRpc, holdings: createSolanaHoldings({ rpc, nftSources }), currentSlot }
  })
  const nodes = config.chains.evm.map(chain => {
    const { chainId, rpcUrls } = chain
    return { chain, rpc: createEvmRpc({ chainId, rpcUrls, logger }) }
  })
  const { guardedFetch, gateways, tokenLists, prices } = openMetadataSources(config, { logger })
  const openChains = await openReaders(nodes, stores)
  const metadataCache = stores.openMetadataCache()
  const metadata = createMetadataService({
    guardedFetch,
    gateways,
    allowHosts: config.metadata.allowHosts,
    cache: metadataCache,
    cacheBytes: config.metadata.memoryBytes,
    freshForMs: config.metadata.freshForMs,
    gatewayStaggerMs: config.metadata.gatewayStaggerMs
  })
  // Not awaited: logos may come late, the server must not.
  tokenLists.start().catch((error: unknown) => logger.error('token lists failed', { error }))

  // Threads are started last: whatever is wrong with the configuration has been found by now.
  const indexing = await startIndexing(openChains, config, stores, logger)
  const evmChains = openChains.map(({ chain, reader, rpc }, index) => {
    const { chainId, finality, waivers, traces, deepHistory } = chain
    const source = createEvmSource({ rpc, finality, waivers: waivers.filter(isKnownWhole), traces })
    const deep =
      deepHistory !== 'off'
        ? createDeepHistory({
            ...{ rpc, traces, cache: stores.openDeepHistoryCache(chainId) },
            openSource: metered => createEvmSource({ rpc: metered, finality, waivers, traces }),
            maxCalls: config.deepHistory.maxCalls ?? Number.POSITIVE_INFINITY
          })
        : undefined
    const indexer = indexing.chains[index]
    if (indexer === undefined) throw new Error(`nothing indexes chain ${chainId}`)
    // Not awaited: the status shows who answers as soon as it is known.
    deep?.findOut(AbortSignal.timeout(firstLookMs)).then(
      answerer => {
        if (answerer === 'none' && chain.startBlock !== 0) logger.warn(noDeepHistory, { chainId })
      },
      () => undefined
    )
    return {
      ...{
        chainId,
        name: nameOfChain(chainId, chain.name),
        nativeCurrency: chain.nativeCurrency ?? undefined
      },
      reader,
      rpc,
      holdings: createEvmHoldings({
        ...{ rpc, chainId },
        ensRegistry: chain.preset ? chainPresets.get(chainId)?.ensRegistry : undefined
      }),
      states: createAccountStates({ rpc, chainId, source }),
      headers: createVerifiedBlocks(chain, rpc),
      ...{ deep, anchors: new BoundedMap<Address, BlockRef>(rememberedAnchors) },
      isStrict: deepHistory === 'strict',
      traces,
      deepHistory: () => (deep === undefined ? 'none' : deep.answeredBy()),
      status: () => mapProblems(indexer.status(), problem => withoutNextStep(hide(problem))),
      operatorStatus: () => mapProblems(indexer.status(), hide),
      /** Of the indexer's upstreams and of those that state is read from. */
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
  const hosts = new Map(
    [...config.chains.evm, ...config.chains.solana].map(({ chainId, rpcUrls }) => {
      return [chainId, rpcUrls.map(endpoint => hostOf(urlOf(endpoint)))] as const
    })
  )
  const names = new Map(config.chains.evm.map(({ chainId, name }) => [chainId, name]))
  const solanaCache = clusters.length === 0 ? noMetadataCache : stores.openSolanaHistoryCache()
  const solanaChains = clusters.map(({ chainId, rpc, historyRpc, holdings, currentSlot }) => {
    const watch = createSlotWatch({
      ...{ chainId, currentSlot, clock: systemClock },
      onChange: problem =>
        problem === undefined
          ? logger.info('a Solana cluster goes on', { chainId })
          : logger.warn('a Solana cluster is stalled', { chainId, problem })
    })
    const history = createSolanaHistory({ chainId, rpc, historyRpc, documents: solanaCache })
    return {
      ...{ chainId, name: nameOfChain(chainId), watch },
      state: () => mapProblems(watch.state(), withoutNextStep),
      holdings: { readHoldings: checkAfterFailure(holdings.readHoldings, watch) },
      history: { readHistory: checkAfterFailure(history.readHistory, watch) },
      historyFigures: () => ({ chainId, calls: historyRpc.calls(), ...history.figures() })
    }
  })
  const evmById = new Map(evmChains.map(chain => [chain.chainId, chain]))
  const solanaById = new Map(solanaChains.map(chain => [chain.chainId, chain]))
  const { metadataWaitMs } = config.limits
  const { maxUnpaged, serveWhileSyncing, cacheBytes } = config.history

  const reportDamage = (chainId: number, damage: Damage) => {
    const reported = evmById.get(chainId)?.reader.reportDamage(damage)
    reported?.catch((error: unknown) =>
      logger.warn('damage cannot be reported to the writer of the index', { chainId, error })
    )
  }
  const formatAddress = createAddressFormat()
  const replayer = createReplayer({ locationOf: stores.locationOf, logger })
  const watched = createWatchAddresses({
    ...{ chains: evmById, serveWhileSyncing, clock: systemClock, replay: replayer.replay },
    formatAddress,
    onFailure: warnOfFailures(logger, reportDamage)
  })

  return {
    handlers: {
      svc_watchAddresses: watched.handler,
      svc_getTransactionsByAddress: createGetTransactionsByAddress({
        chains: evmById,
        maxUnpaged,
        serveWhileSyncing,
        cacheBytes,
        formatAddress,
        clock: systemClock
      }),
      svc_getTokensAndNFTs: createGetTokensAndNFTs({
        chains: evmById,
        metadata,
        prices,
        metadataWaitMs,
        serveWhileSyncing,
        formatAddress
      }),
      enhancedGetTokensAndNFTs: createEnhancedGetTokensAndNFTs({
        chains: solanaById,
        metadata,
        metadataWaitMs
      }),
      enhancedGetTransactionsByAddress: createEnhancedGetTransactionsByAddress({
        chains: solanaById,
        maxUnpaged
      }),
      svc_getSyncStatus: createGetSyncStatus({
        evmChains: evmById,
        solanaChains: solanaById,
        serveWhileSyncing,
        clock: systemClock
      }),
      svc_verifyHistory: createVerifyHistory({
        chains: evmById,
        formatAddress,
        clock: systemClock
      }),
      svc_verifySolanaHistory: createVerifySolanaHistory({ chains: solanaById, maxUnpaged })
    },
    figures: {
      chainStates: () =>
        evmChains.map(chain =>
          toChainState(chain.operatorStatus(), { serveWhileSyncing, nowMs: systemClock.now() })
        ),
      solanaStates: () => solanaChains.map(({ watch }) => watch.state()),
      nodeFigures: () => evmChains.map(chain => chain.figures()),
      solanaHistories: () => solanaChains.map(({ historyFigures }) => historyFigures()),
      metadataFigures: metadata.figures,
      eventFigures: watched.figures,
      cacheDamages: stores.cacheDamages,
      chainLabel: chainId => labelChain(chainId, names.get(chainId)),
      nodeHosts: chainId => hosts.get(chainId) ?? []
    },
    reportDamage,
    stopIndexing: indexing.stop,
    async close() {
      metadata.close()
      await metadataCache.close()
      await solanaCache.close()
      tokenLists.close()
      for (const { rpc } of evmChains) rpc.close()
      for (const { watch } of solanaChains) watch.close()
      await Promise.all([replayer.close(), ...evmChains.map(({ reader }) => reader.close())])
    }
  }
}

/** Certificates compare with whole blocks: a block with a part unknown proves nothing. */
function isKnownWhole({ check }: EvmChain['waivers'][number]): boolean {
  return !isUnknownPart(check)
}

/** Reads blocks for certificates, each of them held against its header. */
function createVerifiedBlocks(chain: EvmChain, rpc: EvmUpstreams) {
  const { finality, traces, dev } = chain
  const waivers = chain.waivers.filter(isKnownWhole)
  const parts = recomputableParts(chain)
  const source = createEvmSource({ rpc, finality, waivers, traces, dev, roots: { parts, blocks: 'all' } })
  return {
    parts,
    unknownEncoding: chainPresets.get(chain.chainId)?.unknownEncoding,
    block: async (height: number, signal: AbortSignal) => toIndexedBlock(await source.block(height, signal))
  }
}

/** Has the node of a cluster checked as soon as a call fails because of it, so that the state is not told later. */
function checkAfterFailure<Query, Answer>(
  read: (query: Query) => Promise<Answer>,
  watch: Pick<SlotWatch, 'check'>
): (query: Query) => Promise<Answer> {
  return async query => {
    try {
      return await read(query)
    } catch (error) {
      const isOfNode =
        error instanceof NodeUnavailableError ||
        (error instanceof Refusal && error.reason === 'UPSTREAM_UNAVAILABLE')
      if (isOfNode) watch.check()
      throw error
    }
  }
}

/** Failures to read a log of changes come each second, of each stream that reads it for itself: one of them in a minute is logged. */
function warnOfFailures(
  logger: Logger,
  reportDamage: (chainId: number, damage: Damage) => void
): (chainId: number, failure: unknown) => void {
  const warnedMs = new Map<number, number>()
  return (chainId, failure) => {
    if (performance.now() - (warnedMs.get(chainId) ?? Number.NEGATIVE_INFINITY) < 60_000) return
    warnedMs.set(chainId, performance.now())
    if (failure instanceof IndexDamagedError) reportDamage(chainId, failure.damage)
    logger.warn('streams of events wait for the index', { chainId, error: failure })
  }
}

/** Returns the figures of an indexer; absent until its thread has reported. */
function indexFiguresOf(indexer: Pick<Indexer, 'figures'>): Pick<NodeFigures, 'index'> {
  const index = indexer.figures()?.index
  return index === undefined ? {} : { index }
}

/** Histories begin at the first indexed block then. */
const noDeepHistory = 'no node lists the transactions of an address or has old states, as deepHistory needs'

/** Accounts whose older history is kept while the index gets older blocks. */
const rememberedAnchors = 4_096

/** Timeout at the start of asking nodes what they offer; a call that needs to know asks again. */
const firstLookMs = 30_000

/** Opens the readers of all chains, or none. */
async function openReaders<T extends { readonly chain: { readonly chainId: number } }>(
  nodes: readonly T[],
  stores: Stores
) {
  const openings = nodes.map(async node => ({
    ...node,
    reader: await stores.openReader(node.chain.chainId)
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

/** Picks from a list of `<chainId>:<address>` the addresses on one chain, in lower case. */
function contractsOfChain(entries: readonly string[], chainId: number): ReadonlySet<string> {
  const prefix = `${chainId}:`
  return new Set(
    entries.filter(entry => entry.startsWith(prefix)).map(entry => entry.slice(prefix.length).toLowerCase())
  )
}
