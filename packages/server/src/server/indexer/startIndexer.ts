import { type MessagePort, Worker } from 'node:worker_threads'
import type { Hash, StoreLocation, SyncStatus } from '@chain-data/index'
import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import type { RootVerification } from '../../model/rootParts.ts'
import type { StartBlock } from '../../model/startBlock.ts'
import type { TraceMode } from '../../model/traceMode.ts'
import type { Waiver } from '../../model/waivableChecks.ts'
import { withDeadline } from '../../platform/concurrency/deadline.ts'
import { backOffMs } from '../../platform/concurrency/pause.ts'
import type { NodeFigures } from '../../platform/figures.ts'
import type { LogFields, Logger } from '../../platform/logger.ts'
import { findThreadEntry } from '../threads/findThreadEntry.ts'
import { unpackError } from '../threads/sentErrors.ts'
import { createThreads, maxWriters, type ThreadEnd, type Threads } from './createThreads.ts'
import type { FollowOptions } from './follow.ts'
import { dateStall, startingStatus } from './status.ts'

/** One chain's indexer, as plain data: it travels to the thread that runs it. */
export interface IndexerConfig
  extends Pick<FollowOptions, 'lowerHeadGraceMs' | 'roundBlocks' | 'recentBlocks' | 'window'> {
  readonly chainId: number
  /** In order of preference. */
  readonly rpcUrls: readonly NodeEndpoint[]
  /** WebSockets that announce new blocks; none by default. */
  readonly wsUrls?: readonly string[]
  /** First block to index; an index that exists keeps its own. */
  readonly startBlock: StartBlock
  /** Depth in blocks that counts as final; `auto`: the node's `finalized` tag. */
  readonly finality: 'auto' | number
  readonly pollIntervalMs: number
  /** Indexing of blocks with their traces; `off`. */
  readonly traces?: TraceMode
  /** Checks of blocks that this chain is allowed to break; absent: none. */
  readonly waivers?: readonly Waiver[]
  /** A development chain, whose node may go back or begin anew at any time. */
  readonly dev?: boolean
  /** Blocks that are held against their headers; absent: none. */
  readonly roots?: RootVerification | undefined
  /** Bound on one exchange with the node, retries included. */
  readonly rpcTimeoutMs?: number
  /** Time in which the whole index is checked once, in the background; 0 or absent: never. */
  readonly checkSeconds?: number
  /** Newest blocks whose changes are kept in the log; absent: the store's default. */
  readonly changeLogBlocks?: number
  /** Interval of the writer's reports in the store, for standby servers; 1 s. */
  readonly reportEveryMs?: number
  /** Silence after which a writer elsewhere is shown as stalled; 5 s. */
  readonly writerSilentMs?: number
}

export interface StartIndexerOptions extends IndexerConfig {
  /** The thread opens its own writer there. */
  readonly store: StoreLocation
  readonly logger: Logger
  /** Called with every status that differs from the one before, at most about ten times a second. */
  onStatus?(status: SyncStatus): void
  /** Called with the genesis block of the index each time that a thread has opened it. */
  onGenesis?(genesisHash: Hash): void
  /** In which threads is written, for all chains of a server; absent: a thread of its own. */
  readonly writers?: Threads
  /** Threads that decode blocks while a chain catches up, for all chains of a server; absent: it does so itself. */
  readonly decoders?: Threads | undefined
  /** The built `indexerThread` file, for hosts that bundle this package and move files about. */
  readonly threadEntry?: URL
}

/** Data that a thread is started with. */
export interface ThreadData {
  readonly config: IndexerConfig
  readonly store: StoreLocation
  /** Leads to the thread in which the store is written; for `connectWriter`. */
  readonly writerPort: MessagePort
  /** It may ask for threads that decode blocks. */
  readonly hasDecoders: boolean
}

export type LogSeverity = 'debug' | 'info' | 'warn' | 'error'

/** Messages of the thread. */
export type FromThread =
  | { readonly kind: 'status'; readonly status: SyncStatus }
  | {
      readonly kind: 'log'
      readonly severity: LogSeverity
      readonly message: string
      readonly fields: LogFields
    }
  /** The genesis block of the index, once that is open. */
  | { readonly kind: 'genesis'; readonly genesisHash: Hash }
  /** About once a second. */
  | { readonly kind: 'figures'; readonly figures: NodeFigures }
  /** It needs connections to the threads that decode blocks, or has closed them. */
  | { readonly kind: 'decoders'; readonly isWanted: boolean }
  /** The thread ends now. */
  | { readonly kind: 'failed'; readonly reason: EndReason }

/** Why a thread has ended, for the status of its chain. */
type EndReason = { readonly problem: string } & Pick<SyncStatus, 'indexUnusable'>

/** Messages to the thread. */
export type ToThread =
  | { readonly kind: 'stop' }
  /** One for each thread that decodes blocks, for `connectDecoders`. */
  | { readonly kind: 'decoders'; readonly ports: readonly MessagePort[] }

/** The indexer of one chain, running in a thread of its own. */
export interface Indexer {
  readonly chainId: number
  /** As last reported; never waits. */
  status(): SyncStatus
  /** Figures of its upstreams, at most about a second old; absent until the thread has reported. */
  figures(): NodeFigures | undefined
  /** Finishes the store's transaction under way and ends the thread. May be called again. */
  stop(): Promise<void>
}

/** After a crash, the thread is started again after this time, doubled with every further crash. */
const restarts = { firstMs: 500, maxMs: 30_000 }
/** A thread that has run for so long was not broken from the start. */
const soundAfterMs = 60_000
const stopDeadlineMs = 8_000

/**
 * Starts indexing one chain in a worker thread, so that writing never holds up a query. A thread that crashes is
 * reported, and started again after a growing pause.
 * @throws {ConfigError} when the thread's file cannot be found.
 */
export function startIndexer(options: StartIndexerOptions): Indexer {
  const { store, logger, onStatus, onGenesis, threadEntry, ...rest } = options
  const { writers = createThreads('writer', { logger, most: maxWriters }), decoders, ...config } = rest
  const entry = findThreadEntry('indexer/indexerThread', import.meta.url, threadEntry)
  let status = startingStatus(config.chainId, config.startBlock)
  let figures: NodeFigures | undefined
  let stopped: Promise<void> | undefined
  let restart: NodeJS.Timeout | undefined
  let crashes = 0
  /** Why the last thread ended, until the next one has come further than its start. */
  let endedBecause: EndReason | undefined
  let thread = run()

  function report(next: SyncStatus) {
    status = dateStall(next, status)
    onStatus?.(status)
  }

  /** A thread that starts again after a crash is still in trouble until it has shown otherwise. */
  function reportFromThread(next: SyncStatus) {
    if (next.phase !== 'starting') endedBecause = undefined
    report(endedBecause === undefined ? next : { ...next, phase: 'stalled', ...endedBecause })
  }

  function run(): { worker: Worker; ended: Promise<void> } {
    const startedMs = performance.now()
    const writer = writers.connect()
    const hasDecoders = decoders !== undefined
    const workerData: ThreadData = { config, store, writerPort: writer.port, hasDecoders }
    let decoderEnds: readonly ThreadEnd[] = []
    const releaseDecoders = () => {
      const released = decoderEnds.map(end => end.release())
      decoderEnds = []
      return Promise.all(released)
    }
    const worker = new Worker(entry, {
      ...{ workerData, transferList: [writer.port], name: `indexer-${config.chainId}` }
    })
    let reason: EndReason = { problem: 'the indexer ended unexpectedly' }
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'status') reportFromThread(message.status)
      else if (message.kind === 'figures') figures = message.figures
      else if (message.kind === 'decoders') {
        void releaseDecoders()
        if (decoders === undefined || !message.isWanted) return
        decoderEnds = Array.from({ length: decoders.most }, decoders.connect)
        const ports = decoderEnds.map(({ port }) => port)
        worker.postMessage({ kind: 'decoders', ports } satisfies ToThread, ports)
      } else if (message.kind === 'genesis') onGenesis?.(message.genesisHash)
      else if (message.kind === 'log') {
        const { error, ...fields } = message.fields
        logger[message.severity](
          message.message,
          error === undefined ? fields : { ...fields, error: unpackError(error) }
        )
      } else reason = message.reason
    })
    worker.on('error', error => {
      logger.error('the indexer crashed', { component: 'indexer', chainId: config.chainId, error })
    })
    const ended = new Promise<void>(resolve => {
      worker.once('exit', () => {
        if (stopped === undefined) {
          if (performance.now() - startedMs > soundAfterMs) crashes = 0
          const waitMs = backOffMs(restarts, ++crashes)
          endedBecause = reason
          report({ ...status, phase: 'stalled', ...reason })
          logger.error('the indexer is started again', {
            component: 'indexer',
            chainId: config.chainId,
            problem: reason.problem,
            attempt: crashes,
            waitMs
          })
          restart = setTimeout(() => {
            thread = run()
          }, waitMs)
        }
        resolve(Promise.all([writer.release(), releaseDecoders()]).then(() => undefined))
      })
    })
    return { worker, ended }
  }

  async function stop(): Promise<void> {
    clearTimeout(restart)
    const { worker, ended } = thread
    worker.postMessage({ kind: 'stop' } satisfies ToThread)
    await withDeadline({ timeoutMs: stopDeadlineMs }, () => ended).catch(() => {
      logger.error('the indexer does not stop and is ended', {
        component: 'indexer',
        chainId: config.chainId
      })
      return worker.terminate()
    })
    await ended
  }

  return {
    chainId: config.chainId,
    status: () => status,
    figures: () => figures,
    stop: () => {
      stopped ??= stop()
      return stopped
    }
  }
}
