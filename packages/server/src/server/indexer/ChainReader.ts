import type { BlockRef, ChainIdentity, StoreWriter, WriterState } from '@chain-data/index'
import type { BlockRows } from '@chain-data/index/record'
import { lacksBlock } from '../../evm/blocks/blocks.ts'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import type { StartBlock } from '../../model/startBlock.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { present } from '../../platform/present.ts'
import { BlockFailure, createFetchAhead, type FetchAhead, type Wait } from './fetchAhead.ts'
import { checkIdentity } from './identity.ts'
import { findReorg, type Reorg } from './reorg.ts'

/** A change of the node's chain, in terms of the stored one. */
export type ChainEvent =
  /** The node has named its newest block; further events follow from it. */
  | {
      readonly kind: 'head'
      readonly head: number
      readonly timestampSeconds?: number
      readonly finalized?: number
    }
  /** The child of the block before, or of the newest stored one. */
  | { readonly kind: 'block'; readonly block: BlockRows }
  /**
   * The node's blocks do not fit to this one. If it is not stored yet, it must not be; if it is, a reorg follows, unless
   * the node has changed its mind.
   */
  | { readonly kind: 'fork'; readonly blockNumber: number }
  /** All stored blocks above the ancestor are to be removed. */
  | ({ readonly kind: 'reorg' } & Reorg)
  /** Up to here stored blocks are final. */
  | { readonly kind: 'final'; readonly blockNumber: number }
  /** All blocks up to the head that the node named last have been read. */
  | { readonly kind: 'level' }
  /** Nothing can be read before the node names another head. */
  | { readonly kind: 'waiting' }

export interface ChainReaderOptions {
  readonly source: EvmSource
  /** Read after each event but `block`: by then everything given out before has to be stored. */
  readonly stored: Pick<StoreWriter, 'state' | 'blockRef'>
  /** As of `ReorgOptions`. */
  readonly isParted?: ((number: number) => boolean) | undefined
  readonly identity: ChainIdentity
  /** First block of an empty index; `latest` is found out as long as it is empty. */
  readonly startBlock: StartBlock
  readonly pollIntervalMs: number
  readonly logger: Logger
  /** Blocks fetched or waiting at the same time, at most, and about their bytes. */
  readonly window: number
  readonly maxBytes: number
  /** Blocks between two polls of the head during a long catch-up. */
  readonly roundBlocks: number
  /** Newest blocks that an empty index begins with; the older ones follow in a backfill. See `firstBlock`. */
  readonly recentBlocks: number
  /** Time that the node's head may stay below the index before blocks it no longer knows are given up. */
  readonly lowerHeadGraceMs: number
  /** Absent: it is no development chain. */
  readonly dev: DevNodes | undefined
  /** The clock of every pause; tests bring their own. */
  readonly wait: Wait
}

/**
 * The nodes of a development chain, which may go back to any block at any time: none is final. A single node that names a
 * lower head is believed at once; of several, one may lag.
 */
type DevNodes = 'oneNode' | 'manyNodes'

/** The end of a round; `behind`: there is more to read at once. */
type Round = 'level' | 'behind' | 'waiting'

/** Tries at one block before the index counts as stalled: most contradictions are gone a moment later. */
const quickTries = 5
/** A shorter chain has no pruned blocks. */
const prunedDepth = 64
/** Maximum of rounds in a row without a pause whose blocks do not fit to each other. */
const maxFruitlessRounds = 3
/** Maximum of reorgs in a row without a pause; nodes that show two forks in turn would make it spin. */
const maxReorgsAtOnce = 10

/** Reads the node's canonical chain on from where the store is: asks for the head again and again, fetches what is missing. */
export class ChainReader {
  readonly #options: ChainReaderOptions
  #isConfirmed = false
  /** The last run failed, and no block has come since. */
  #hasFailed = false
  #lowerHeadSinceMs: number | undefined
  /** Times in a row that the node's blocks did not fit to each other, but all that is stored was right. */
  #fruitlessRounds = 0
  #reorgsSinceLevel = 0

  constructor(options: ChainReaderOptions) {
    this.#options = options
  }

  /**
   * Yields what happens, without end, and pauses where there is nothing to read. After a failure it may be called again: it
   * goes on from what is stored then, and the node has to confirm which chain it serves.
   *
   * @param signal - ends it, at the next event at the latest.
   * @throws {BlockFailure} one block cannot be had; all before it have been yielded.
   * @throws whatever the node's answers make `source` throw.
   */
  async *events(signal: AbortSignal): AsyncGenerator<ChainEvent, void, undefined> {
    const { source, pollIntervalMs, wait, window, maxBytes } = this.#options
    this.#isConfirmed = false
    // Beyond the end of a round, so that the nodes are not idle while the head is polled.
    const ahead = createFetchAhead({ source, window, maxBytes, signal, wait })
    try {
      while (!signal.aborted) {
        const round = yield* this.#readRound(ahead, signal)
        if (round !== 'behind') {
          this.#advanced()
          if (round === 'level') this.#reorgsSinceLevel = 0
          yield { kind: round }
        }
        const hurries = round === 'behind' && this.#reorgsSinceLevel <= maxReorgsAtOnce
        if (!hurries) await (source.waitForHead ?? wait)(pollIntervalMs, signal)
      }
    } catch (error) {
      this.#hasFailed = true
      throw error
    } finally {
      await ahead.drop()
    }
  }

  async *#readRound(ahead: FetchAhead, signal: AbortSignal): AsyncGenerator<ChainEvent, Round, undefined> {
    const { source, stored, roundBlocks } = this.#options
    // At the same time, so that a standby server takes over without a gap.
    const [{ head, timestampSeconds, finalized }] = await Promise.all([
      source.head(signal),
      this.#isConfirmed ? undefined : this.#confirmIdentity(signal)
    ])
    yield { kind: 'head', head: head.number, ...present({ timestampSeconds, finalized }) }
    const state = await stored.state()
    if (state.head !== undefined && head.number <= state.head.number) {
      return yield* this.#meetLowerHead(head, state.head, state, finalized, signal)
    }
    this.#lowerHeadSinceMs = undefined
    const named = { head: head.number, finalized }
    const from = state.head === undefined ? firstBlock(this.#options, named) : state.head.number + 1
    if (from > head.number) return 'waiting'
    if (state.head === undefined && from === 0 && head.number > prunedDepth) {
      await this.#expectSecondBlock(signal)
    }
    const to = Math.min(head.number, from + roundBlocks - 1)
    // Whoever has failed once already is asked once a round, so that the pauses of the caller are the whole of it.
    const tries = this.#hasFailed ? 1 : quickTries
    let last = state.head
    for (let number = from; number <= to; number++) {
      const block = await ahead.take(number, head.number, tries)
      if (last !== undefined && block.parentHash !== last.hash) {
        await ahead.drop()
        yield* this.#goBack(number, signal)
        return 'behind'
      }
      // A block that its child confirms counts; the first one alone may still be the wrong one of two.
      if (number > from) this.#advanced()
      yield { kind: 'block', block }
      last = block.ref
    }
    this.#advanced()
    return to === head.number ? 'level' : 'behind'
  }

  /**
   * Every node keeps block 0, also one that has pruned the blocks after it. Such a start is refused before anything is stored,
   * so that another `startBlock` is enough.
   */
  async #expectSecondBlock(signal: AbortSignal): Promise<void> {
    const missing = new NodeContradictionError('block 1: the node does not have it', { isMissing: true })
    try {
      if ((await this.#options.source.blockRef(1, signal)) === undefined) throw missing
    } catch (error) {
      throw lacksBlock(error) ? new BlockFailure(1, 1, error) : error
    }
  }

  /** A head at or below the stored one: a node that lags, or a chain that became another or shorter one. */
  async *#meetLowerHead(
    head: BlockRef,
    newest: BlockRef,
    state: WriterState,
    finalized: number | undefined,
    signal: AbortSignal
  ): AsyncGenerator<ChainEvent, Round, undefined> {
    const { stored, logger, dev } = this.#options
    const storedThere = await stored.blockRef(head.number)
    if (storedThere !== undefined && storedThere.hash !== head.hash) {
      this.#lowerHeadSinceMs = undefined
      yield* this.#goBack(head.number + 1, signal)
      return 'behind'
    }
    if (head.number === newest.number) {
      this.#lowerHeadSinceMs = undefined
      if (finalized !== undefined) yield { kind: 'final', blockNumber: finalized }
      return 'level'
    }
    if (dev !== 'oneNode' && (await this.#mayLag(newest, signal))) {
      // A node that lags cannot say that a first backfill is complete: another one has named blocks above.
      return state.backfilled ? 'level' : 'waiting'
    }
    await this.#confirmIdentity(signal)
    if (dev === undefined && state.finalized !== undefined && head.number < state.finalized) {
      throw new NodeContradictionError(
        `the node's head ${head.number} is below block ${state.finalized}, which was final; ` +
          'expected the node to catch up, or to show another block'
      )
    }
    const blockNumber = storedThere?.number ?? (state.indexedFrom ?? 0) - 1
    const depth = newest.number - blockNumber
    logger.warn('the chain became shorter', { head: head.number, depth: newest.number - head.number })
    yield { kind: 'fork', blockNumber: head.number + 1 }
    yield {
      ...{ kind: 'reorg', blockNumber, depth },
      ...(storedThere === undefined ? {} : { ancestor: storedThere })
    }
    this.#lowerHeadSinceMs = undefined
    return 'behind'
  }

  /** Reports whether a node with a lower head may still catch up with the index. */
  async #mayLag(newest: BlockRef, signal: AbortSignal): Promise<boolean> {
    const { source, lowerHeadGraceMs } = this.#options
    this.#lowerHeadSinceMs ??= performance.now()
    if (performance.now() - this.#lowerHeadSinceMs < lowerHeadGraceMs) return true
    return source.knowsBlock(newest.hash, signal)
  }

  /** @param unlinked - the lowest block that does not fit to the one before it. */
  async *#goBack(unlinked: number, signal: AbortSignal): AsyncGenerator<ChainEvent, void, undefined> {
    const { source, stored, logger, isParted } = this.#options
    const disputed = await source.settleDispute?.(unlinked, signal)
    const suspect = Math.min(unlinked - 1, disputed ?? unlinked)
    yield { kind: 'fork', blockNumber: suspect }
    const confirmIdentity = () => this.#confirmIdentity(signal)
    const reorg = await findReorg({ source, stored, suspect, logger, signal, confirmIdentity, isParted })
    // The node that was wrong is not asked any more, so that the next round fares better.
    if (reorg === undefined && disputed !== undefined) return this.#advanced()
    if (reorg === undefined) {
      // Most likely a reorg passed while the blocks were fetched, and back again if they did not fit to a stored one.
      if (this.#fruitlessRounds++ < maxFruitlessRounds) return
      const problem = `block ${suspect}: the node names two different ones`
      const tries = this.#fruitlessRounds === maxFruitlessRounds + 1 ? this.#fruitlessRounds : 1
      throw new BlockFailure(suspect, tries, new NodeContradictionError(problem, { blockNumber: suspect }))
    }
    this.#advanced()
    this.#reorgsSinceLevel++
    yield { kind: 'reorg', ...reorg }
  }

  #advanced(): void {
    this.#hasFailed = false
    this.#fruitlessRounds = 0
  }

  /** @throws {ConfigError} the node serves another chain than the index is of. */
  async #confirmIdentity(signal: AbortSignal): Promise<void> {
    const { source, identity } = this.#options
    checkIdentity(await source.identity(signal), identity)
    this.#isConfirmed = true
  }
}

/** So many blocks of any chain are indexed within some seconds. */
export const defaultRecentBlocks = 256

/**
 * Returns the block at which an empty index begins: close below the head, so that the chain is answered for at once; a backfill
 * adds the blocks down to `startBlock`. The newest final block is never reorganised. A development chain that has begun anew may
 * not reach the block that was meant for a longer one: its index begins at 0 then.
 */
export function firstBlock(
  { startBlock, recentBlocks, dev }: Pick<ChainReaderOptions, 'startBlock' | 'recentBlocks' | 'dev'>,
  { head, finalized }: { readonly head: number; readonly finalized?: number | undefined }
): number {
  if (startBlock === 'latest') return finalized ?? 0
  const lowest = dev !== undefined && startBlock > head ? 0 : startBlock
  return Math.max(lowest, head - recentBlocks + 1)
}
