import type { BlockRef, Hash } from '../../model/evm.ts'
import type { EvmNode } from '../../nodes/evm/nodeCall.ts'
import { readCount, readHash, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import type { EvmRpc, EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { isMethodMissing } from '../../nodes/upstreams/errorWords.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { isEmptyRoot, type Waivers } from './verification/contradiction.ts'
import type { VerifiedBlock, VerifiedHeader } from './verification/verifiedBlock.ts'
import { verifyHeader, verifyReceipts } from './verify.ts'

/**
 * The block at a height with its receipts, verified to belong together, as `read` reads it.
 * @param read - may refuse the block with a NodeContradictionError, which counts like any other disagreement.
 * @throws {NodeContradictionError} when the parts disagree on every upstream, or none has the block (yet).
 * @remarks Two calls; one for an empty block; a batch of one call per transaction on nodes without
 *   `eth_getBlockReceipts`. Receipts that fit on no upstream put the header in doubt: next time another upstream is asked
 *   for it first.
 */
export async function fetchBlock<T>(
  rpc: EvmUpstreams,
  number: number,
  read: (block: VerifiedBlock) => T,
  waivers: Waivers,
  signal?: AbortSignal
): Promise<T> {
  const options = { height: number, ...(signal ? { signal } : {}) }
  const { header, giver } = (await rpc.request(
    { method: 'eth_getBlockByNumber', params: [toQuantity(number), true] },
    {
      ...options,
      read(raw, node): HeaderFrom {
        if (raw === null) {
          throw new NodeContradictionError(`block ${number}: the node does not have it`, { number })
        }
        return { header: verifyHeader(raw, number, waivers), giver: node }
      }
    }
  )) as HeaderFrom
  try {
    if (header.transactions.length === 0 && isEmptyRoot(header.raw.transactionsRoot)) {
      // Such a block has no transactions, whatever else is missing.
      return read(verifyReceipts(header, [], waivers))
    }
    return await rpc.onOneNode(
      'eth_getBlockReceipts',
      async node => read(verifyReceipts(header, await fetchReceipts(node, header), waivers)),
      options
    )
  } catch (error) {
    if (error instanceof NodeContradictionError) giver.doubt(number)
    throw error
  }
}

interface HeaderFrom {
  readonly header: VerifiedHeader
  readonly giver: EvmNode
}

/** Asked for by hash: by number, two calls around a reorg would speak of two blocks. Each node in the way it offers. */
async function fetchReceipts(node: EvmNode, { ref, transactions }: VerifiedHeader): Promise<unknown> {
  const whole = await node.attempt('eth_getBlockReceipts', async () => {
    try {
      return await node.request({ method: 'eth_getBlockReceipts', params: [ref.hash] })
    } catch (error) {
      // Some nodes have the method but take heights only, which would not bind the receipts to this block.
      if (error instanceof NodeRpcError && error.rpcCode === -32602 && !isMethodMissing(error)) {
        throw new NodeRpcError(`${error.message}: not by hash`, -32601, error.rpcData, error.context)
      }
      throw error
    }
  })
  if (whole !== undefined) return whole
  const outcomes = await node.batch(
    transactions.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  )
  return outcomes.map(outcome => {
    if (outcome.ok) return outcome.value
    throw outcome.error
  })
}

/** The chain's block at a height; absent when no upstream has one there. */
export async function fetchBlockRef(
  rpc: EvmRpc,
  number: number,
  signal?: AbortSignal
): Promise<BlockRef | undefined> {
  const call = { method: 'eth_getBlockByNumber', params: [toQuantity(number), false] }
  const read = (raw: unknown) => {
    const ref = readBlockRef(raw, `block ${number}`)
    if (ref !== undefined && ref.number !== number) {
      throw new NodeContradictionError(`block ${number}: the node answered block ${ref.number}`, { number })
    }
    return ref
  }
  return (await rpc.request(call, { read, ...(signal ? { signal } : {}) })) as BlockRef | undefined
}

/** Whether any upstream still has this block, on its canonical path or beside it. */
export async function knowsBlock(rpc: EvmRpc, hash: Hash, signal?: AbortSignal): Promise<boolean> {
  const call = { method: 'eth_getBlockByHash', params: [hash, false] }
  return (await rpc.request(call, signal ? { signal } : {})) !== null
}

/** @returns `undefined` for null, the node's word for "no such block". */
export function readBlockRef(raw: unknown, what: string): BlockRef | undefined {
  if (raw === null) return undefined
  const { number, hash } = readObject(raw, what)
  return { number: readCount(number, `${what}: number`), hash: readHash(hash, `${what}: hash`) }
}
