import { type Damage, IndexDamagedError, StoreError, type StoreWriter } from '@chain-data/index'
import { type BlockRows, packBlocks } from '@chain-data/index/record'
import { lacksBlock } from '../../evm/blocks/blocks.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { createRetryPauses, type RetryPauses } from './retryPauses.ts'
import { describeProblem, type StatusBoard } from './status.ts'

/** Replaces damaged blocks of one index by the same blocks, fetched and verified anew. */
export interface Healer {
  /** Adds damage that was met; the same damage is kept once. */
  report(damage: Damage): void
  /**
   * Heals what is reported, one block at a time, until `signal` is aborted.
   * @param onPoolLost - called when the pool was dropped: it has to be read before it is shown again.
   */
  healInto(store: HealedStore, signal: AbortSignal, onPoolLost: () => void): Promise<void>
}

type HealedStore = Pick<
  StoreWriter,
  'coversTraces' | 'takeDamage' | 'replaceBlock' | 'findSuspects' | 'acceptRows' | 'dropPool' | 'dropChanges'
>

/** Damage that only an index made anew helps against. */
class BeyondRepairError extends IndexDamagedError {}

/** The store cannot be opened because it is damaged. */
export class UnusableIndexError extends StoreError {}

/** Interval of the check for reports, and pause after a failure. */
const lookEveryMs = 500
/** Blocks of a search for lost rows, after which is seen whether they are back. */
const searchedAtOnce = 256
/** More would only be met again. */
const maxKept = 10_000

/** Parts without a block that are healed in another way than by fetching one. */
const otherwiseHealed: readonly Damage['part'][] = [
  ...(['report', 'poolEntry', 'change', 'undo', 'addressRow', 'hashRow', 'candidate', 'epochs'] as const)
]

function isHealable({ part, block }: Damage): boolean {
  return block !== undefined || otherwiseHealed.includes(part)
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

/**
 * Fetches a stored block anew and puts it in the place of what is stored of it.
 * @returns false: the index does not have the block any more.
 * @throws {NodeContradictionError} the node has another block there.
 */
async function fetchInPlace(
  number: number,
  damage: Damage,
  from: {
    readonly fetchBlock: FetchBlock
    readonly store: Pick<StoreWriter, 'coversTraces' | 'replaceBlock'>
    readonly signal: AbortSignal
  }
): Promise<boolean> {
  const { fetchBlock, store, signal } = from
  const block = await fetchBlock(number, await store.coversTraces(number), signal)
  const outcome = await store.replaceBlock(packBlocks([block]), damage)
  if (outcome !== 'other') return outcome !== 'gone'
  const problem = `block ${number}: the node has another block there than the index`
  throw new NodeContradictionError(problem, { blockNumber: number, isMissing: true })
}

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
  /** Keys of what cannot be healed, or not at the moment. */
  const lost = new Set<string>()
  /** Number of damages that are not even tried to heal. */
  let unhealable = 0
  let healed = 0

  function report(damage: Damage): void {
    const key = JSON.stringify(damage)
    if (kept.has(key) || lost.has(key) || kept.size >= maxKept) return
    if (isHealable(damage)) kept.set(key, { key, damage, pauses: createRetryPauses(), dueMs: 0 })
    else {
      unhealable++
      giveUp(key, new BeyondRepairError(damage, 'no block can be fetched in its place'))
    }
    show()
  }

  /** Damage that no attempt can heal makes the index unusable at once. */
  function giveUp(key: string, error: unknown, block?: number): void {
    const problem = describeProblem(error, block)
    lost.add(key)
    board.holdUnusable(problem + resetAdvice(chainId))
    logger.error('the index cannot be healed', { problem })
  }

  function show(problem = board.read().integrity?.problem): void {
    const { checkedBlocks = 0, problem: _, ...checked } = board.read().integrity ?? {}
    const isKnown = problem !== undefined && kept.size > 0
    const damaged = kept.size + unhealable
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
    if (number !== undefined) await replace(number, damage, store, signal)
    // Hashes that a reorg removed: no node has them any more.
    else if (part === 'undo') await store.acceptRows(damage)
    else if (part === 'epochs') await restoreEpochs(damage, store)
    else await searchRows(damage, store, signal, onPoolLost)
  }

  async function restoreEpochs(damage: Damage, store: HealedStore): Promise<void> {
    try {
      await store.acceptRows(damage)
    } catch (error) {
      if (!(error instanceof IndexDamagedError)) throw error
      throw new BeyondRepairError(damage, 'its copy is damaged too')
    }
    logger.warn('the list of epochs was put back from its copy')
  }

  /** Replaces the blocks that rows are likely to be of, then all that they may be of, until the rows are whole again. */
  async function searchRows(
    damage: Damage,
    store: HealedStore,
    signal: AbortSignal,
    onPoolLost: () => void
  ): Promise<void> {
    const tried = new Set<number>()
    let suspects = await store.findSuspects(damage)
    for (let next = suspects?.likely; next !== undefined && next.length > 0; ) {
      for (const number of next) {
        tried.add(number)
        await replace(number, suspects?.damage ?? damage, store, signal)
      }
      suspects = await store.findSuspects(damage)
      next = suspects?.likely.filter(number => !tried.has(number))
    }
    if (suspects?.range === undefined) {
      if (suspects === undefined) return
      throw new StoreError('rows are lost, and it is unknown of which blocks')
    }
    const { from, to } = suspects.range
    for (let number = from; number <= to && !signal.aborted; number++) {
      show(`looking for lost rows: block ${number} of ${from} to ${to}`)
      await replace(number, suspects.damage, store, signal)
      // Damage that names its block does not wait for the end of a long range.
      await healNext(store, signal, onPoolLost, ({ damage: { block } }) => block !== undefined)
      const isTime = (number - from) % searchedAtOnce === searchedAtOnce - 1
      if (isTime && (await store.findSuspects(suspects.damage)) === undefined) return
    }
    if ((await store.findSuspects(suspects.damage)) === undefined) return
    await store.acceptRows(suspects.damage)
    if ((await store.findSuspects(suspects.damage)) !== undefined) {
      throw new BeyondRepairError(damage, 'fetching its blocks again did not help')
    }
  }

  async function replace(number: number, damage: Damage, store: HealedStore, signal: AbortSignal) {
    const isReplaced = await fetchInPlace(number, damage, { fetchBlock, store, signal })
    if (isReplaced) logger.warn('a damaged block was replaced', { blockNumber: number })
  }

  function forget(key: string): void {
    kept.delete(key)
    if (lost.delete(key) && lost.size === 0) board.holdUnusable()
    show()
  }

  /** The damage to try next: what has failed least often comes first. */
  function nextDue(isMeant: (each: Kept) => boolean): Kept | undefined {
    const nowMs = performance.now()
    let next: Kept | undefined
    for (const each of kept.values()) {
      const isFirst = next === undefined || each.pauses.failures() < next.pauses.failures()
      if (each.dueMs <= nowMs && isFirst && isMeant(each)) next = each
      if (next?.pauses.failures() === 0) break
    }
    return next
  }

  function takeFailure({ key, damage: { block }, pauses }: Kept, error: unknown): void {
    // What healing meets may be worse than what was to be healed.
    if (error instanceof IndexDamagedError) report(error.damage)
    if (error instanceof BeyondRepairError && !lost.has(key)) giveUp(key, error, block)
    const problem = describeProblem(error, block)
    if (lacksBlock(error) && pauses.isMilestone()) {
      logger.warn('a damaged block cannot be fetched again', { problem, attempt: pauses.failures() })
    }
    show(problem)
  }

  /** @returns false: nothing that is meant is due, or it could not be healed. */
  async function healNext(
    store: HealedStore,
    signal: AbortSignal,
    onPoolLost: () => void,
    isMeant: (each: Kept) => boolean = () => true
  ): Promise<boolean> {
    // A store that is lost is opened again, with another call.
    for (const damage of await store.takeDamage().catch(() => [])) report(damage)
    const next = nextDue(isMeant)
    if (next === undefined) return false
    try {
      await heal(next.damage, store, signal, onPoolLost)
      healed++
      forget(next.key)
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
    async healInto(store, signal, onPoolLost) {
      while (!signal.aborted) {
        if (!(await healNext(store, signal, onPoolLost))) await pause(lookEveryMs, signal)
      }
    }
  }
}
