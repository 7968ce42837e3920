import type { EvmNode, NodeOutcome } from '../../nodes/evm/nodeCall.ts'
import { readList, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import { messageKindOf } from '../../nodes/upstreams/errorWords.ts'
import { NodeRpcError } from '../../platform/errors.ts'

/** Blocks that are asked for at once. */
const samples = 16

/**
 * Finds the oldest block from which on a node still has its blocks with their receipts. Nodes drop older ones to save space
 * (EIP-4444); block 0 is kept by all of them and says nothing.
 *
 * @param head - the newest block.
 * @returns 0 for a node that has dropped none.
 * @throws {NodeRpcError} the node refuses a method.
 * @remarks Two requests for a node that has everything; else two for every four bits of `head`.
 */
export async function findOldestBlock(node: Pick<EvmNode, 'batch'>, head: number): Promise<number> {
  let missing = 0
  let oldest = head
  while (oldest - missing > 1) {
    const heights = heightsBetween(missing, oldest)
    const kept = await areKept(node, heights)
    const lastMissing = kept.lastIndexOf(false)
    // All samples are there: so is what was not sampled, or is known to be missing.
    if (lastMissing < 0 && missing === 0) return 0
    oldest = heights[lastMissing + 1] ?? oldest
    missing = heights[lastMissing] ?? missing
  }
  return missing === 0 ? 0 : oldest
}

/** Returns heights above `missing` and below `oldest`, ascending, the first of them next to `missing`. */
function heightsBetween(missing: number, oldest: number): readonly number[] {
  const step = Math.max(1, (oldest - missing - 1) / samples)
  const heights = Array.from({ length: samples }, (_, at) => missing + 1 + Math.floor(at * step))
  return heights.filter(height => height < oldest)
}

/** A block is kept when it is there, and so is a receipt of it; an empty one does not show whether receipts are. */
async function areKept(node: Pick<EvmNode, 'batch'>, heights: readonly number[]): Promise<boolean[]> {
  const blocks = await node.batch(
    heights.map(height => ({ method: 'eth_getBlockByNumber', params: [toQuantity(height), false] }))
  )
  const hashes = blocks.map(lastTransaction)
  const asked = hashes.filter(hash => typeof hash === 'string')
  const receipts = await node.batch(
    asked.map(hash => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  )
  const dropped = new Set(asked.filter((_, at) => answerIn(receipts[at]) === null))
  return hashes.map(hash => hash !== undefined && !dropped.has(String(hash)))
}

/** Returns the hash of a block's last transaction, null for an empty block, `undefined` for one that is not there. */
function lastTransaction(outcome: NodeOutcome | undefined): unknown {
  const value = answerIn(outcome)
  if (value === null) return undefined
  return readList(readObject(value, 'block').transactions, 'block: transactions').at(-1) ?? null
}

/** Returns an answer, where null and an error about pruned data mean the same. */
function answerIn(outcome: NodeOutcome | undefined): unknown {
  if (outcome === undefined) return null
  if (outcome.ok) return outcome.value ?? null
  const { error } = outcome
  if (error instanceof NodeRpcError && messageKindOf(error) === 'missingData') return null
  throw error
}
