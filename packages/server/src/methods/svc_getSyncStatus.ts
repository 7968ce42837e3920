import type { SyncStatus as WireStatus } from '@chain-data/protocol'
import { isDegraded, type SyncStatus } from '../model/sync.ts'
import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../platform/errors.ts'
import type { Handlers } from './MethodContext.ts'

export interface SyncStatusOptions {
  readonly evmChains: ReadonlyMap<number, { status(): SyncStatus }>
  /** Asks a Solana cluster's node for its newest slot. */
  readonly solanaChains: ReadonlyMap<
    number,
    { currentSlot(options: { readonly signal: AbortSignal; readonly deadlineMs: number }): Promise<number> }
  >
}

/** How far the server has followed a chain; of Solana, which is never indexed, only whether its node answers. */
export function createGetSyncStatus(options: SyncStatusOptions): Handlers['svc_getSyncStatus'] {
  const { evmChains, solanaChains } = options

  return async (_params, { chainId = Number.NaN, signal, deadlineMs }) => {
    const evm = evmChains.get(chainId)
    if (evm) return toWireStatus(evm.status())
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

function toWireStatus(status: SyncStatus): WireStatus {
  const { chainId, head, finalized, indexedFrom, indexedTo, poolCovered } = status
  return {
    chainId,
    ...(head === undefined ? {} : { head }),
    ...(finalized === undefined ? {} : { finalized }),
    ...(indexedTo === undefined ? {} : { indexedFrom, indexedTo: indexedTo.number }),
    ...(head === undefined || indexedTo === undefined
      ? {}
      : { lagBlocks: Math.max(0, head - indexedTo.number) }),
    degraded: isDegraded(status),
    covers: { transfers: true, internal: false, pool: poolCovered }
  }
}
