import { createEvmHoldings } from '../../evm/holdings/holdings.ts'
import { createSpamJudge } from '../../evm/holdings/spam/createSpamJudge.ts'
import { chainPresets } from '../../model/chainPresets.ts'
import type { ReadDocuments } from '../../model/documents.ts'
import type { FormatAddress } from '../../platform/addressFormat.ts'
import type { Clock } from '../../platform/clock.ts'
import type { Config } from '../config/config.ts'
import type { Services } from '../feature/Feature.ts'
import { createEnhancedGetTokensAndNFTs } from '../methods/enhancedGetTokensAndNFTs.ts'
import type { Handlers } from '../methods/MethodContext.ts'
import { createGetSyncStatus } from '../methods/svc_getSyncStatus.ts'
import { createGetTokensAndNFTs } from '../methods/svc_getTokensAndNFTs.ts'
import { createGetTransactionsByAddress } from '../methods/svc_getTransactionsByAddress.ts'
import type { ServedChain } from './openChains.ts'
import type { ServedCluster } from './openClusters.ts'

/** Makes the methods that every server has: the three of the service document, and the status of a chain. */
export function coreMethods(server: {
  readonly config: Config
  readonly chains: readonly ServedChain[]
  readonly clusters: readonly ServedCluster[]
  readonly services: Partial<Services>
  readonly formatAddress: FormatAddress
  readonly clock: Clock
}): Partial<Handlers> {
  const { config, services, formatAddress, clock } = server
  const { maxUnpaged, serveWhileSyncing, cacheBytes } = config.history
  const { metadataWaitMs } = config.limits
  const { tokenLists, readDocuments = readNone, prices } = services
  const chains = new Map(
    server.chains.map(chain => {
      const { chainId, settings, rpc } = chain
      const older = services.older?.(chainId)
      const ensRegistry = settings.preset ? chainPresets.get(chainId)?.ensRegistry : undefined
      return [
        chainId,
        {
          ...chain,
          older,
          deepHistory: () => (older === undefined ? ('none' as const) : older.answeredBy()),
          holdings: createEvmHoldings({ rpc, chainId, ensRegistry }),
          listed: (address: string) => tokenLists?.find(chainId, address),
          judge: createSpamJudge({
            chainId,
            listed: () => tokenLists?.tokensOf(chainId) ?? noTokens,
            allow: contractsOfChain(config.spam.allow, chainId),
            deny: contractsOfChain(config.spam.deny, chainId)
          })
        }
      ] as const
    })
  )
  const clusters = new Map(server.clusters.map(cluster => [cluster.chainId, cluster]))
  return {
    svc_getTransactionsByAddress: createGetTransactionsByAddress({
      ...{ chains, maxUnpaged, serveWhileSyncing, cacheBytes, formatAddress, clock }
    }),
    svc_getTokensAndNFTs: createGetTokensAndNFTs({
      ...{ chains, readDocuments, prices, metadataWaitMs, serveWhileSyncing, formatAddress }
    }),
    enhancedGetTokensAndNFTs: createEnhancedGetTokensAndNFTs({
      ...{ chains: clusters, readDocuments, metadataWaitMs }
    }),
    svc_getSyncStatus: createGetSyncStatus({
      ...{ evmChains: chains, solanaChains: clusters, serveWhileSyncing, clock }
    })
  }
}

/** Where nobody reads documents, the answers name each that is missing. */
const readNone: ReadDocuments = async requests => requests.map(() => undefined)

const noTokens: readonly never[] = []

/** Picks from a list of `<chainId>:<address>` the addresses on one chain, in lower case. */
function contractsOfChain(entries: readonly string[], chainId: number): ReadonlySet<string> {
  const prefix = `${chainId}:`
  return new Set(
    entries.filter(entry => entry.startsWith(prefix)).map(entry => entry.slice(prefix.length).toLowerCase())
  )
}
