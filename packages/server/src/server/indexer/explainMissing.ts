import { lacksBlock } from '../../evm/blocks/blocks.ts'
import type { EvmSource } from '../../evm/blocks/evmSource.ts'
import { NodeContradictionError } from '../../platform/errors.ts'

/**
 * Explains why a block cannot be read where the node has pruned it (EIP-4444): names the oldest block that the node has, and
 * the `startBlock` that would do. Any other failure is returned as it is.
 *
 * @param chain.isEmpty - nothing is indexed yet, so that another `startBlock` is enough.
 * @remarks A bounded search of the node for a block that it does not have; none for any other failure.
 */
export async function explainMissing(
  failure: unknown,
  blockNumber: number | undefined,
  source: Pick<EvmSource, 'oldestBlock'>,
  chain: {
    readonly chainId: number
    readonly head: number
    readonly isEmpty: boolean
    readonly signal: AbortSignal
  }
): Promise<unknown> {
  const { chainId, head, isEmpty, signal } = chain
  if (blockNumber === undefined || blockNumber >= head || !lacksBlock(failure)) return failure
  // A node that fails now shows nothing about what it has.
  const oldest = await source.oldestBlock(head, signal).catch(() => 0)
  if (oldest <= blockNumber) return failure
  const anew = isEmpty ? '' : ` and begin the index anew (chain-data reset ${chainId})`
  return new NodeContradictionError(
    `block ${blockNumber}: the node has pruned it or its receipts, and has them from block ${oldest} on: set startBlock to ${oldest} or later${anew}, or take a node that has all blocks`,
    { blockNumber, isMissing: true }
  )
}
