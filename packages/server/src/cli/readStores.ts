import type { Config } from '../config.ts'
import { StoreError } from '../platform/errors.ts'
import { parseStoreUrl } from '../store/parseStoreUrl.ts'
import { openSqliteReader } from '../store/sqlite/openSqliteReader.ts'
import type { ChainRow } from './formatStatus.ts'

/**
 * How far the index of every configured chain has come, read from the files while no server answers. Reads only, also
 * beside a writer or after a crash. What only a running server knows (head, lag, pool) is absent.
 */
export async function readStores(config: Config): Promise<readonly ChainRow[]> {
  const location = parseStoreUrl(config.store)
  const evm = config.chains.evm.map(({ chainId }) =>
    location.kind === 'sqlite'
      ? readStore(location.folder, chainId)
      : Promise.resolve<ChainRow>({ kind: 'evm', chainId, phase: 'not running' })
  )
  const solana = config.chains.solana.map(
    ({ chainId }): ChainRow => ({ kind: 'solana', chainId, phase: 'not running' })
  )
  return [...(await Promise.all(evm)), ...solana]
}

async function readStore(folder: string, chainId: number): Promise<ChainRow> {
  const row = { kind: 'evm', chainId, phase: 'not running' } as const
  try {
    const reader = await openSqliteReader(folder, chainId)
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
