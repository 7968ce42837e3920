import type { ChainIdentity } from '../../index/port/status.ts'
import type { FencedWriter, StoreWriter } from '../../index/port/writer.ts'
import { StoreInUseError } from '../../index/port/writer.ts'
import type { Hash } from '../../model/evm.ts'
import { lowestStart } from '../../model/startBlock.ts'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { StoreError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { RunIndexerOptions, WriterWait } from './runIndexer.ts'
import { showWriter } from './showWriter.ts'
import type { StatusBoard } from './statusBoard.ts'

export interface OpenedStore {
  readonly store: StoreWriter
  readonly identity: ChainIdentity
}

/** What a writer is opened for. */
interface Opening {
  readonly board: StatusBoard
  readonly rpc: EvmUpstreams
  /** What the node says of its chain. */
  readonly found: ChainIdentity
  readonly logger: Logger
}

/** Some reports may come late before their writer counts as silent: a large commit holds its thread up. */
const writerSilentMs = 5_000
/** Where another one writes, an opening waits for so long by itself: it gets in without a gap then. */
const longWaitMs = 60_000

/**
 * Opens the writer. Only one indexer writes a chain: the next one waits, as long as it takes, and shows how the other stands.
 * @returns `undefined` when the signal ended the waiting.
 */
export async function openInTurn(
  options: RunIndexerOptions,
  opening: Opening
): Promise<OpenedStore | undefined> {
  const { config, peek, onGenesis, signal } = options
  const { board, logger } = opening
  const onFenced = ({ backendPid, silentMs }: FencedWriter) =>
    logger.warn('a writer that had gone silent was put out', {
      ...{ waitMs: silentMs, problem: `process ${backendPid} of the database served its connection` }
    })
  const over = new AbortController()
  // Not waited for in the end: it leaves the board alone from the abort on.
  showWriter({
    ...{ peek, board, startBlock: lowestStart(config.startBlock), signal: over.signal },
    silentAfterMs: config.writerSilentMs ?? writerSilentMs,
    ...(onGenesis === undefined ? {} : { onGenesis })
  }).catch((error: unknown) => logger.error('what another indexer says cannot be shown', { error }))
  try {
    for (let isFirst = true; !signal.aborted; isFirst = false) {
      try {
        return await openStore(options, opening, {
          onFenced,
          ...(isFirst ? {} : { lockWaitMs: longWaitMs })
        })
      } catch (error) {
        if (signal.aborted) break
        if (!(error instanceof StoreInUseError)) throw error
        if (isFirst) logger.info('another indexer writes this chain; waiting for it to end')
      }
    }
    return undefined
  } finally {
    over.abort()
  }
}

/**
 * An index of another genesis block than the first upstream's may still be that of another upstream: then only those
 * count.
 */
async function openStore(
  { openWriter, signal }: RunIndexerOptions,
  { found, rpc }: Opening,
  wait: WriterWait
): Promise<OpenedStore> {
  try {
    return { store: await openWriter(found, wait), identity: found }
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
    return { store: await openWriter(identity, wait), identity }
  }
}
