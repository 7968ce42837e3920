import type { Hash, StoreReader, SyncStatus } from '@chain-data/index'
import { lowestStart, type StartBlock } from '../../model/startBlock.ts'
import { createPermits } from '../../platform/concurrency/permits.ts'
import type { Logger } from '../../platform/logger.ts'
import { createStatusBoard, startingStatus } from './status.ts'
import { readProgress, showWriter } from './writerView.ts'

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
  const { signal } = stopping
  const { logger } = options
  const permits = createPermits(inUse => inUse < looksAtOnce)
  const boards = chains.map(({ chainId, reader, startBlock, onGenesis }) => {
    const starting = startingStatus(chainId, startBlock)
    const board = createStatusBoard({ ...starting, waiting: true, indexing: false })
    let isFailing = false
    // Each chain waits for itself, so that one that hangs holds up one permit and no other chain.
    showWriter({
      ...{ board, startBlock: lowestStart(startBlock), silentAfterMs: silentMs, everyMs },
      silentProblem: () =>
        `this process does not index, and none that does has said for more than ${silentMs} ms how it stands`,
      ...(onGenesis === undefined ? {} : { onGenesis }),
      peek: () => permits.run(() => readProgress(reader), signal),
      onRead(error) {
        // It may be back at the next read; until then no writer is heard.
        if (error !== undefined && !isFailing) logger.warn('the store cannot be read', { chainId, error })
        if (error === undefined && isFailing) logger.info('the store can be read again', { chainId })
        isFailing = error !== undefined
      },
      signal
    }).catch((error: unknown) =>
      logger.error('what another indexer says cannot be shown', { chainId, error })
    )
    return board
  })

  return {
    statuses: boards.map(board => board.read),
    stop: () => stopping.abort()
  }
}
