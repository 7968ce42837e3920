import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { readCount, readList, readObject } from '../../nodes/evm/rawFields.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { type FoundPool, readPoolEntries } from './readPoolEntries.ts'

/** A block may come between the two calls; so often in a row it is no coincidence. */
const attempts = 3
/** Remembered like a missing method. */
const capability = 'eth_getBlockByNumber of a block to come'

/**
 * What the node would put into the next block, by `eth_getBlockByNumber("pending", true)`: the last resort. Never
 * complete: what is queued, and what finds no room, is not in it.
 *
 * @returns `undefined` when the node has no block to come: many answer their newest one instead,
 *   which says nothing about the pool.
 * @throws {NodeContradictionError} when the answer is not a block.
 */
export function readPendingBlock(node: EvmNode, logger: Logger | undefined): Promise<FoundPool | undefined> {
  return node.attempt(capability, async () => {
    for (let attempt = 0; attempt < attempts; attempt++) {
      const raw = await askForBlock(node)
      if (raw === null || raw === undefined) break
      const block = readObject(raw, 'pending block')
      // Asked afterwards: a block above it cannot have been the newest one.
      const head = await node.request({ method: 'eth_blockNumber', params: [] })
      if (readCount(block.number, 'pending block: number') <= readCount(head, 'eth_blockNumber')) continue
      const entries = readPoolEntries(readList(block.transactions, 'pending block').map(takeOut), logger)
      return { entries: entries.map(entry => ({ ...entry, status: 1 as const })), complete: false }
    }
    throw new NodeRpcError('the node has no block to come', -32601, undefined)
  })
}

/** Nodes that do not know the tag answer all kinds of errors. */
async function askForBlock(node: EvmNode): Promise<unknown> {
  try {
    return await node.request({ method: 'eth_getBlockByNumber', params: ['pending', true] })
  } catch (error) {
    if (error instanceof NodeRpcError) return undefined
    throw error
  }
}

/** Some nodes name a hash for a block that does not exist yet, and write it into its transactions. */
function takeOut(transaction: unknown): unknown {
  return typeof transaction === 'object' && transaction !== null
    ? { ...transaction, blockHash: null }
    : transaction
}
