import {
  type ChainIdentity,
  IndexDamagedError,
  StoreInUseError,
  type StoreReader,
  StoreUnavailableError,
  type SyncStatus
} from '@chain-data/index'
import { createEvmSource, type EvmSourceOptions } from '../../evm/blocks/evmSource.ts'
import { createPoolReader } from '../../evm/pool/pool.ts'
import { lowestStart } from '../../model/startBlock.ts'
import { createEvmRpc, type EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { createWebSocketHeads } from '../../nodes/evm/webSocketHeads.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { ConfigError, NodeContradictionError, NodeUnavailableError } from '../../platform/errors.ts'
import type { NodeFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import { present } from '../../platform/present.ts'
import { backfill } from './backfill.ts'
import { type FollowOptions, follow } from './follow.ts'
import { adviseReset, type FetchBlock, Healer } from './Healer.ts'
import { readIdentity } from './identity.ts'
import { createIndexCounts, type IndexCounts } from './indexCounts.ts'
import { type OpenedStore, type OpeningOptions, openInTurn } from './openInTurn.ts'
import { createRetryPauses } from './retryPauses.ts'
import { scrubIndex } from './scrubIndex.ts'
import type { IndexerConfig } from './startIndexer.ts'
import {
  createStatusBoard,
  describeProblem,
  reportStatus,
  type StatusBoard,
  stalledBy,
  startingStatus
} from './status.ts'

export interface RunIndexerOptions extends Pick<OpeningOptions, 'openWriter' | 'peek' | 'onGenesis'> {
  readonly config: IndexerConfig
  /** Opens the index for the check in the background; absent: it is not checked. */
  openReader?(): Promise<Pick<StoreReader, 'openSnapshot'>>
  /** Decodes blocks in other threads; absent: they are decoded here. */
  readonly decode?: EvmSourceOptions['decode']
  readonly logger: Logger
  readonly signal: AbortSignal
  onStatus(status: SyncStatus): void
  /** About once a second, and at the end. */
  onFigures?(figures: NodeFigures): void
}

const figuresMs = 1_000
const reportMs = 1_000
/** Some reports may come late before their writer counts as silent: a large commit holds its thread up. */
const writerSilentMs = 5_000
/** A store that was followed into for so long was not lost from the start. */
const soundAfterMs = 10_000
/** Pause after following met damage, which is being replaced meanwhile. */
const damagedPauseMs = 1_000
/** A node whose chain was followed for so long does not name two chains in turn: its next one is indexed at once. */
const changedAfterMs = 1_000

/**
 * Indexes one chain until `signal` is aborted: waits for the node, makes sure that it serves the configured chain,
 * opens the store and follows. A store that is out of reach, or lost to another writer, is opened again, at the first time
 * at once: where the index stands is written in it, so that nothing is stored twice or left out.
 * @throws {StoreError} when the store cannot be opened or written for another reason. It is closed whatever happens.
 */
export async function runIndexer(options: RunIndexerOptions): Promise<void> {
  const { config } = options
  const logger = options.logger.child({ component: 'indexer', chainId: config.chainId })
  /** An index that was there is not made anew when it is missing: whoever moved it may put it back. */
  let mustExist = false
  const peek = async () => {
    const found = await options.peek()
    mustExist ||= found !== undefined
    return found
  }
  const openWriter: RunIndexerOptions['openWriter'] = async (identity, wait) => {
    const store = await options.openWriter(identity, { ...wait, mustExist })
    mustExist = true
    return store
  }
  // There may be nothing yet, or something that the writer will refuse with a better message.
  const stored = await peek().catch(() => undefined)
  const board = createStatusBoard({
    ...startingStatus(config.chainId, config.startBlock),
    ...(stored?.range && { indexedFrom: stored.range.from, indexedTo: stored.range.to }),
    ...(stored && { backfilled: stored.backfilled, degraded: stored.degraded })
  })
  board.watch(options.onStatus)
  options.onStatus(board.read())
  const rpc = createEvmRpc({
    chainId: config.chainId,
    rpcUrls: config.rpcUrls,
    role: 'indexer',
    logger,
    ...(config.rpcTimeoutMs === undefined ? {} : { timeoutMs: config.rpcTimeoutMs })
  })
  const { chainId, finality, waivers = [], wsUrls = [], dev = false, traces = 'off', roots } = config
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
    const sourceOptions = { rpc, finality, waivers, dev, roots, logger }
    const plain = createEvmSource({
      ...{ ...sourceOptions, traces, decode: options.decode },
      ...(heads ? { heads } : {})
    })
    const untraced = createEvmSource(sourceOptions)
    const source: FollowOptions['source'] = {
      ...plain,
      pool: createPoolReader({ rpc, logger }),
      block: (number, blockSignal, onSize) => counts.fetching(plain.block(number, blockSignal, onSize))
    }
    const fetchBlock: Following['fetchBlock'] = (number, isTraced, blockSignal) =>
      (isTraced ? plain : untraced).block(number, blockSignal)
    const healer = new Healer({ chainId, board, logger, fetchBlock })
    const ownOptions = { ...options, peek, openWriter }
    await keepFollowing({ options: ownOptions, board, rpc, source, logger, counts, healer, fetchBlock })
  } finally {
    clearInterval(figuresTimer)
    tellFigures()
    heads?.close()
    rpc.close()
  }
}

interface Following {
  readonly options: RunIndexerOptions
  readonly board: StatusBoard
  readonly rpc: EvmUpstreams
  readonly source: FollowOptions['source']
  readonly logger: Logger
  readonly counts: IndexCounts
  readonly healer: Healer
  readonly fetchBlock: FetchBlock
}

/** Waits for the node, opens the store and follows into it, again and again where one of them is lost. */
async function keepFollowing(following: Following): Promise<void> {
  const { options, board, rpc, source, logger } = following
  const { openWriter, peek, onGenesis, config, signal } = options
  const pauses = createRetryPauses()
  let found: ChainIdentity | undefined
  while (!signal.aborted) {
    let followedSinceMs = Number.POSITIVE_INFINITY
    try {
      if (found === undefined) {
        found = await readIdentity(source, config.chainId, signal)
        pauses.reset()
      }
      const opened = await openInTurn({
        ...{ openWriter, peek, signal, board, rpc, found, logger },
        findAnew: config.dev ? () => readIdentity(source, config.chainId, signal) : undefined,
        startBlock: lowestStart(config.startBlock),
        silentAfterMs: config.writerSilentMs ?? writerSilentMs,
        ...(onGenesis === undefined ? {} : { onGenesis })
      })
      if (opened === undefined) return
      followedSinceMs = performance.now()
      await followInto(opened, following)
    } catch (error) {
      if (signal.aborted) return
      const isOfStore = found !== undefined && !isOfNode(error)
      if (isOfStore && !mayBeHadAgain(error)) throw adviseReset(error, config.chainId)
      const followedMs = performance.now() - followedSinceMs
      if (followedMs > soundAfterMs) pauses.reset()
      const problem = describeProblem(error)
      board.change(stalledBy(error))
      const pauseMs = pauses.next(error)
      if (!isOfStore) {
        found = undefined
        rpc.expectGenesis(undefined)
        board.change({ head: undefined, finalized: undefined })
        if (followedMs > changedAfterMs) continue
      }
      const waitMs = isOfStore && pauses.failures() === 1 ? 0 : Math.round(pauseMs)
      if (pauses.isMilestone()) {
        const fields = { problem, attempt: pauses.failures(), waitMs }
        if (isOfStore) logger.warn('the store is lost and opened again', fields)
        else if (error instanceof ConfigError) logger.error('the node serves another chain', fields)
        else logger.warn('the node cannot be used yet', fields)
      }
      await pause(waitMs, signal)
    }
  }
}

/** The node of a development chain serves another one by now, or none at the moment. */
function isOfNode(error: unknown): boolean {
  return (
    error instanceof ConfigError ||
    error instanceof NodeUnavailableError ||
    error instanceof NodeContradictionError
  )
}

/** Nobody reaches the store, or another writer has taken it over: both pass. */
function mayBeHadAgain(error: unknown): boolean {
  return error instanceof StoreUnavailableError || error instanceof StoreInUseError
}

/** @returns when the signal is aborted. The store is closed whatever happens. */
async function followInto(opened: OpenedStore, following: Following): Promise<void> {
  const { options, board, rpc, healer } = following
  const { config, signal, onGenesis } = options
  const { store, identity } = opened
  const healing = openAbortScope([signal])
  let stopReports = () => {}
  let endRound = () => {}
  let healed: Promise<unknown> | undefined
  try {
    rpc.expectGenesis(identity.genesisHash)
    onGenesis?.(identity.genesisHash)
    // Another writer's word, until now.
    const others = {
      waiting: undefined,
      rollingBackTo: undefined,
      poolCovered: false,
      poolSeenAtMs: undefined
    }
    board.change({ ...others, phase: 'backfilling', problem: undefined })
    stopReports = reportStatus({
      store,
      board,
      everyMs: config.reportEveryMs ?? reportMs,
      logger: following.logger
    })
    healed = Promise.all([
      healer.healInto(store, healing.signal, () => endRound()),
      scrub(following, healing.signal),
      fillDown(opened, following, healing.signal)
    ])
    while (!signal.aborted) {
      const round = openAbortScope([signal])
      endRound = round.end
      try {
        await followOnce(opened, following, round.signal)
      } catch (error) {
        if (signal.aborted || !(error instanceof IndexDamagedError)) throw error
        // Following goes on once the healer has replaced it.
        healer.report(error.damage)
        board.change({ phase: 'stalled', problem: describeProblem(error), rollingBackTo: undefined })
        await pause(damagedPauseMs, signal)
      } finally {
        round.end()
      }
    }
  } catch (error) {
    // What went wrong first is worth telling.
    await store.close().catch(() => undefined)
    throw error
  } finally {
    stopReports()
    healing.end()
    await healed
  }
  await store.close()
}

/** Adds the blocks older than the index, where the configuration wants them. */
async function fillDown({ store }: OpenedStore, following: Following, signal: AbortSignal): Promise<void> {
  const { chainId, startBlock, window } = following.options.config
  if (startBlock === 'latest') return
  const { source, board, counts, logger, healer } = following
  await backfill({
    ...{ source, store, chainId, startBlock, board, counts, logger, signal },
    onDamage: damage => healer.report(damage),
    ...present({ window })
  })
}

/** Checks the index in the background, where the configuration wants that. */
async function scrub({ options, board, healer }: Following, signal: AbortSignal): Promise<void> {
  const { checkSeconds = 0 } = options.config
  if (checkSeconds === 0 || options.openReader === undefined) return
  const reader = await options.openReader()
  await scrubIndex({ reader, passSeconds: checkSeconds, healer, board, signal })
}

/** Follows from where the store is. @returns when the signal is aborted. */
async function followOnce(
  { store, identity }: OpenedStore,
  { options: { config }, board, source, counts, logger, healer }: Following,
  signal: AbortSignal
): Promise<void> {
  const { head, indexedFrom, backfilled, degraded } = await store.state()
  board.change({
    indexedTo: head,
    backfilled,
    degraded,
    indexedFrom: indexedFrom ?? lowestStart(config.startBlock),
    phase: 'backfilling',
    ...{ problem: undefined, rollingBackTo: undefined, poolCovered: false, poolSeenAtMs: undefined }
  })
  logger.info('indexing starts', head === undefined ? {} : { indexedTo: head.number })
  const dev = !config.dev ? undefined : config.rpcUrls.length === 1 ? 'oneNode' : 'manyNodes'
  const isParted = (number: number) => healer.isParted(number)
  await follow({ ...config, source, store, identity, board, counts, logger, signal, dev, isParted })
}
