import type { StoreReader } from '../../index/port/store.ts'
import type { Hash } from '../../model/evm.ts'
import { lowestStart, type StartBlock, wantedStart } from '../../model/startBlock.ts'
import type { SyncStatus } from '../../model/sync.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { createPermits } from '../../platform/concurrency/permits.ts'
import type { Logger } from '../../platform/logger.ts'
import { createStatusBoard, type StatusBoard } from './status.ts'
import { createWriterView, readProgress } from './writerView.ts'

export interface WatchedChain {
  readonly chainId: number
  /** Not shared: reads of long histories must not make a writer look silent. */
  readonly reader: Pick<StoreReader, 'openSnapshot'>
  /** As configured. */
  readonly startBlock: StartBlock
  /** Called with the genesis block of the index, once its writer has been heard. */
  onGenesis?(genesisHash: Hash): void
}

/** Statuses of chains that other processes index. */
export interface WriterWatches {
  /** In the order of the chains; never waits. */
  readonly statuses: readonly (() => SyncStatus)[]
  /** Shows and logs nothing from now on. A read under way ends with its reader, which may be closed at once. */
  stop(): void
}

/** Pause between two reads of a chain's reports. */
const lookEveryMs = 200
/** Chains read at the same time, and so connections to PostgreSQL. */
export const looksAtOnce = 4
const silentAfterMs = 5_000

/**
 * Reads the reports of other processes' indexers in the store again and again, in this thread, and shows them as the status
 * of each chain: for a process that indexes nothing itself.
 */
export function watchWriters(
  chains: readonly WatchedChain[],
  options: { readonly logger: Logger; readonly lookEveryMs?: number; readonly silentAfterMs?: number }
): WriterWatches {
  const everyMs = options.lookEveryMs ?? lookEveryMs
  const silentMs = options.silentAfterMs ?? silentAfterMs
  const stopping = new AbortController()
  const watched = chains.map(chain =>
    watchChain(chain, { silentAfterMs: silentMs, logger: options.logger, stopped: stopping.signal })
  )

  const permits = createPermits(inUse => inUse < looksAtOnce)
  /** Each chain waits for itself, so that one that hangs holds up one permit and no other chain. */
  async function keepLooking(look: () => Promise<void>): Promise<void> {
    while (!stopping.signal.aborted) {
      // It rejects at the end only: each look catches what goes wrong.
      await permits.run(look, stopping.signal).catch(() => undefined)
      await pause(everyMs, stopping.signal)
    }
  }
  for (const { look } of watched) void keepLooking(look)

  return {
    statuses: watched.map(({ board }) => board.read),
    stop: () => stopping.abort()
  }
}

function watchChain(
  { chainId, reader, startBlock, onGenesis }: WatchedChain,
  {
    silentAfterMs,
    logger,
    stopped
  }: { readonly silentAfterMs: number; readonly logger: Logger; readonly stopped: AbortSignal }
): { readonly board: StatusBoard; look(): Promise<void> } {
  const board = createStatusBoard({
    ...{ chainId, phase: 'starting', waiting: true, indexing: false },
    ...{ indexedFrom: lowestStart(startBlock), ...wantedStart(startBlock) },
    ...{ backfilled: false, degraded: false, poolCovered: false }
  })
  const show = createWriterView({
    ...{ board, startBlock: lowestStart(startBlock), silentAfterMs },
    silentProblem: `this process does not index, and none that does has said for more than ${silentAfterMs} ms how it stands`,
    ...(onGenesis === undefined ? {} : { onGenesis })
  })
  let isFailing = false
  return {
    board,
    async look() {
      try {
        const stored = await readProgress(reader)
        if (stopped.aborted) return
        show(stored)
        if (isFailing) logger.info('the store can be read again', { chainId })
        isFailing = false
      } catch (error) {
        if (stopped.aborted) return
        // It may be back at the next read; until then no writer is heard.
        if (!isFailing) logger.warn('the store cannot be read', { chainId, error })
        isFailing = true
        show(undefined, error)
      }
    }
  }
}
