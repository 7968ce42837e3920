import {
  type Damage,
  describeDamage,
  IndexDamagedError,
  StoreError,
  type StoreWriter
} from '@chain-data/index'
import { type BlockRows, packBlocks } from '@chain-data/index/record'
import { lacksBlock } from '../../evm/blocks/blocks.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { createRetryPauses, type RetryPauses } from './retryPauses.ts'
import { describeProblem, type StatusBoard } from './status.ts'

type HealedStore = Pick<
  StoreWriter,
  'coversTraces' | 'takeDamage' | 'replaceBlock' | 'repair' | 'dropPool' | 'dropChanges'
>

/** The store cannot be opened because it is damaged. */
export class UnusableIndexError extends StoreError {}

/** Interval of the check for reports, and pause after a failure. */
const lookEveryMs = 500
/** More would only be met again. */
const maxKept = 10_000

/** Parts that the writer itself repairs, without a node. */
const repairable: readonly Damage['part'][] = ['chunk', 'manifest', 'undo']
/** Other parts that need no block. */
const droppable: readonly Damage['part'][] = ['report', 'poolEntry', 'change']

function isHealable({ part, block }: Damage): boolean {
  return block !== undefined || repairable.includes(part) || droppable.includes(part)
}

/** Adds the next step to the error of a store that cannot be opened because it is damaged; others are returned as they are. */
export function adviseReset(error: unknown, chainId: number): unknown {
  if (!(error instanceof IndexDamagedError)) return error
  return new UnusableIndexError(error.message + resetAdvice(chainId), error.context, { cause: error })
}

function resetAdvice(chainId: number): string {
  return `; run "chain-data reset ${chainId}" to index the chain anew`
}

/** Reads a block as the indexer does, with its traces or without them. */
export type FetchBlock = (number: number, isTraced: boolean, signal: AbortSignal) => Promise<BlockRows>

/** Damage that is to be healed. */
interface Kept {
  readonly key: string
  readonly damage: Damage
  /** Pauses of its own after failures: other damage does not wait for a block that no node has. */
  readonly pauses: RetryPauses
  dueMs: number
}

interface HealerOptions {
  readonly chainId: number
  readonly fetchBlock: FetchBlock
  readonly board: StatusBoard
  readonly logger: Logger
}

/**
 * Heals the index of one chain: damaged blocks are replaced by the same blocks, fetched and verified anew; what is derived from
 * blocks is written again from what is stored of them.
 */
export class Healer {
  readonly #options: HealerOptions
  readonly #kept = new Map<string, Kept>()
  /** Keys of what cannot be healed. */
  readonly #lost = new Set<string>()
  /** Damaged blocks in whose place the node has another one. */
  readonly #parted = new Set<number>()
  #healed = 0

  constructor(options: HealerOptions) {
    this.#options = options
  }

  /** Adds damage that was met; the same damage is kept once. */
  report(damage: Damage): void {
    const key = JSON.stringify(damage)
    if (this.#kept.has(key) || this.#lost.has(key) || this.#kept.size >= maxKept) return
    if (isHealable(damage)) this.#kept.set(key, { key, damage, pauses: createRetryPauses(), dueMs: 0 })
    else this.#giveUp(key, damage)
    this.#show()
  }

  /** Reports that the node has another block in the place of this one or of a later one that is damaged: a reorg removes both. */
  isParted(number: number): boolean {
    return [...this.#parted].some(each => each >= number)
  }

  /**
   * Heals what is reported, one damage at a time, until `signal` is aborted.
   * @param onPoolLost - called when the pool was dropped: it has to be read before it is shown again.
   */
  async healInto(store: HealedStore, signal: AbortSignal, onPoolLost: () => void): Promise<void> {
    while (!signal.aborted) {
      if (!(await this.#healNext(store, signal, onPoolLost))) await pause(lookEveryMs, signal)
    }
  }

  /** Damage that no attempt can heal makes the index unusable at once. */
  #giveUp(key: string, damage: Damage): void {
    const { chainId, board, logger } = this.#options
    const problem = describeProblem(new IndexDamagedError(damage, 'no block can be fetched in its place'))
    this.#lost.add(key)
    board.holdUnusable(problem + resetAdvice(chainId))
    logger.error('the index cannot be healed', { problem })
  }

  #show(problem?: string): void {
    const { board } = this.#options
    const { checkedBlocks = 0, problem: earlier, ...checked } = board.read().integrity ?? {}
    const shown = this.#kept.size > 0 ? (problem ?? earlier) : undefined
    const damaged = this.#kept.size + this.#lost.size
    board.change({
      integrity: {
        ...{ ...checked, checkedBlocks, damaged, healed: this.#healed },
        ...(shown === undefined ? {} : { problem: shown })
      }
    })
  }

  async #heal(damage: Damage, store: HealedStore, signal: AbortSignal, onPoolLost: () => void) {
    const { part, block: number } = damage
    // It is written anew every second.
    if (part === 'report') return
    if (part === 'poolEntry') {
      await store.dropPool()
      onPoolLost()
      return
    }
    // Readers begin anew.
    if (part === 'change') return store.dropChanges()
    if (repairable.includes(part)) {
      // A damaged block that this needs comes first: it is reported, and this is tried again.
      await store.repair(damage)
      this.#options.logger.warn('a damaged part of the index was written again', {
        problem: describeDamage(damage)
      })
    } else if (number !== undefined) await this.#replace(number, store, signal)
  }

  /** Fetches a stored block anew and puts it in the place of what is stored of it. */
  async #replace(number: number, store: HealedStore, signal: AbortSignal): Promise<void> {
    const block = await this.#options.fetchBlock(number, await store.coversTraces(number), signal)
    const outcome = await store.replaceBlock(packBlocks([block]))
    if (outcome === 'replaced')
      this.#options.logger.warn('a damaged block was replaced', { blockNumber: number })
    if (outcome !== 'other') {
      this.#parted.delete(number)
      return
    }
    this.#parted.add(number)
    const problem = `block ${number}: the node has another block there than the index`
    throw new NodeContradictionError(problem, { blockNumber: number, isMissing: true })
  }

  /** The damage to try next: what has failed least often comes first. */
  #nextDue(): Kept | undefined {
    const nowMs = performance.now()
    let next: Kept | undefined
    for (const each of this.#kept.values()) {
      const isFirst = next === undefined || each.pauses.failures() < next.pauses.failures()
      if (each.dueMs <= nowMs && isFirst) next = each
      if (next?.pauses.failures() === 0) break
    }
    return next
  }

  #takeFailure({ damage: { block }, pauses }: Kept, error: unknown): void {
    // What healing meets may be worse than what was to be healed, or has to be healed first.
    if (error instanceof IndexDamagedError) this.report(error.damage)
    const problem = describeProblem(error, block)
    if (lacksBlock(error) && pauses.isMilestone()) {
      this.#options.logger.warn('a damaged block cannot be fetched again', {
        problem,
        attempt: pauses.failures()
      })
    }
    this.#show(problem)
  }

  /** @returns false: nothing is due, or it could not be healed. */
  async #healNext(store: HealedStore, signal: AbortSignal, onPoolLost: () => void): Promise<boolean> {
    // A store that is lost is opened again, with another call.
    for (const damage of await store.takeDamage().catch(() => [])) this.report(damage)
    const next = this.#nextDue()
    if (next === undefined) return false
    try {
      await this.#heal(next.damage, store, signal, onPoolLost)
      this.#healed++
      this.#kept.delete(next.key)
      this.#show()
      return true
    } catch (error) {
      if (signal.aborted) return false
      next.dueMs = performance.now() + next.pauses.next(error)
      this.#takeFailure(next, error)
      return false
    }
  }
}
