import { noMetadataCache, openSolanaHistoryCache } from '@chain-data/index'
import type { Feature } from '../../server/feature/Feature.ts'
import { createEnhancedGetTransactionsByAddress } from './enhancedGetTransactionsByAddress.ts'
import { createSolanaHistory } from './history/history.ts'
import { addSolanaHistoryMetrics } from './history/historyFigures.ts'
import { SolanaHistoryRpc } from './history/historyRpc.ts'
import { createVerifySolanaHistory } from './svc_verifySolanaHistory.ts'

/** Histories of Solana wallets, and their certificates. */
export const solanaHistory: Feature = {
  name: 'solana-history',
  open({ config, stores, solana, logger }) {
    const { maxUnpaged, deepCacheBytes } = config.history
    // Lists are rewritten as they grow; transactions are most of it.
    const bounds = { content: Math.ceil(deepCacheBytes * 0.75), url: Math.ceil(deepCacheBytes * 0.25) }
    const onDamage = stores.countCacheDamage('solana_history')
    const documents =
      solana.size === 0
        ? noMetadataCache
        : openSolanaHistoryCache(stores.location, { bounds, logger, onDamage })
    const clusters = [...solana.values()].map(({ chainId, settings, nodes, rpc, checkAfterFailure }) => {
      const historyRpc = new SolanaHistoryRpc(nodes, settings.commitment)
      const history = createSolanaHistory({ chainId, rpc, historyRpc, documents })
      return {
        ...{ chainId, history: { readHistory: checkAfterFailure(history.readHistory) } },
        figures: () => ({ chainId, calls: historyRpc.calls(), ...history.figures() })
      }
    })
    const chains = new Map(clusters.map(cluster => [cluster.chainId, cluster]))
    return {
      handlers: {
        enhancedGetTransactionsByAddress: createEnhancedGetTransactionsByAddress({ chains, maxUnpaged }),
        svc_verifySolanaHistory: createVerifySolanaHistory({ chains, maxUnpaged })
      },
      addMetrics: page => addSolanaHistoryMetrics(page, () => clusters.map(({ figures }) => figures())),
      close: () => documents.close()
    }
  }
}
