import { openStoreReader } from '../../index/openStoreReaders.ts'
import { parseStoreUrl, type StoreLocation } from '../../index/parseStoreUrl.ts'
import { StoreError } from '../../platform/errors.ts'
import type { Config } from '../config/config.ts'
import type { EvmChainHealth } from '../http/statusPage/StatusReport.ts'

/** One chain as `chain-data status` shows it. `not running`: no server answered, so only the store was read. */
export type ChainRow = { readonly kind: 'evm' | 'solana'; readonly chainId: number } & {
  readonly phase: EvmChainHealth['phase'] | 'not running'
} & Partial<Omit<EvmChainHealth, 'chainId' | 'phase'>>

/**
 * How far the index of every configured chain has come, read from the store while no server answers. Reads only, also
 * beside a writer or after a crash. What only a running server knows (head, lag, pool) is absent.
 */
export async function readStores(config: Config): Promise<readonly ChainRow[]> {
  const location = parseStoreUrl(config.store)
  const evm = config.chains.evm.map(({ chainId }) =>
    location.kind === 'memory'
      ? Promise.resolve<ChainRow>({ kind: 'evm', chainId, phase: 'not running' })
      : readStore(location, chainId)
  )
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
        ...{ ...row, ready: backfilled, degraded },
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
