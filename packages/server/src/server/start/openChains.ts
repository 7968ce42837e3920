import type { SyncStatus } from '@chain-data/index'
import { nameOfChain } from '../../model/labelChain.ts'
import { mapProblems } from '../../model/sync.ts'
import { createEvmRpc } from '../../nodes/evm/rpc.ts'
import { withoutNextStep } from '../../nodes/upstreams/nextSteps.ts'
import type { NodeFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Config } from '../config/config.ts'
import type { OpenEvmChain } from '../feature/Feature.ts'
import { readIndex } from '../feature/readIndex.ts'
import type { Stores } from '../feature/stores.ts'
import type { Indexer } from '../indexer/startIndexer.ts'

/** An EVM chain, with what only the composition of the server needs of it. */
export interface ServedChain extends OpenEvmChain {
  /** As `status`, worded for operators. */
  operatorStatus(): SyncStatus
  /** Of the indexer's upstreams and of those that state is read from. */
  figures(): NodeFigures
  /** The indexer that keeps the index of the chain up to date, once there is one. */
  indexer: Pick<Indexer, 'status' | 'figures'> | undefined
}

/**
 * Opens the readers and the nodes of all EVM chains, or none.
 * @param hide - takes passwords out of what a chain's status says of a problem.
 */
export async function openChains(
  config: Config,
  stores: Stores,
  logger: Logger,
  hide: (text: string) => string
): Promise<readonly ServedChain[]> {
  // Addresses can be found wrong, too: then no reader is open yet.
  const nodes = config.chains.evm.map(settings => {
    const { chainId, rpcUrls } = settings
    return { settings, rpc: createEvmRpc({ chainId, rpcUrls, logger }) }
  })
  const openings = nodes.map(async ({ settings, rpc }) => {
    const { chainId } = settings
    return { chainId, settings, rpc, reader: await stores.openReader(chainId) }
  })
  try {
    return (await Promise.all(openings)).map(({ chainId, settings, rpc, reader }) => {
      const readStatus = () => {
        if (chain.indexer === undefined) throw new Error(`nothing indexes chain ${chainId}`)
        return chain.indexer.status()
      }
      const chain: ServedChain = {
        ...{ chainId, settings, rpc, reader, indexer: undefined },
        readIndex: query => readIndex(reader, query),
        name: nameOfChain(chainId, settings.name),
        nativeCurrency: settings.nativeCurrency ?? undefined,
        status: () => mapProblems(readStatus(), problem => withoutNextStep(hide(problem))),
        operatorStatus: () => mapProblems(readStatus(), hide),
        figures() {
          const { upstreams = [], webSockets = [], index } = chain.indexer?.figures() ?? {}
          return {
            upstreams: [...upstreams, ...rpc.figures()],
            ...{ webSockets, ...(index && { index }) }
          }
        }
      }
      return chain
    })
  } catch (error) {
    for (const opening of await Promise.allSettled(openings)) {
      if (opening.status === 'fulfilled') await opening.value.reader.close()
    }
    throw error
  }
}
