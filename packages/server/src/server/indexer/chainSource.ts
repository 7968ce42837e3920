import type { PoolUpdate } from '../../index/port/pool.ts'
import type { BlockRows } from '../../index/record/encodeBlock.ts'
import type { BlockRef, Hash } from '../../model/evm.ts'

/**
 * A chain as its indexer sees it: blocks, refs and parents, verified and in the server's own terms. `EvmSource` has
 * this shape.
 */
export interface ChainSource {
  /** What the node says of the chain it serves. */
  identity(signal?: AbortSignal): Promise<{ readonly chainId: bigint; readonly genesisHash: Hash }>
  /** The node's newest block, and up to which height the chain holds its blocks final. */
  head(signal?: AbortSignal): Promise<{ readonly head: BlockRef; readonly finalized?: number }>
  /** @throws {NodeContradictionError} when the node contradicts itself, or does not have the block (yet). */
  block(number: number, signal?: AbortSignal): Promise<BlockRows>
  /** The node's canonical block at a height; absent when it has none there. */
  blockRef(number: number, signal?: AbortSignal): Promise<BlockRef | undefined>
  /** Whether the node still has this block, canonical or not. */
  knowsBlock(hash: Hash, signal?: AbortSignal): Promise<boolean>
  /**
   * Waits for the next block to be announced since the last call, at most `pauseMs`; at once when `signal` is aborted.
   * Absent where nothing announces blocks.
   */
  waitForHead?(pauseMs: number, signal: AbortSignal): Promise<void>
  /** `complete`: the node showed its whole pool. `undefined`: it shows none. */
  pool(signal?: AbortSignal): Promise<(PoolUpdate & { readonly complete: boolean }) | undefined>
}
