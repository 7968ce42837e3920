/**
 * Entry of the worker thread that indexes one chain. Not imported by anything: `startIndexer` starts it by its URL,
 * so it is a bundle entry of its own.
 */
import { statSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { SyncStatus } from '../model/sync.ts'
import type { LogFields, Logger } from '../platform/logger.ts'
import type { NodeFigures } from '../platform/upstreamFigures.ts'
import { chainFiles } from '../store/sqlite/chainFiles.ts'
import { openSqliteReader } from '../store/sqlite/openSqliteReader.ts'
import { openSqliteWriter } from '../store/sqlite/openSqliteWriter.ts'
import type { StoreReader } from '../store/store.ts'
import { describeProblem } from './describeProblem.ts'
import { runIndexer, type StoredProgress } from './runIndexer.ts'
import { packError } from './sentError.ts'
import type { FromThread, LogSeverity, ThreadData, ToThread } from './threadMessages.ts'
import { throttleStatus } from './throttleStatus.ts'

if (parentPort === null) throw new Error('indexerThread runs as a worker thread only')
const port = parentPort
const { config, storeFolder } = workerData as ThreadData
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

async function peek(): Promise<StoredProgress | undefined> {
  reader ??= await openSqliteReader(storeFolder, config.chainId)
  const snapshot = await reader.openSnapshot()
  try {
    const identity = await snapshot.identity()
    if (identity === undefined) return undefined
    const range = await snapshot.indexedRange()
    const { backfilled, degraded } = await snapshot.marks()
    const report = await snapshot.writerReport()
    return {
      ...{ genesisHash: identity.genesisHash, backfilled, degraded },
      ...(range === undefined ? {} : { indexedFrom: range.from, indexedTo: range.to }),
      ...(report === undefined ? {} : { report })
    }
  } finally {
    await snapshot.close()
  }
}

/** Without the file of an index that does not exist yet. */
function withStoreSize(figures: NodeFigures): NodeFigures {
  if (figures.index === undefined) return figures
  const { database } = chainFiles(storeFolder, config.chainId)
  const sizes = [database, `${database}-wal`].map(file => statSync(file, { throwIfNoEntry: false })?.size)
  if (sizes[0] === undefined) return figures
  const storeBytes = sizes.reduce<number>((sum, size) => sum + (size ?? 0), 0)
  return { ...figures, index: { ...figures.index, storeBytes } }
}

port.on('message', ({ kind }: ToThread) => {
  if (kind === 'stop') stopping.abort(new Error('the indexer is stopped'))
})

function tellFailure(error: unknown): void {
  forwardingLogger({ component: 'indexer', chainId: config.chainId }).error('indexing failed', { error })
  tell({ kind: 'failed', problem: describeProblem(error) })
}

// What is thrown where nobody waits for it ends the thread; afterwards its class would not be known any more.
process.on('uncaughtExceptionMonitor', tellFailure)

try {
  await runIndexer({
    config,
    openWriter: identity => openSqliteWriter(storeFolder, identity, { signal: stopping.signal }),
    // There may be nothing yet, or something the writer will refuse with a better message.
    peek: () => peek().catch(() => undefined),
    logger: forwardingLogger({}),
    signal: stopping.signal,
    onStatus: send,
    onGenesis: genesisHash => tell({ kind: 'genesis', genesisHash }),
    onFigures: figures => tell({ kind: 'figures', figures: withStoreSize(figures) })
  })
} catch (error) {
  tellFailure(error)
  process.exitCode = 1
} finally {
  flush()
  await reader?.close()
  // Nothing else may keep the thread alive.
  port.close()
}
