import {
  type ChainIdentity,
  type FencedWriter,
  type Hash,
  StoreError,
  StoreInUseError,
  type StoreWriter,
  type StoreWriterOptions
} from '@chain-data/index'
import type { EvmUpstreams } from '../../nodes/evm/rpc.ts'
import type { Logger } from '../../platform/logger.ts'
import type { StatusBoard } from './status.ts'
import { type StoredProgress, showWriter } from './writerView.ts'

export interface OpenedStore {
  readonly store: StoreWriter
  readonly identity: ChainIdentity
}

/** Options of a wait for another writer. */
type WriterWait = Pick<StoreWriterOptions, 'lockWaitMs' | 'onFenced' | 'keepsOtherAside' | 'mustExist'>

export interface OpeningOptions {
  /**
   * Waits a while for another writer to end, at most until `signal` is aborted.
   * @throws {StoreInUseError} when that one is still there.
   * @throws {StoreUnavailableError} when the store is out of reach, or lost.
   * @throws {StoreError} when the store is of another chain, or newer.
   */
  openWriter(identity: ChainIdentity, wait: WriterWait): Promise<StoreWriter>
  /** Reads the progress of earlier runs, before the node has said which chain it serves. @throws {StoreError} it cannot be read. */
  peek(): Promise<StoredProgress | undefined>
  /** Called with the genesis block of the index, once it is open or its writer has been heard. */
  onGenesis?(genesisHash: Hash): void
  readonly signal: AbortSignal
  readonly board: StatusBoard
  readonly rpc: EvmUpstreams
  /** The chain that the node served at the last look. */
  readonly found: ChainIdentity
  /**
   * Of a development chain: reads again which chain the node serves. An index of another genesis block is kept aside then,
   * and a new one begun; absent: it is refused.
   */
  readonly findAnew?: (() => Promise<ChainIdentity>) | undefined
  readonly logger: Logger
  /** First block of an index that is empty yet. */
  readonly startBlock: number
  /** A writer elsewhere that has said nothing for so long is shown as stalled. */
  readonly silentAfterMs: number
}

/** Wait for the lock of another writer in one opening, so that a standby server takes over without a gap. */
const longWaitMs = 60_000

/**
 * Opens the writer. Only one indexer writes a chain: the next one waits, as long as it takes, and shows how the other stands.
 * @returns `undefined` when the signal ended the waiting.
 */
export async function openInTurn(options: OpeningOptions): Promise<OpenedStore | undefined> {
  const { peek, board, startBlock, silentAfterMs, onGenesis, signal, logger } = options
  const onFenced = ({ backendPid, silentMs }: FencedWriter) =>
    logger.warn('a silent writer was fenced', {
      ...{ waitMs: silentMs, problem: `process ${backendPid} of the database served its connection` }
    })
  let isLocked = false
  const silentProblem = () =>
    isLocked
      ? `another process or thread holds the writer's lock of this chain, but has not said for more than ${silentAfterMs} ms how it stands`
      : `the index could not be opened for more than ${silentAfterMs} ms, and no other writer was met: the machine or its disk is busy`
  const over = new AbortController()
  // Not waited for in the end: it leaves the board alone from the abort on.
  showWriter({
    ...{ peek, board, startBlock, silentAfterMs, silentProblem, signal: over.signal },
    ...(onGenesis === undefined ? {} : { onGenesis })
  }).catch((error: unknown) => logger.error('what another indexer says cannot be shown', { error }))
  try {
    while (!signal.aborted) {
      try {
        return await openStore(options, { onFenced, ...(isLocked ? { lockWaitMs: longWaitMs } : {}) })
      } catch (error) {
        if (signal.aborted) break
        if (!(error instanceof StoreInUseError)) throw error
        if (!isLocked) logger.info('another indexer writes this chain; waiting for it to end')
        isLocked = true
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
async function openStore(options: OpeningOptions, wait: WriterWait): Promise<OpenedStore> {
  const { openWriter, signal, found, findAnew, rpc, logger } = options
  try {
    return { store: await openWriter(found, wait), identity: found }
  } catch (error) {
    const { storedGenesis: stored, aside } = error instanceof StoreError ? error.context : {}
    if (typeof stored !== 'string') throw error
    const identity = { chainId: found.chainId, genesisHash: stored as Hash }
    rpc.expectGenesis(identity.genesisHash)
    const isServed = await rpc.identity(signal).then(
      () => true,
      () => false
    )
    if (isServed) return { store: await openWriter(identity, wait), identity }
    if (findAnew === undefined) throw error
    rpc.expectGenesis(undefined)
    const served = await findAnew()
    const store = await openWriter(served, { ...wait, keepsOtherAside: true })
    if (served.genesisHash !== stored) {
      const problem = `genesis ${stored} was indexed, ${served.genesisHash} is served; the old index is kept as ${aside}`
      logger.warn('the development chain began anew, and so does its index', { problem })
    }
    return { store, identity: served }
  }
}
