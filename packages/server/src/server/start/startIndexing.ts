import { createChainReaders, type StoreReader } from '@chain-data/index'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import type { Logger } from '../../platform/logger.ts'
import { chooseRoots } from '../config/chooseRoots.ts'
import type { Config } from '../config/config.ts'
import type { Stores } from '../feature/stores.ts'
import { createThreads, maxWriters } from '../indexer/createThreads.ts'
import { type Indexer, startIndexer } from '../indexer/startIndexer.ts'
import { looksAtOnce, watchWriters } from '../indexer/watchWriters.ts'

/** A configured EVM chain, with the reader and the nodes of its queries. */
interface IndexedChain {
  readonly settings: Config['chains']['evm'][number]
  readonly reader: StoreReader
  readonly rpc: EvmUpstreams
}

/** Keeps the statuses of the chains up to date: by indexers, or by watching those of other processes. */
export interface Indexing {
  /** In the order of the chains. */
  readonly chains: readonly Pick<Indexer, 'status' | 'figures'>[]
  stop(): Promise<void>
}

/** Starts a thread for each chain, and some in which they write; none where this process is not to index. */
export async function startIndexing(
  chains: readonly IndexedChain[],
  {
    indexing,
    history,
    storeCheckSeconds: checkSeconds
  }: Pick<Config, 'indexing' | 'history' | 'storeCheckSeconds'>,
  stores: Stores,
  logger: Logger
): Promise<Indexing> {
  if (indexing === false) return watchOthers(chains, stores, logger)
  const writers = createThreads('writer', { logger, most: maxWriters })
  const { threads } = indexing
  const { changeLogBlocks } = history
  const decoders = threads === 0 ? undefined : createThreads('decoder', { logger, most: threads })
  const indexers = chains.map(({ settings, rpc }) => {
    const { chainId, rpcUrls, wsUrls, startBlock, finality, pollIntervalMs, waivers, traces, dev } = settings
    return startIndexer({
      ...{ chainId, rpcUrls, wsUrls, startBlock, finality, pollIntervalMs, waivers, traces, dev },
      ...{ store: stores.locationOf(chainId), writers, decoders, logger, roots: chooseRoots(settings) },
      ...{ checkSeconds, changeLogBlocks },
      // State is read from nodes of the same chain as the index, or not at all.
      onGenesis: rpc.expectGenesis
    })
  })
  return {
    chains: indexers,
    async stop() {
      await Promise.all(indexers.map(indexer => indexer.stop()))
    }
  }
}

async function watchOthers(
  chains: readonly IndexedChain[],
  stores: Stores,
  logger: Logger
): Promise<Indexing> {
  const readers = createChainReaders(
    chainId => {
      const location = stores.locationOf(chainId)
      // A replica would show the writer's status late.
      return location.kind === 'postgres' ? { ...location, replicaUrls: [] } : location
    },
    { connections: looksAtOnce }
  )
  const watched = await Promise.all(
    chains.map(async ({ settings: { chainId, startBlock }, rpc }) => ({
      ...{ chainId, startBlock, onGenesis: rpc.expectGenesis },
      reader: await readers.open(chainId)
    }))
  )
  const { statuses, stop } = watchWriters(watched, { logger })
  return {
    chains: statuses.map(status => ({ status, figures: () => undefined })),
    async stop() {
      stop()
      await Promise.all(watched.map(({ reader }) => reader.close()))
      await readers.close()
    }
  }
}
