import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { Worker } from 'node:worker_threads'
import type { Hash } from '../model/evm.ts'
import type { SyncStatus } from '../model/sync.ts'
import { ConfigError } from '../platform/errors.ts'
import type { Logger } from '../platform/logger.ts'
import type { NodeFigures } from '../platform/upstreamFigures.ts'
import type { IndexerConfig } from './runIndexer.ts'
import { unpackError } from './sentError.ts'
import type { FromThread, ThreadData, ToThread } from './threadMessages.ts'

export interface StartIndexerOptions extends IndexerConfig {
  /** Folder of the SQLite store; the thread opens its own writer there. */
  readonly storeFolder: string
  readonly logger: Logger
  /** Called with every status that differs from the one before, at most about ten times a second. */
  onStatus?(status: SyncStatus): void
  /** Called with the genesis block of the index each time that a thread has opened it. */
  onGenesis?(genesisHash: Hash): void
  /** The built `indexerThread` file, for hosts that bundle this package and move files about. */
  readonly threadEntry?: URL
}

/** The indexer of one chain, running in a thread of its own. */
export interface Indexer {
  readonly chainId: number
  /** As last reported; never waits. */
  status(): SyncStatus
  /** How its upstreams fare, at most about a second old; absent until the thread has said so. */
  figures(): NodeFigures | undefined
  /** Finishes the store's transaction under way and ends the thread. May be called again. */
  stop(): Promise<void>
}

/** After a crash, the thread is started again after this time, doubled with every further crash. */
const firstRestartMs = 500
const longestRestartMs = 30_000
/** A thread that has run for so long was not broken from the start. */
const soundAfterMs = 60_000
const stopDeadlineMs = 8_000

/**
 * Starts indexing one chain in a worker thread, so that writing never holds up a query. A thread that crashes is
 * reported, and started again after a growing pause.
 * @throws {ConfigError} when the thread's file cannot be found.
 */
export function startIndexer(options: StartIndexerOptions): Indexer {
  const { storeFolder, logger, onStatus, onGenesis, threadEntry, ...config } = options
  const entry = threadEntry ?? findThreadEntry()
  if (entry.pathname.endsWith('.ts')) keepWrappers()
  let status: SyncStatus = {
    chainId: config.chainId,
    phase: 'starting',
    indexedFrom: config.startBlock,
    backfilled: false,
    degraded: false,
    poolCovered: false
  }
  let figures: NodeFigures | undefined
  let stopped: Promise<void> | undefined
  let restart: NodeJS.Timeout | undefined
  let crashes = 0
  /** Why the last thread ended, until the next one has come further than its start. */
  let endedBecause: string | undefined
  let thread = run()

  function report(next: SyncStatus) {
    status = next
    onStatus?.(next)
  }

  /** A thread that starts again after a crash is still in trouble until it has shown otherwise. */
  function reportFromThread(next: SyncStatus) {
    if (next.phase !== 'starting') endedBecause = undefined
    report(endedBecause === undefined ? next : { ...next, phase: 'stalled', problem: endedBecause })
  }

  function run(): { worker: Worker; ended: Promise<void> } {
    const startedMs = performance.now()
    const workerData: ThreadData = { config, storeFolder }
    const worker = new Worker(entry, { workerData, name: `indexer-${config.chainId}` })
    let problem = 'the indexer ended unexpectedly'
    worker.on('message', (message: FromThread) => {
      if (message.kind === 'status') reportFromThread(message.status)
      else if (message.kind === 'figures') figures = message.figures
      else if (message.kind === 'genesis') onGenesis?.(message.genesisHash)
      else if (message.kind === 'log') {
        const { error, ...fields } = message.fields
        logger[message.severity](
          message.message,
          error === undefined ? fields : { ...fields, error: unpackError(error) }
        )
      } else problem = message.problem
    })
    worker.on('error', error => {
      logger.error('the indexer crashed', { component: 'indexer', chainId: config.chainId, error })
    })
    const ended = new Promise<void>(resolve => {
      worker.once('exit', () => {
        if (stopped === undefined) {
          if (performance.now() - startedMs > soundAfterMs) crashes = 0
          const waitMs = Math.min(longestRestartMs, firstRestartMs * 2 ** crashes++)
          endedBecause = problem
          report({ ...status, phase: 'stalled', problem })
          logger.error('the indexer is started again', {
            component: 'indexer',
            chainId: config.chainId,
            problem,
            attempt: crashes,
            waitMs
          })
          restart = setTimeout(() => {
            thread = run()
          }, waitMs)
        }
        resolve()
      })
    })
    return { worker, ended }
  }

  async function stop(): Promise<void> {
    clearTimeout(restart)
    const { worker, ended } = thread
    worker.postMessage({ kind: 'stop' } satisfies ToThread)
    const overdue = setTimeout(() => {
      logger.error('the indexer does not stop and is ended', {
        component: 'indexer',
        chainId: config.chainId
      })
      worker.terminate().catch(() => undefined)
    }, stopDeadlineMs)
    await ended
    clearTimeout(overdue)
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

/**
 * For threads that run from the sources: Node strips their types with WebAssembly, and V8 (Node 24.21) may end the
 * process when several threads compile its often made calls to JavaScript anew. So many calls are never reached.
 */
function keepWrappers(): void {
  setFlagsFromString('--wasm-wrapper-tiering-budget=2147483647')
}

/**
 * The thread's file lies beside this one in the sources. A bundler may put this module into a chunk or an entry at the
 * top of `dist`, or one folder below, while the thread stays an entry of its own: `dist/indexer/indexerThread.js`.
 */
function findThreadEntry(): URL {
  const places = [
    './indexerThread.ts',
    './indexerThread.js',
    './indexer/indexerThread.js',
    '../indexer/indexerThread.js'
  ]
  for (const place of places) {
    const url = new URL(place, import.meta.url)
    if (existsSync(fileURLToPath(url))) return url
  }
  throw new ConfigError('the file of the indexer thread (indexer/indexerThread) is missing; set threadEntry')
}
