import { constants } from 'node:fs'
import { access, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createEvmHoldings } from './chains/evm/holdings.ts'
import { createEvmRpc } from './chains/evm/rpc.ts'
import { createSpamJudge } from './chains/evm/spam/createSpamJudge.ts'
import { createNftSources } from './chains/solana/createNftSources.ts'
import { createSolanaHoldings } from './chains/solana/holdings.ts'
import { createSolanaRpc } from './chains/solana/rpc.ts'
import { createSlotWatch } from './chains/solana/slotWatch.ts'
import { TOKEN_PROGRAM } from './chains/solana/solanaAddress.ts'
import { type Config, type ConfigInput, type ProjectInput, parseConfig, parseProjects } from './config.ts'
import { requireBasePath } from './http/atBasePath.ts'
import type { FetchHandler } from './http/createFetchHandler.ts'
import type { NodeHandler } from './http/createNodeHandler.ts'
import { createService } from './http/createService.ts'
import { type Listener, listen } from './http/listen.ts'
import { type Indexer, startIndexer } from './indexer/startIndexer.ts'
import { createGuardedFetch } from './metadata/guardedFetch.ts'
import { createMetadataService } from './metadata/metadataService.ts'
import { createTokenLists } from './metadata/tokenLists.ts'
import { createAddressFormat } from './methods/addressFormat.ts'
import { createEnhancedGetTokensAndNFTs } from './methods/enhancedGetTokensAndNFTs.ts'
import type { Handlers } from './methods/MethodContext.ts'
import { createDiscover } from './methods/rpc.discover.ts'
import { createGetSyncStatus } from './methods/svc_getSyncStatus.ts'
import { createGetTokensAndNFTs } from './methods/svc_getTokensAndNFTs.ts'
import { createGetTransactionsByAddress } from './methods/svc_getTransactionsByAddress.ts'
import type { SolanaStatus, SyncStatus } from './model/sync.ts'
import { systemClock } from './platform/clock.ts'
import { ConfigError } from './platform/errors.ts'
import { createLogger, type Logger } from './platform/logger.ts'
import { makeFolder } from './platform/makeFolder.ts'
import type { MetadataFigures } from './platform/metadataFigures.ts'
import type { NodeFigures } from './platform/upstreamFigures.ts'
import { createProjectVerifier } from './projects/createProjectVerifier.ts'
import { openProjects } from './projects/openProjects.ts'
import type { VerifyLimits, VerifyProject } from './projects/VerifyProject.ts'
import { parseStoreUrl } from './store/parseStoreUrl.ts'
import { openSqliteMetadataCache } from './store/sqlite/metadataCache/openSqliteMetadataCache.ts'
import { openSqliteReader } from './store/sqlite/openSqliteReader.ts'

/** A running service: it indexes from the moment it is created, whether or not it listens. */
export interface Server {
  /**
   * For hosts that speak Fetch: Hono, Next, Bun, Deno.
   *
   * @example
   * ```ts
   * const server = await createServer(config, { basePath: '/chain-data' })
   * const app = new Hono()
   * app.all('/chain-data/*', context => server.fetch(context.req.raw))
   * ```
   */
  readonly fetch: FetchHandler
  /**
   * For node:http, Express, and what hands on its `req` and `res`, before any body parser: it reads the body itself.
   *
   * @example
   * ```ts
   * const server = await createServer(config)
   * const app = express()
   * app.use('/chain-data', server.nodeHandler) // Express takes `/chain-data` off the path.
   * app.use(express.json()) // Whatever parses bodies comes later.
   * ```
   */
  readonly nodeHandler: NodeHandler
  /**
   * Listens where the configuration says.
   *
   * @returns the origin to call, its real port included and `basePath` not.
   * @throws the socket's error when the address is taken or not ours.
   */
  listen(): Promise<string>
  /** The origin to call; absent while it does not listen. */
  readonly url: string | undefined
  /** Where the index of each EVM chain stands. */
  status(): readonly SyncStatus[]
  /**
   * Takes these projects in place of those of the configuration and reads `projectsFile` again; the next request is held
   * against them. What `verifyProject` said before is forgotten. All or nothing.
   *
   * @param projects - absent: the configured ones stay, and only the file is read again.
   * @throws {ConfigError} what is wrong; the keys in force stay as they are.
   */
  reloadProjects(projects?: readonly ProjectInput[]): Promise<void>
  /**
   * Says "not ready", goes on answering for `listen.drainMs`, then refuses what is new and finishes the requests under way,
   * at most some 9 seconds; ends indexing meanwhile.
   */
  close(): Promise<void>
}

/** What a program may replace; the rest is configuration. */
export interface ServerOptions {
  /** Where log lines go; absent: standard output at the configured level. */
  readonly logger?: Logger
  /** The process has no other purpose: `/metrics` tells of its memory, event loop and garbage collection too. */
  readonly ownsProcess?: boolean
  /**
   * Path below which every path of the service is, such as `/api/chain-data`: for hosts that hand on requests with
   * the path as it was sent (node:http, Fastify, Hono, Next). Default `''`, also for hosts that take the path off
   * (`use` of Express, `mount` of Hono) and for reverse proxies that do.
   */
  readonly basePath?: string
  /**
   * Whose key it is, for hosts with projects in a database of their own; asked for projects that the configuration does
   * not have, which may then be all of them.
   *
   * @example
   * ```ts
   * const server = await createServer(config, {
   *   async verifyProject({ projectId, key, signal }) {
   *     const project = await database.findProject(projectId, sha256(key), { signal })
   *     return project && { projectId, origins: project.origins }
   *   }
   * })
   * ```
   */
  readonly verifyProject?: VerifyProject
  /** How long and how often at once `verifyProject` is asked, and for how long a right answer is good. */
  readonly verifyLimits?: VerifyLimits
}

/** Closing: so long for answers under way, and so long for what is left of their connections. */
const finishMs = 6_000
const cutMs = 1_000

/**
 * Builds a server from the same object that a configuration file holds, and starts indexing.
 *
 * @throws {ConfigError} the configuration or `basePath` is wrong, or its store folder cannot be written.
 * @throws {StoreError} the store cannot be used.
 */
export async function createServer(input: ConfigInput, options: ServerOptions = {}): Promise<Server> {
  const { basePath = '', verifyProject, verifyLimits = {} } = options
  const config = parseConfig(input, { mayLackProjects: verifyProject !== undefined })
  requireBasePath(basePath)
  const logger = options.logger ?? createLogger({ level: config.log.level })
  const verifier = verifyProject && createProjectVerifier(verifyProject, { limits: verifyLimits, logger })
  const projects = await openProjects({
    configured: config.projects,
    file: config.projectsFile ?? undefined,
    logger,
    onReload: () => verifier?.forget()
  })
  const store = await openStoreFolder(config.store).catch((error: unknown) => {
    projects.close()
    throw error
  })
  const parts = await startParts(config, store.folder, logger).catch(async (error: unknown) => {
    projects.close()
    await store.remove()
    throw error
  })

  const syncStatuses = () => parts.evmChains.map(chain => chain.status())
  const service = createService({
    handlers: parts.handlers,
    chainIds: {
      '/evm-chain': ascending(config.chains.evm.map(({ chainId }) => chainId)),
      '/solana': ascending(config.chains.solana.map(({ chainId }) => chainId))
    },
    syncStatuses,
    solanaStatuses: () => parts.solanaStatuses(),
    metadataFigures: () => parts.metadataFigures(),
    nodeFigures: () => parts.evmChains.map(chain => chain.figures()),
    keyRing: projects.keyRing,
    verifier,
    methodPrefix: config.methodPrefix,
    rateLimit: config.rateLimit,
    login: config.login,
    overload: config.overload,
    trustedProxies: config.listen.trustedProxies,
    limits: config.limits,
    pages: config.pages,
    ownsProcess: options.ownsProcess,
    basePath,
    logger
  })
  const { drainMs } = config.listen
  const { streamIdleMs, requestDeadlineMs, headerBytes } = config.limits
  let listening: Promise<Listener> | undefined
  let listener: Listener | undefined
  let closing: Promise<void> | undefined

  const close = async () => {
    if (drainMs > 0) {
      service.beginDraining()
      await sleep(drainMs)
    }
    service.beginClosing()
    projects.close()
    // Queries never wait for the indexers, so these may end while the last answers are written.
    const indexersStopped = parts.stopIndexing()
    // The socket stays open meanwhile, so that whoever asks is told "not ready" instead of nothing.
    const lastMoment = Date.now() + finishMs
    while (service.inFlight() > 0 && Date.now() < lastMoment) await sleep(20)
    // Also when it was told to listen a moment ago and does not yet.
    const opened = await listening?.catch(() => undefined)
    await opened?.close(cutMs)
    listener = undefined
    await indexersStopped
    await service.close()
    await parts.close()
    await store.remove()
  }

  return {
    fetch: service.fetch,
    nodeHandler: service.nodeHandler,
    async listen() {
      if (closing !== undefined) throw new ConfigError('the server is closed; create another one')
      listening ??= listen({
        handler: service.nodeHandler,
        onRefusal: service.countRefusal,
        host: config.listen.host,
        port: config.listen.port,
        maxConnections: config.listen.maxConnections,
        headerBytes,
        // A call may stay silent until its deadline.
        socketIdleMs: Math.max(streamIdleMs, requestDeadlineMs + 5_000)
      }).catch((error: unknown) => {
        // The address may be free at the next try.
        listening = undefined
        throw error
      })
      const opened = await listening
      if (closing === undefined) listener = opened
      return opened.url
    },
    get url() {
      return listener?.url
    },
    status: syncStatuses,
    async reloadProjects(replacing) {
      await projects.reload(replacing === undefined ? undefined : parseProjects(replacing))
    },
    close() {
      closing ??= close()
      return closing
    }
  }
}

interface EvmChain {
  status(): SyncStatus
  /** Of the indexer's upstreams and of those that state is read from. */
  figures(): NodeFigures
}

interface Parts {
  readonly evmChains: readonly EvmChain[]
  readonly handlers: Handlers
  solanaStatuses(): readonly SolanaStatus[]
  metadataFigures(): MetadataFigures
  stopIndexing(): Promise<void>
  close(): Promise<void>
}

/** Everything that has a lifetime of its own: indexers, readers, node connections, the metadata fetcher. */
async function startParts(config: Config, storeFolder: string, logger: Logger): Promise<Parts> {
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
  const { maxUnpaged, serveWhileSyncing } = config.history

  return {
    evmChains,
    handlers: {
      svc_getTransactionsByAddress: createGetTransactionsByAddress({
        chains: evmById,
        maxUnpaged,
        serveWhileSyncing,
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

/** The folder of the store; for `sqlite::memory:` a private one that goes with the server. */
async function openStoreFolder(url: string): Promise<{ readonly folder: string; remove(): Promise<void> }> {
  const location = parseStoreUrl(url)
  switch (location.kind) {
    case 'sqlite':
      await requireWritable(location.folder)
      return { folder: location.folder, remove: async () => {} }
    case 'memory': {
      const folder = await mkdtemp(join(tmpdir(), 'chain-data-'))
      return { folder, remove: () => rm(folder, { recursive: true, force: true }) }
    }
    case 'postgres':
      throw new ConfigError('store: this version does not serve postgres:// yet; expected sqlite:<folder>')
  }
}

/** The folder is made where it is missing, so that a wrong one is found now and not by the indexers. */
async function requireWritable(folder: string): Promise<void> {
  try {
    await makeFolder(folder)
    await access(folder, constants.W_OK)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown trouble'
    throw new ConfigError(
      `store is "sqlite:${folder.slice(0, 100)}" (${code}); expected a folder that can be written`
    )
  }
}

/** Of a list of `<chainId>:<address>`, the addresses on one chain in lower case. */
function contractsOfChain(entries: readonly string[], chainId: number): ReadonlySet<string> {
  const prefix = `${chainId}:`
  return new Set(
    entries.filter(entry => entry.startsWith(prefix)).map(entry => entry.slice(prefix.length).toLowerCase())
  )
}

function ascending(ids: readonly number[]): readonly number[] {
  return [...ids].sort((a, b) => a - b)
}
