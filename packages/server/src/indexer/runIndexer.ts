import { setTimeout as sleep } from 'node:timers/promises'
import { createEvmSource } from '../chains/evm/evmSource.ts'
import { createEvmRpc, type EvmUpstreams } from '../chains/evm/rpc.ts'
import { createWebSocketHeads } from '../chains/evm/upstreams/webSocketHeads.ts'
import type { BlockRef, Hash } from '../model/evm.ts'
import type { SyncStatus } from '../model/sync.ts'
import type { Waiver } from '../model/waivableChecks.ts'
import { ConfigError, NodeContradictionError, StoreError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { NodeFigures } from '../platform/upstreamFigures.ts'
import { StoreInUseError } from '../store/StoreInUseError.ts'
import type { ChainIdentity, StoreWriter, WriterReport } from '../store/store.ts'
import type { ChainSource } from './chainSource.ts'
import { checkIdentity } from './checkIdentity.ts'
import { describeProblem } from './describeProblem.ts'
import { follow } from './follow.ts'
import { createIndexCounts } from './indexCounts.ts'
import { type StatusReports, reportStatus } from './reportStatus.ts'
import { createRetryPauses } from './retryPauses.ts'
import { showWriter } from './showWriter.ts'
import { createStatusBoard, type StatusBoard } from './statusBoard.ts'

/** One chain's indexer, as plain data: it travels to the thread that runs it. */
export interface IndexerConfig {
  readonly chainId: number
  /** In order of preference. */
  readonly rpcUrls: readonly string[]
  /** WebSockets that announce new blocks; none by default. */
  readonly wsUrls?: readonly string[]
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
  /** How often the store is told how its writer stands, for those who wait for its place; 1 s. */
  readonly reportEveryMs?: number
  /** A writer elsewhere that has said nothing for so long is told as stalled; 5 s. */
  readonly writerSilentMs?: number
}

export interface RunIndexerOptions {
  readonly config: IndexerConfig
  /**
   * Waits a while for another writer to end, at most until `signal` is aborted.
   * @throws {StoreInUseError} when that one is still there.
   * @throws {StoreError} when the store is of another chain, or newer.
   */
  openWriter(identity: ChainIdentity): Promise<StoreWriter>
  /** What an earlier run left, readable before the node has said which chain it serves. */
  peek(): Promise<StoredProgress | undefined>
  readonly logger: Logger
  readonly signal: AbortSignal
  onStatus(status: SyncStatus): void
  /** The index is open, and is of the chain with this genesis block. */
  onGenesis?(genesisHash: Hash): void
  /** About once a second, and at the end. */
  onFigures?(figures: NodeFigures): void
}

export interface StoredProgress {
  readonly genesisHash: Hash
  /** Absent, like `indexedTo`, while nothing is indexed. */
  readonly indexedFrom?: number
  readonly indexedTo?: BlockRef
  readonly backfilled: boolean
  readonly degraded: boolean
  /** What the writer has said last, whenever that was. */
  readonly report?: WriterReport
}

const figuresMs = 1_000
const reportMs = 1_000
/** Some reports may come late before their writer counts as silent: a large commit holds its thread up. */
const writerSilentMs = 5_000

/**
 * Indexes one chain until `signal` is aborted: waits for the node, makes sure that it serves the configured chain,
 * opens the store and follows.
 * @throws {StoreError} when the store cannot be opened or written. It is closed whatever happens.
 */
export async function runIndexer(options: RunIndexerOptions): Promise<void> {
  const { config, signal } = options
  const logger = options.logger.child({ component: 'indexer', chainId: config.chainId })
  const stored = await options.peek()
  let reports: StatusReports | undefined
  const board = createStatusBoard(
    {
      chainId: config.chainId,
      phase: 'starting',
      indexedFrom: stored?.indexedFrom ?? config.startBlock,
      ...(stored?.indexedTo === undefined ? {} : { indexedTo: stored.indexedTo }),
      backfilled: stored?.backfilled ?? false,
      degraded: stored?.degraded ?? false,
      poolCovered: false
    },
    status => {
      options.onStatus(status)
      reports?.note(status)
    }
  )
  options.onStatus(board.read())
  const rpc = createEvmRpc({
    chainId: config.chainId,
    rpcUrls: config.rpcUrls,
    role: 'indexer',
    logger,
    ...(config.rpcTimeoutMs === undefined ? {} : { timeoutMs: config.rpcTimeoutMs })
  })
  const { chainId, finality, waivers = [], wsUrls = [] } = config
  const heads = wsUrls.length > 0 ? createWebSocketHeads({ chainId, wsUrls, logger }) : undefined
  const counts = createIndexCounts(chainId)
  const tellFigures = () =>
    options.onFigures?.({
      upstreams: rpc.figures(),
      webSockets: heads?.figures() ?? [],
      // What another server stores is not counted here, which must not look like nothing.
      ...(board.read().waiting ? {} : { index: counts.read() })
    })
  const figuresTimer = setInterval(tellFigures, figuresMs)
  try {
    const source = counts.watchSource(
      createEvmSource({ rpc, finality, waivers, logger, ...(heads ? { heads } : {}) })
    )
    const found = await waitForIdentity(source, chainId, board, logger, signal)
    if (found === undefined) return
    const opened = await waitForTurn(options, board, logger, () => openStore(options, found, rpc))
    if (opened === undefined) return
    const store = counts.watchStore(opened.store)
    const { identity } = opened
    try {
      rpc.expectGenesis(identity.genesisHash)
      options.onGenesis?.(identity.genesisHash)
      const { head, indexedFrom, backfilled, degraded } = await store.state()
      board.change({
        indexedTo: head,
        backfilled,
        degraded,
        indexedFrom: indexedFrom ?? config.startBlock,
        phase: 'backfilling',
        problem: undefined,
        // Another writer's word, until now.
        ...{ waiting: undefined, rollingBackTo: undefined, poolCovered: false, poolSeenAtMs: undefined }
      })
      reports = reportStatus({
        ...{ store, status: board.read(), everyMs: config.reportEveryMs ?? reportMs, logger }
      })
      logger.info('indexing starts', head === undefined ? {} : { indexedTo: head.number })
      await follow({ ...config, source, store, identity, board, logger, signal })
    } finally {
      reports?.stop()
      await store.close()
    }
  } finally {
    clearInterval(figuresTimer)
    tellFigures()
    heads?.close()
    rpc.close()
  }
}

/**
 * Opens the writer. An index of another genesis block than the first upstream's may still be that of another upstream: then
 * only those count.
 */
async function openStore(
  { openWriter, signal }: RunIndexerOptions,
  found: ChainIdentity,
  rpc: EvmUpstreams
): Promise<{ readonly store: StoreWriter; readonly identity: ChainIdentity }> {
  try {
    return { store: await openWriter(found), identity: found }
  } catch (error) {
    const stored = error instanceof StoreError ? error.context.storedGenesis : undefined
    if (typeof stored !== 'string') throw error
    const identity = { chainId: found.chainId, genesisHash: stored as Hash }
    rpc.expectGenesis(identity.genesisHash)
    const isServed = await rpc.identity(signal).then(
      () => true,
      () => false
    )
    if (!isServed) throw error
    return { store: await openWriter(identity), identity }
  }
}

/**
 * Only one indexer writes a chain: the next one waits, as long as it takes, and shows how the other stands.
 * @returns `undefined` when `signal` ended the waiting.
 */
async function waitForTurn<T>(
  { config, peek, onGenesis, signal }: RunIndexerOptions,
  board: StatusBoard,
  logger: Logger,
  open: () => Promise<T>
): Promise<T | undefined> {
  const { startBlock } = config
  const silentAfterMs = config.writerSilentMs ?? writerSilentMs
  const over = new AbortController()
  const showing = showWriter({
    ...{ peek, board, startBlock, silentAfterMs, signal: over.signal },
    ...(onGenesis === undefined ? {} : { onGenesis })
  })
  try {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        return await open()
      } catch (error) {
        if (signal.aborted) break
        if (!(error instanceof StoreInUseError)) throw error
        if (isFirst) logger.info('another indexer writes this chain; waiting for it to end')
      }
    }
    return undefined
  } finally {
    over.abort()
    await showing
  }
}

/**
 * Which chain the node serves, once it has said the same twice in a row: a new index is bound to it for good, and one
 * wrong answer must not decide that.
 * @returns `undefined` when `signal` ended the waiting.
 */
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
      const { chainId: named, genesisHash } = await source.identity(signal)
      checkIdentity({ chainId: named, genesisHash }, { chainId })
      const again = await source.identity(signal)
      if (again.chainId !== named || again.genesisHash !== genesisHash) {
        throw new NodeContradictionError(
          `the node names two genesis blocks, ${genesisHash} and ${again.genesisHash}; expected the same twice`
        )
      }
      return { chainId, genesisHash }
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
