import type { SyncStatus as WireStatus } from '@chain-data/protocol'
import type { IndexCoverage } from '../../index/port/status.ts'
import type { StoreReader } from '../../index/port/store.ts'
import { isDegraded, type SyncStatus } from '../../model/sync.ts'
import { DeadlineError, withDeadline } from '../../platform/concurrency/deadline.ts'
import {
  NodeContradictionError,
  NodeRpcError,
  NodeUnavailableError,
  StoreError
} from '../../platform/errors.ts'
import type { Handlers } from './MethodContext.ts'
import { knownFrom } from './requireCurrent.ts'

/** The sources of one EVM chain's status. */
interface StatusChain {
  readonly reader: Pick<StoreReader, 'openSnapshot'>
  status(): SyncStatus
  /** Who answers for history older than the index; absent, and `undefined`: not known. */
  deepHistory?(): 'node' | 'none' | undefined
}

export interface SyncStatusOptions {
  readonly evmChains: ReadonlyMap<number, StatusChain>
  /** Asks a Solana cluster's node for its newest slot. */
  readonly solanaChains: ReadonlyMap<
    number,
    { currentSlot(options: { readonly signal: AbortSignal; readonly deadlineMs: number }): Promise<number> }
  >
}

/** Timeout of the store: a status is needed most when the store is slow. */
const coverageTimeoutMs = 1_000

/**
 * Reports how far the server has followed a chain; of Solana, which is never indexed, only whether its node answers.
 *
 * @remarks One small read of the store. Where the store is away the status says nothing of what the index covers.
 */
export function createGetSyncStatus(options: SyncStatusOptions): Handlers['svc_getSyncStatus'] {
  const { evmChains, solanaChains } = options

  return async (_params, { chainId = Number.NaN, signal, deadlineMs }) => {
    const evm = evmChains.get(chainId)
    if (evm) return toWireStatus(evm.status(), await readCoverage(evm.reader), evm.deepHistory?.())
    const solana = solanaChains.get(chainId)
    if (!solana) throw new Error(`no parts for chain ${chainId}`)
    const covers = { transfers: false, internal: false, pool: false }
    try {
      return { chainId, head: await solana.currentSlot({ signal, deadlineMs }), degraded: false, covers }
    } catch (error) {
      if (!isOfNode(error)) throw error
      return { chainId, degraded: true, covers }
    }
  }
}

function isOfNode(error: unknown): boolean {
  return (
    error instanceof NodeUnavailableError ||
    error instanceof NodeContradictionError ||
    error instanceof NodeRpcError
  )
}

/** @returns nothing where the store does not answer, or not in time. */
async function readCoverage(reader: StatusChain['reader']): Promise<IndexCoverage> {
  try {
    return await withDeadline({ timeoutMs: coverageTimeoutMs }, async () => {
      const snapshot = await reader.openSnapshot()
      try {
        return await snapshot.coverage()
      } finally {
        await snapshot.close()
      }
    })
  } catch (error) {
    if (error instanceof DeadlineError || error instanceof StoreError) return {}
    throw error
  }
}

function toWireStatus(
  status: SyncStatus,
  coverage: IndexCoverage,
  deepHistory: 'node' | 'none' | undefined
): WireStatus {
  const { chainId, head, finalized, indexedFrom, indexedTo, poolCovered } = status
  const { tracedFrom } = coverage
  const isTraced = indexedTo !== undefined && tracedFrom !== undefined && tracedFrom <= indexedFrom
  return {
    chainId,
    ...(head === undefined ? {} : { head }),
    ...(finalized === undefined ? {} : { finalized }),
    ...(indexedTo === undefined ? {} : { indexedFrom, indexedTo: indexedTo.number }),
    ...(head === undefined || indexedTo === undefined
      ? {}
      : { lagBlocks: Math.max(0, head - indexedTo.number) }),
    degraded: isDegraded(status),
    covers: { transfers: true, internal: isTraced, pool: poolCovered },
    ...knownFrom(coverage),
    ...(deepHistory === undefined || indexedTo === undefined || indexedFrom === 0 ? {} : { deepHistory })
  }
}
