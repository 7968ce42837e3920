import { openStoreReader } from '@chain-data/index'
import { ConfigError } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import { storeOf } from '../config/parseStoreUrl.ts'
import { type IndexView, readIndex } from '../feature/readIndex.ts'

/** The index of one EVM chain, opened for reading. */
export interface OpenIndex {
  /**
   * Runs a query over one consistent view.
   * @returns what the query returns. The view ends then: what it iterates has to be read before.
   */
  read<T>(query: (index: IndexView) => Promise<T>): Promise<T>
  /** Ends it; views that are open fail. */
  close(): Promise<void>
}

/**
 * Opens the index of a chain for queries of your own, beside the server that writes it, in this process or another one.
 * Before there is an index, views are empty.
 *
 * @throws {ConfigError} the chain is not in the configuration, or its index is in the memory of a server.
 * @throws {StoreError} the index cannot be read by this program.
 */
export async function openIndex(config: Config, chainId: number): Promise<OpenIndex> {
  const { evm } = config.chains
  if (!evm.some(chain => chain.chainId === chainId)) {
    const known = evm.map(chain => chain.chainId).join(', ') || 'none'
    throw new ConfigError(`chains.evm has no chain ${chainId}; expected one of: ${known}`)
  }
  const location = storeOf(config, chainId)
  if (location.kind === 'memory') {
    throw new ConfigError(
      'store is "sqlite::memory:", which only its own server can read; expected a folder or a database'
    )
  }
  const reader = await openStoreReader(location, chainId)
  return { read: query => readIndex(reader, query), close: () => reader.close() }
}
