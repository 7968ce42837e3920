import type { Address, IndexedBlock } from '@chain-data/index'
import { toIndexedBlock } from '../../../evm/blocks/blockRows.ts'
import type { EvmSource } from '../../../evm/blocks/evmSource.ts'
import { type BlockAt, confirmPinned, pinBlock } from '../../../evm/state/pinBlock.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { NodeUnavailableError } from '../../../platform/errors.ts'
import { type AccountState, createAccountState } from './accountState.ts'

interface StateRequest {
  readonly address: Address
  /** The newest block that state is read at; older ones are its ancestors. */
  readonly at: BlockAt
  /** Number of transactions and tokens: upstreams are compared by work of like size. */
  readonly size: number
  readonly signal?: AbortSignal
  /** `Date.now()` by which all must be done. */
  readonly deadlineMs: number
}

/** Older state of accounts, as nodes have it. */
export interface AccountStates {
  /**
   * Has work done with the state of one upstream. When that one does not have the block, loses it, fails or contradicts itself,
   * all of the work is done again with another.
   *
   * @throws {BlockLostError} no upstream reads the block.
   * @throws {NodeUnavailableError} no node answered in time.
   * @throws the signal's reason when aborted.
   */
  withState<T>(request: StateRequest, work: (state: AccountState) => Promise<T>): Promise<T>
}

export interface AccountStatesOptions {
  readonly rpc: Pick<EvmUpstreams, 'onOneNode'>
  readonly chainId: number
  /** Reads blocks as the indexer does. */
  readonly source: Pick<EvmSource, 'block'>
}

export function createAccountStates({ rpc, chainId, source }: AccountStatesOptions): AccountStates {
  return {
    async withState({ address, at, size, signal, deadlineMs }, work) {
      const timeoutMs = deadlineMs - Date.now()
      if (timeoutMs <= 0) {
        throw new NodeUnavailableError(`chain ${chainId}: no time is left to read state`, { chainId })
      }
      const readBlock = createBlockReader(source, signal)
      return await rpc.onOneNode(
        `account state of up to ${2 ** Math.ceil(Math.log2(size + 1))} parts`,
        async node => {
          const { pinned, nativeWei } = await pinBlock(node, at, address)
          const options = { node, pinned, address, nativeWei, deadlineMs, readBlock }
          const result = await work(await createAccountState(options))
          await confirmPinned(node, pinned)
          return result
        },
        { height: at.number, timeoutMs, ...(signal && { signal }) }
      )
    }
  }
}

/**
 * Blocks are read once for one piece of work; they are few. A block that no node gives in good order is no block to compare
 * with.
 */
function createBlockReader(source: Pick<EvmSource, 'block'>, signal: AbortSignal | undefined) {
  const blocks = new Map<number, IndexedBlock | undefined>()
  return async (height: number): Promise<IndexedBlock | undefined> => {
    if (!blocks.has(height)) {
      const rows = await source.block(height, signal).catch(() => undefined)
      signal?.throwIfAborted()
      blocks.set(height, rows && toIndexedBlock(rows))
    }
    return blocks.get(height)
  }
}
