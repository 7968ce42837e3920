import { type BlockRef, IndexDamagedError, type StoreWriter } from '@chain-data/index'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'

/** The block at which the stored chain and the node's have parted. */
export interface Reorg {
  /** Newest block that both have; absent: none. */
  readonly ancestor?: BlockRef
  /** Number of the newest block that stays; one below the index when none does. */
  readonly blockNumber: number
  /** Stored blocks above it. */
  readonly depth: number
}

export interface ReorgOptions {
  readonly source: Pick<EvmSource, 'blockRef'>
  readonly stored: Pick<StoreWriter, 'state' | 'blockRef'>
  /** Highest position where a stored block may not be the node's. */
  readonly suspect: number
  readonly logger: Logger
  readonly signal: AbortSignal
  /** Reports that the node has another block in the place of a damaged one. Absent: of none. */
  readonly isParted?: ((number: number) => boolean) | undefined
  /** Runs before a reorg is reported: throws when the node turns out to serve another chain. */
  confirmIdentity(): Promise<void>
}

/**
 * Finds the newest stored block that the node has too, at any depth.
 *
 * @returns `undefined` when what is stored up to `suspect` is the node's after all.
 * @throws {NodeContradictionError} when the node has no block at a height below one that it has just named.
 * @remarks About 2 log2(depth) calls to the node, and two more when there was a reorg.
 */
export async function findReorg(options: ReorgOptions): Promise<Reorg | undefined> {
  const { source, stored, suspect, logger, signal } = options
  const { head, indexedFrom } = await stored.state()
  if (head === undefined || indexedFrom === undefined) return undefined

  const sharedAt = async (number: number): Promise<BlockRef | undefined> => {
    const own = await stored.blockRef(number).catch((error: unknown) => {
      // It cannot be healed, and goes with the others.
      if (error instanceof IndexDamagedError && options.isParted?.(number)) return undefined
      throw error
    })
    const canonical = await source.blockRef(number, signal)
    if (canonical === undefined) {
      throw new NodeContradictionError(`block ${number}: the node does not have it, but blocks above`, {
        number
      })
    }
    return own?.hash === canonical.hash ? own : undefined
  }
  const highest = Math.min(suspect, head.number)
  const ancestor = await findCommonAncestor(sharedAt, indexedFrom, highest)
  if (ancestor?.number === highest) return undefined

  // At every depth: two chains may share their genesis and part later.
  await options.confirmIdentity()
  const blockNumber = ancestor?.number ?? indexedFrom - 1
  const depth = head.number - blockNumber
  logger.warn('the chain reorganised', { depth, blockNumber })
  return { blockNumber, depth, ...(ancestor === undefined ? {} : { ancestor }) }
}

/**
 * Finds the newest height from `lowest` to `highest` where both chains have the same block. Two chains that part never
 * meet again, so strides may double on the way down and halve on the way back.
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
