import { setTimeout as sleep } from 'node:timers/promises'
import { createEvmSource } from '../chains/evm/evmSource.ts'
import { createEvmRpc } from '../chains/evm/rpc.ts'
import type { BlockRef } from '../model/evm.ts'
import type { SyncStatus } from '../model/sync.ts'
import type { Waiver } from '../model/waivableChecks.ts'
import { ConfigError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { ChainIdentity, StoreWriter } from '../store/store.ts'
import type { ChainSource } from './chainSource.ts'
import { checkIdentity } from './checkIdentity.ts'
import { describeProblem } from './describeProblem.ts'
import { follow } from './follow.ts'
import { createRetryPauses } from './retryPauses.ts'
import { createStatusBoard, type StatusBoard } from './statusBoard.ts'

/** One chain's indexer, as plain data: it travels to the thread that runs it. */
export interface IndexerConfig {
  readonly chainId: number
  /** In order of preference. */
  readonly rpcUrls: readonly string[]
  /** First block to index; an index that exists keeps its own. */
  readonly startBlock: number
  /** How many blocks deep is final; `auto`: what the node says. */
  readonly finality: 'auto' | number
  readonly pollIntervalMs: number
  /** Checks of blocks that this chain is allowed to break; absent: none. */
  readonly waivers?: readonly Waiver[]
  /** See `FollowOptions`. */
  readonly lowerHeadGraceMs?: number
  readonly roundBlocks?: number
  readonly window?: number
  /** Bound on one exchange with the node, retries included. */
  readonly rpcTimeoutMs?: number
}

export interface RunIndexerOptions {
  readonly config: IndexerConfig
  /** @throws {StoreError} when the store is of another chain, newer, or in use. */
  openWriter(identity: ChainIdentity): Promise<StoreWriter>
  /** What an earlier run left, readable before the node has said which chain it serves. */
  peek(): Promise<StoredProgress | undefined>
  readonly logger: Logger
  readonly signal: AbortSignal
  onStatus(status: SyncStatus): void
}

export interface StoredProgress {
  readonly indexedFrom: number
  readonly indexedTo: BlockRef
  readonly backfilled: boolean
}

/**
 * Indexes one chain until `signal` is aborted: waits for the node, makes sure that it serves the configured chain,
 * opens the store and follows.
 * @throws {StoreError} when the store cannot be opened or written. It is closed whatever happens.
 */
export async function runIndexer(options: RunIndexerOptions): Promise<void> {
  const { config, signal } = options
  const logger = options.logger.child({ component: 'indexer', chainId: config.chainId })
  const stored = await options.peek()
  const board = createStatusBoard(
    {
      chainId: config.chainId,
      phase: 'starting',
      indexedFrom: stored?.indexedFrom ?? config.startBlock,
      ...(stored === undefined ? {} : { indexedTo: stored.indexedTo }),
      backfilled: stored?.backfilled ?? false,
      degraded: false,
      poolCovered: false
    },
    options.onStatus
  )
  options.onStatus(board.read())
  const rpc = createEvmRpc({
    chainId: config.chainId,
    rpcUrls: config.rpcUrls,
    logger,
    ...(config.rpcTimeoutMs === undefined ? {} : { timeoutMs: config.rpcTimeoutMs })
  })
  try {
    const source = createEvmSource({ rpc, finality: config.finality, waivers: config.waivers ?? [], logger })
    const identity = await waitForIdentity(source, config.chainId, board, logger, signal)
    if (identity === undefined) return
    const store = await options.openWriter(identity)
    try {
      const { head, indexedFrom, backfilled, degraded } = await store.state()
      board.change({
        indexedTo: head,
        backfilled,
        degraded,
        indexedFrom: indexedFrom ?? config.startBlock,
        phase: 'backfilling',
        problem: undefined
      })
      logger.info('indexing starts', head === undefined ? {} : { indexedTo: head.number })
      await follow({ ...config, source, store, identity, board, logger, signal })
    } finally {
      await store.close()
    }
  } finally {
    rpc.close()
  }
}

/** @returns `undefined` when `signal` ended the waiting. */
async function waitForIdentity(
  source: ChainSource,
  chainId: number,
  board: StatusBoard,
  logger: Logger,
  signal: AbortSignal
): Promise<ChainIdentity | undefined> {
  const pauses = createRetryPauses()
  while (!signal.aborted) {
    try {
      const found = await source.identity(signal)
      checkIdentity(found, { chainId })
      return { chainId, genesisHash: found.genesisHash }
    } catch (error) {
      if (signal.aborted) break
      const problem = describeProblem(error)
      board.change({ phase: 'stalled', problem })
      const waitMs = Math.round(pauses.next(error))
      const fields = { problem, attempt: pauses.failures(), waitMs }
      if (pauses.isMilestone()) {
        if (error instanceof ConfigError) logger.error('the node serves another chain', fields)
        else logger.warn('the node cannot be used yet', fields)
      }
      await sleep(waitMs, undefined, { signal }).catch(() => undefined)
    }
  }
  return undefined
}
