import type { StoreWriter } from '../../index/port/writer.ts'
import type { BlockRef } from '../../model/evm.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import type { ChainSource } from './chainSource.ts'

export interface ReorgOptions {
  readonly source: ChainSource
  readonly store: StoreWriter
  /** Highest place where a stored block may not be the node's. */
  readonly suspect: number
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Runs before anything is removed: throws when the node turns out to serve another chain. */
  confirmIdentity(): Promise<void>
  /** Told right before blocks are removed, which may take long: the newest one that stays; -1 for none. */
  onRollback?(keptNumber: number): void
}

/**
 * Takes the stored chain back to the newest block that it shares with the node, at any depth, in one transaction.
 * The store marks the index as degraded when that removes blocks that were final: answers given meanwhile were wrong
 * although nothing said so.
 *
 * @returns whether blocks were removed. `false`: what is stored up to `suspect` is the node's after all.
 * @throws {NodeContradictionError} when the node has no block at a height below one that it has just named.
 * @remarks About 2 log2(depth) calls to the node, and two more when blocks are removed.
 */
export async function resolveReorg(options: ReorgOptions): Promise<boolean> {
  const { source, store, suspect, logger, signal } = options
  const { head, indexedFrom, finalized } = await store.state()
  if (head === undefined || indexedFrom === undefined) return false

  const sharedAt = async (number: number): Promise<BlockRef | undefined> => {
    const stored = await store.blockRef(number)
    const canonical = await source.blockRef(number, signal)
    if (canonical === undefined) {
      throw new NodeContradictionError(`block ${number}: the node does not have it, but blocks above`, {
        number
      })
    }
    return stored?.hash === canonical.hash ? stored : undefined
  }
  const highest = Math.min(suspect, head.number)
  const ancestor = await findCommonAncestor(sharedAt, indexedFrom, highest)
  if (ancestor?.number === highest) return false

  // At every depth: two chains may share their genesis and part later.
  await options.confirmIdentity()
  const depth = head.number - (ancestor?.number ?? indexedFrom - 1)
  const place = { depth, blockNumber: head.number - depth }
  logger.warn('the chain reorganised', place)
  options.onRollback?.(ancestor?.number ?? -1)
  if (ancestor === undefined) await store.rollbackAll()
  else await store.rollbackTo(ancestor)
  if (finalized !== undefined && place.blockNumber < finalized) {
    logger.error('the chain reorganised behind final blocks; the index is marked as degraded', place)
  }
  return true
}

/**
 * The newest height from `lowest` to `highest` where both chains have the same block: two chains that part never meet
 * again, so strides may double on the way down and halve on the way back.
 */
async function findCommonAncestor(
  sharedAt: (number: number) => Promise<BlockRef | undefined>,
  lowest: number,
  highest: number
): Promise<BlockRef | undefined> {
  let parted = highest + 1
  let shared: BlockRef | undefined
  for (let stride = 1; shared === undefined && parted > lowest; stride *= 2) {
    const number = Math.max(lowest, parted - stride)
    shared = await sharedAt(number)
    if (shared === undefined) parted = number
  }
  while (shared !== undefined && parted - shared.number > 1) {
    const middle = Math.floor((shared.number + parted) / 2)
    const found = await sharedAt(middle)
    if (found === undefined) parted = middle
    else shared = found
  }
  return shared
}
