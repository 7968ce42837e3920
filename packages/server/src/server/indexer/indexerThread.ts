/**
 * Entry of the worker thread that indexes one chain. Not imported by anything: `startIndexer` starts it by its URL,
 * so it is a bundle entry of its own.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { freeBytes, openStoreReader, type StoreReader, type SyncStatus, storeBytes } from '@chain-data/index'
import { lowSpaceBytes, type NodeFigures } from '../../platform/figures.ts'
import type { LogFields, Logger } from '../../platform/logger.ts'
import { present } from '../../platform/present.ts'
import { packError } from '../threads/sentErrors.ts'
import { connectDecoders } from './connectDecoders.ts'
import { UnusableIndexError } from './Healer.ts'
import { runIndexer } from './runIndexer.ts'
import type { FromThread, LogSeverity, ThreadData, ToThread } from './startIndexer.ts'
import { describeProblem, throttleStatus } from './status.ts'
import { connectWriter } from './writerPort.ts'
import { readProgress } from './writerView.ts'

if (parentPort === null) throw new Error('indexerThread runs as a worker thread only')
const port = parentPort
const { config, store, writerPort, hasDecoders } = workerData as ThreadData
const writer = connectWriter(writerPort)
const stopping = new AbortController()

const tell = (message: FromThread) => port.postMessage(message)
const { send, flush } = throttleStatus((status: SyncStatus) => tell({ kind: 'status', status }))

function forwardingLogger(bound: LogFields): Logger {
  const at = (severity: LogSeverity) => (message: string, fields?: LogFields) =>
    tell({
      ...{ kind: 'log', severity, message },
      fields: {
        ...bound,
        ...fields,
        ...(fields?.error === undefined ? {} : { error: packError(fields.error) })
      }
    })
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: fields => forwardingLogger({ ...bound, ...fields })
  }
}

let reader: StoreReader | undefined

async function openReader(): Promise<StoreReader> {
  // A replica would tell late how the writer stands, and one look at a time needs one connection.
  const primary = store.kind === 'postgres' ? { ...store, replicaUrls: [] } : store
  reader ??= await openStoreReader(primary, config.chainId, { connections: 1 })
  return reader
}

/** Adds the size of the index and the free space next to it, where they are known. */
function withDisk(figures: NodeFigures): NodeFigures {
  if (figures.index === undefined) return figures
  const free = freeBytes(store)
  warnOfSpace(free)
  const disk = present({ storeBytes: storeBytes(store, config.chainId), freeBytes: free })
  return { ...figures, index: { ...figures.index, ...disk } }
}

let isSpaceLow = false

/** Logs little space once, until there is clearly more. */
function warnOfSpace(free: number | undefined): void {
  if (free === undefined) return
  if (!isSpaceLow && free < lowSpaceBytes) {
    const problem = `${Math.floor(free / 1024 ** 2)} MiB are free; expected ${lowSpaceBytes / 1024 ** 3} GiB or more`
    forwardingLogger({ component: 'indexer', chainId: config.chainId }).warn(
      'little space is left on the disk of the index',
      { problem }
    )
  }
  isSpaceLow = free < (isSpaceLow ? 1.25 * lowSpaceBytes : lowSpaceBytes)
}

const { waivers = [], roots, changeLogBlocks } = config
const decoders = hasDecoders
  ? connectDecoders(
      // Blocks near the head are not decoded elsewhere.
      { waivers, roots: roots?.blocks === 'all' ? roots : undefined },
      isWanted => tell({ kind: 'decoders', isWanted })
    )
  : undefined

port.on('message', (message: ToThread) => {
  if (message.kind === 'stop') stopping.abort(new Error('the indexer is stopped'))
  else decoders?.connect(message.ports)
})

function tellFailure(error: unknown): void {
  forwardingLogger({ component: 'indexer', chainId: config.chainId }).error('indexing failed', { error })
  const unusable = error instanceof UnusableIndexError ? { indexUnusable: true as const } : {}
  tell({ kind: 'failed', reason: { problem: describeProblem(error), ...unusable } })
}

// An uncaught error ends the thread; afterwards its class would not be known any more.
process.on('uncaughtExceptionMonitor', tellFailure)

try {
  await runIndexer({
    config,
    openWriter: (identity, wait) =>
      writer.open(store, identity, {
        ...wait,
        ...(changeLogBlocks !== undefined && { changeLogBlocks }),
        signal: stopping.signal
      }),
    peek: () => openReader().then(readProgress),
    openReader,
    ...(decoders && { decode: decoders.decode }),
    logger: forwardingLogger({}),
    signal: stopping.signal,
    onStatus: send,
    onGenesis: genesisHash => tell({ kind: 'genesis', genesisHash }),
    onFigures: figures => tell({ kind: 'figures', figures: withDisk(figures) })
  })
} catch (error) {
  tellFailure(error)
  process.exitCode = 1
} finally {
  flush()
  await reader?.close()
  // Nothing else may keep the thread alive.
  writer.close()
  decoders?.close()
  port.close()
}
