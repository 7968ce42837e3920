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

/**
 * Heals the index of one chain: damaged blocks are replaced by the same blocks, fetched and verified anew; what is derived from
 * blocks is written again from what is stored of them.
 */
export interface Healer {
  /** Adds damage that was met; the same damage is kept once. */
  report(damage: Damage): void
  /** Reports that the node has another block in the place of this one or of a later one that is damaged: a reorg removes both. */
  isParted(number: number): boolean
  /**
   * Heals what is reported, one damage at a time, until `signal` is aborted.
   * @param onPoolLost - called when the pool was dropped: it has to be read before it is shown again.
   */
  healInto(store: HealedStore, signal: AbortSignal, onPoolLost: () => void): Promise<void>
}

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

export function createHealer(options: {
  readonly chainId: number
  readonly fetchBlock: FetchBlock
  readonly board: StatusBoard
  readonly logger: Logger
}): Healer {
  const { chainId, fetchBlock, board, logger } = options
  const kept = new Map<string, Kept>()
  /** Keys of what cannot be healed. */
  const lost = new Set<string>()
  /** Damaged blocks in whose place the node has another one. */
  const parted = new Set<number>()
  let healed = 0

  function report(damage: Damage): void {
    const key = JSON.stringify(damage)
    if (kept.has(key) || lost.has(key) || kept.size >= maxKept) return
    if (isHealable(damage)) kept.set(key, { key, damage, pauses: createRetryPauses(), dueMs: 0 })
    else giveUp(key, damage)
    show()
  }

  /** Damage that no attempt can heal makes the index unusable at once. */
  function giveUp(key: string, damage: Damage): void {
    const problem = describeProblem(new IndexDamagedError(damage, 'no block can be fetched in its place'))
    lost.add(key)
    board.holdUnusable(problem + resetAdvice(chainId))
    logger.error('the index cannot be healed', { problem })
  }

  function show(problem = board.read().integrity?.problem): void {
    const { checkedBlocks = 0, problem: _, ...checked } = board.read().integrity ?? {}
    const isKnown = problem !== undefined && kept.size > 0
    const damaged = kept.size + lost.size
    board.change({
      integrity: {
        ...{ ...checked, checkedBlocks, damaged, healed },
        ...(isKnown ? { problem } : {})
      }
    })
  }

  async function heal(damage: Damage, store: HealedStore, signal: AbortSignal, onPoolLost: () => void) {
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
      logger.warn('a damaged part of the index was written again', { problem: describeDamage(damage) })
    } else if (number !== undefined) await replace(number, store, signal)
  }

  /** Fetches a stored block anew and puts it in the place of what is stored of it. */
  async function replace(number: number, store: HealedStore, signal: AbortSignal): Promise<void> {
    const block = await fetchBlock(number, await store.coversTraces(number), signal)
    const outcome = await store.replaceBlock(packBlocks([block]))
    if (outcome === 'replaced') logger.warn('a damaged block was replaced', { blockNumber: number })
    if (outcome !== 'other') {
      parted.delete(number)
      return
    }
    parted.add(number)
    const problem = `block ${number}: the node has another block there than the index`
    throw new NodeContradictionError(problem, { blockNumber: number, isMissing: true })
  }

  /** The damage to try next: what has failed least often comes first. */
  function nextDue(): Kept | undefined {
    const nowMs = performance.now()
    let next: Kept | undefined
    for (const each of kept.values()) {
      const isFirst = next === undefined || each.pauses.failures() < next.pauses.failures()
      if (each.dueMs <= nowMs && isFirst) next = each
      if (next?.pauses.failures() === 0) break
    }
    return next
  }

  function takeFailure({ damage: { block }, pauses }: Kept, error: unknown): void {
    // What healing meets may be worse than what was to be healed, or has to be healed first.
    if (error instanceof IndexDamagedError) report(error.damage)
    const problem = describeProblem(error, block)
    if (lacksBlock(error) && pauses.isMilestone()) {
      logger.warn('a damaged block cannot be fetched again', { problem, attempt: pauses.failures() })
    }
    show(problem)
  }

  /** @returns false: nothing is due, or it could not be healed. */
  async function healNext(store: HealedStore, signal: AbortSignal, onPoolLost: () => void): Promise<boolean> {
    // A store that is lost is opened again, with another call.
    for (const damage of await store.takeDamage().catch(() => [])) report(damage)
    const next = nextDue()
    if (next === undefined) return false
    try {
      await heal(next.damage, store, signal, onPoolLost)
      healed++
      kept.delete(next.key)
      show()
      return true
    } catch (error) {
      if (signal.aborted) return false
      next.dueMs = performance.now() + next.pauses.next(error)
      takeFailure(next, error)
      return false
    }
  }

  return {
    report,
    isParted: number => [...parted].some(each => each >= number),
    async healInto(store, signal, onPoolLost) {
      while (!signal.aborted) {
        if (!(await healNext(store, signal, onPoolLost))) await pause(lookEveryMs, signal)
      }
    }
  }
}
