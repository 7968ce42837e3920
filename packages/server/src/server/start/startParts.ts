import type { Damage } from '@chain-data/index'
import { labelChain } from '../../model/labelChain.ts'
import { urlOf } from '../../model/nodeEndpoint.ts'
import { toChainState } from '../../model/sync.ts'
import { createAddressFormat } from '../../platform/addressFormat.ts'
import { systemClock } from '../../platform/clock.ts'
import type { ServerFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import { hostOf } from '../../platform/nameNodes.ts'
import type { Config } from '../config/config.ts'
import type { Feature, FeatureParts } from '../feature/Feature.ts'
import type { Stores } from '../feature/stores.ts'
import { type Method, specMethods } from '../methods/Method.ts'
import { coreMethods } from './coreMethods.ts'
import { openChains, type ServedChain } from './openChains.ts'
import { openClusters, type ServedCluster } from './openClusters.ts'
import { openFeatures } from './openFeatures.ts'
import { startIndexing } from './startIndexing.ts'

/** The parts of a server, beside its HTTP layer. */
export interface Parts {
  readonly methods: readonly Method[]
  /** Of the features, in their order. */
  readonly features: readonly FeatureParts[]
  readonly figures: ServerFigures
  /** Passes damage of a chain's index on to its writer. */
  reportDamage(chainId: number, damage: Damage): void
  stopIndexing(): Promise<void>
  close(): Promise<void>
}

export interface PartsOptions {
  readonly config: Config
  readonly features: readonly Feature[]
  readonly stores: Stores
  readonly logger: Logger
  /** Takes passwords out of what a chain's status says of a problem. */
  readonly hide: (text: string) => string
  /** The process has no other purpose than this server. */
  readonly ownsProcess: boolean
}

/**
 * Starts everything that has a lifetime of its own. Whatever can be found wrong is found in the order in which the least is
 * left behind: addresses, then the store, then the features; threads are started last.
 */
export async function startParts(options: PartsOptions): Promise<Parts> {
  const { config, stores, logger, hide, ownsProcess } = options
  const closers: (() => unknown)[] = []
  const close = async () => {
    for (const closeOne of closers.splice(0).reverse()) await closeOne()
  }
  try {
    const chains = await openChains(config, stores, logger, hide)
    closers.push(() => Promise.all(chains.map(({ reader }) => reader.close())))
    closers.push(() => chains.map(({ rpc }) => rpc.close()))
    const clusters = openClusters(config, logger)
    closers.push(() => clusters.map(({ watch }) => watch.close()))
    const evm = new Map(chains.map(chain => [chain.chainId, chain]))
    const reportDamage = (chainId: number, damage: Damage) => {
      const reported = evm.get(chainId)?.reader.reportDamage(damage)
      reported?.catch((error: unknown) =>
        logger.warn('damage cannot be reported to the writer of the index', { chainId, error })
      )
    }
    const figures = figuresOf(config, stores, chains, clusters)
    const server = { config, logger, clock: systemClock, formatAddress: createAddressFormat() }
    const features = await openFeatures(options.features, {
      ...{ ...server, stores, evm, figures, reportDamage, ownsProcess },
      solana: new Map(clusters.map(cluster => [cluster.chainId, cluster]))
    })
    closers.push(features.close)
    const indexing = await startIndexing(chains, config, stores, logger)
    for (const [at, chain] of chains.entries()) chain.indexer = indexing.chains[at]
    const handlers = coreMethods({ ...server, chains, clusters, services: features.services })
    const methods = [handlers, ...features.parts.map(part => part.handlers ?? {})]
      .flatMap(each => specMethods(each, config.methodPrefix))
      .concat(features.parts.flatMap(part => part.methods ?? []))
    return {
      ...{ methods, features: features.parts, figures, reportDamage, close },
      stopIndexing: indexing.stop
    }
  } catch (error) {
    await close()
    throw error
  }
}

function figuresOf(
  config: Config,
  stores: Stores,
  chains: readonly ServedChain[],
  clusters: readonly ServedCluster[]
): ServerFigures {
  const { serveWhileSyncing } = config.history
  const names = new Map(config.chains.evm.map(({ chainId, name }) => [chainId, name]))
  const hosts = new Map(
    [...config.chains.evm, ...config.chains.solana].map(({ chainId, rpcUrls }) => {
      return [chainId, rpcUrls.map(endpoint => hostOf(urlOf(endpoint)))] as const
    })
  )
  return {
    chainStates: () =>
      chains.map(chain =>
        toChainState(chain.operatorStatus(), { serveWhileSyncing, nowMs: systemClock.now() })
      ),
    solanaStates: () => clusters.map(({ watch }) => watch.state()),
    nodeFigures: () => chains.map(chain => chain.figures()),
    cacheDamages: stores.cacheDamages,
    chainLabel: chainId => labelChain(chainId, names.get(chainId)),
    nodeHosts: chainId => hosts.get(chainId) ?? []
  }
}
