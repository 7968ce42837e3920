import {
  type IndexCoverage,
  type IndexedRange,
  type IndexMarks,
  StoreError,
  type StoreReader,
  type SyncStatus
} from '@chain-data/index'
import type { NativeCurrency, SyncStatus as WireStatus } from '@chain-data/protocol'
import type { DeepSource } from '../../model/deepHistory.ts'
import {
  type ReadinessRules,
  type SolanaState,
  showIntegrity,
  toChainState,
  withIndex
} from '../../model/sync.ts'
import type { Clock } from '../../platform/clock.ts'
import { DeadlineError, withDeadline } from '../../platform/concurrency/deadline.ts'
import { present } from '../../platform/present.ts'
import type { Handlers } from './MethodContext.ts'
import { knownFrom } from './requireCurrent.ts'

/** How a chain is called; what is not known is absent. */
interface ChainNames {
  readonly name?: string | undefined
  readonly nativeCurrency?: NativeCurrency | undefined
}

/** The sources of one EVM chain's status. */
interface StatusChain extends ChainNames {
  readonly reader: Pick<StoreReader, 'openSnapshot'>
  status(): SyncStatus
  /** Returns which index of addresses answers for history older than the index; `undefined`: not known. */
  deepHistory(): DeepSource | undefined
}

export interface SyncStatusOptions {
  readonly evmChains: ReadonlyMap<number, StatusChain>
  readonly solanaChains: ReadonlyMap<number, Pick<ChainNames, 'name'> & { state(): SolanaState }>
  readonly serveWhileSyncing: boolean
  readonly clock: Clock
}

/** Contents of the index, from one snapshot. */
interface IndexView {
  readonly marks: IndexMarks
  readonly range: IndexedRange | undefined
  readonly coverage: IndexCoverage
}

/** Timeout of the store: a status is needed most when the store is slow. */
const storeTimeoutMs = 1_000

/**
 * Reports how far the server has followed a chain, from the view of the index that a history would be read from now; of
 * Solana, which is never indexed, only whether its node answers.
 *
 * @remarks A few small reads of the store, and no call to a node.
 */
export function createGetSyncStatus(options: SyncStatusOptions): Handlers['svc_getSyncStatus'] {
  const { evmChains, solanaChains, serveWhileSyncing, clock } = options

  return async (_params, { chainId = Number.NaN }) => {
    const evm = evmChains.get(chainId)
    if (evm) {
      const view = await readIndex(evm.reader)
      // Read after the view, as histories do: the status then knows everything that led to the view.
      return toWireStatus(evm, view, { serveWhileSyncing, nowMs: clock.now() })
    }
    const solana = solanaChains.get(chainId)
    if (!solana) throw new Error(`no parts for chain ${chainId}`)
    const { phase, ready, degraded, head, headAgeSeconds, problem } = solana.state()
    return {
      ...{ chainId, ...present({ name: solana.name }), ready, phase, degraded },
      ...present({ head, headAgeSeconds, problem }),
      covers: { transfers: false, internal: false, operations: false, pool: false }
    }
  }
}

/** @returns nothing where the store does not answer, or not in time. */
async function readIndex(reader: StatusChain['reader']): Promise<IndexView | undefined> {
  try {
    return await withDeadline({ timeoutMs: storeTimeoutMs }, async () => {
      const snapshot = await reader.openSnapshot()
      try {
        const marks = await snapshot.marks()
        return { marks, range: await snapshot.indexedRange(), coverage: await snapshot.coverage() }
      } finally {
        await snapshot.close()
      }
    })
  } catch (error) {
    if (error instanceof DeadlineError || error instanceof StoreError) return undefined
    throw error
  }
}

function toWireStatus(chain: StatusChain, view: IndexView | undefined, rules: ReadinessRules): WireStatus {
  const { name, nativeCurrency } = chain
  const reported = chain.status()
  const status = view === undefined ? reported : withIndex(reported, { ...view.marks, range: view.range })
  const state = toChainState(status, rules)
  const { chainId, phase, degraded, indexedFrom, indexedTo, poolCovered } = state
  const { head, headAgeSeconds, finalized, lagBlocks, problem, backfill } = state
  const from = view?.range?.from
  const coversAll = (from: number | undefined) =>
    indexedTo !== undefined && from !== undefined && from <= indexedFrom
  const hasUnknown = view?.coverage.unknown !== undefined
  // In the middle of a reorg, and without its index, no history is answered, whatever the indexer last reported.
  const isSettled = view !== undefined && (view.marks.settled || !view.marks.backfilled)
  return {
    chainId,
    ...present({ name, nativeCurrency }),
    ready: state.ready && isSettled,
    phase,
    ...present({ head, headAgeSeconds, finalized }),
    ...(indexedTo === undefined ? {} : { indexedFrom, indexedTo: indexedTo.number }),
    ...present({ lagBlocks, backfill }),
    degraded,
    ...present({ problem: problem ?? (view === undefined ? 'the store does not answer' : undefined) }),
    ...present({ deepHistory: indexedFrom === 0 ? 'none' : chain.deepHistory() }),
    covers: {
      ...{ transfers: !hasUnknown, internal: coversAll(view?.coverage.tracedFrom) },
      ...{ operations: coversAll(from) && !hasUnknown, pool: poolCovered }
    },
    ...(view && from !== undefined && knownFrom(from, view.coverage)),
    ...(view && { integrity: showIntegrity(state.integrity, from) })
  }
}
