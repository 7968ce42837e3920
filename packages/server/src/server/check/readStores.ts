import { openStoreReader, StoreError, type StoreLocation } from '@chain-data/index'
import type { Config } from '../config/config.ts'
import { storeOf } from '../config/parseStoreUrl.ts'
import type { EvmChainHealth } from '../http/health.ts'

/** A chain as `chain-data status` shows it. `not running`: no server answered, so only the store was read. */
export type ChainRow = { readonly kind: 'evm' | 'solana'; readonly chainId: number } & {
  readonly phase: EvmChainHealth['phase'] | 'not running'
} & Partial<Omit<EvmChainHealth, 'chainId' | 'phase'>>

/**
 * Reads the progress of every configured chain's index from the store, while no server answers; also next to a writer or
 * after a crash. Facts of a running server (head, lag, pool) are absent.
 */
export async function readStores(config: Config): Promise<readonly ChainRow[]> {
  const evm = config.chains.evm.map(({ chainId }) => {
    const location = storeOf(config, chainId)
    return location.kind === 'memory'
      ? Promise.resolve<ChainRow>({ kind: 'evm', chainId, phase: 'not running' })
      : readStore(location, chainId)
  })
  const solana = config.chains.solana.map(
    ({ chainId }): ChainRow => ({ kind: 'solana', chainId, phase: 'not running' })
  )
  return [...(await Promise.all(evm)), ...solana]
}

async function readStore(location: StoreLocation, chainId: number): Promise<ChainRow> {
  const row = { kind: 'evm', chainId, phase: 'not running' } as const
  try {
    const reader = await openStoreReader(location, chainId)
    try {
      const snapshot = await reader.openSnapshot()
      const range = await snapshot.indexedRange()
      const { degraded, finalized, backfilled } = await snapshot.marks()
      return {
        ...{ ...row, backfilled, degraded },
        ...(range === undefined ? {} : { indexedFrom: range.from, indexedTo: range.to.number }),
        ...(finalized === undefined ? {} : { finalized })
      }
    } finally {
      await reader.close()
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error
    return { ...row, problem: error.message }
  }
}
