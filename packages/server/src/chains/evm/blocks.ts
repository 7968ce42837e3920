import type { BlockRef, Hash } from '../../model/evm.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { type Capabilities, isMethodMissing } from './capabilities.ts'
import { readCount, readHash, readObject } from './rawFields.ts'
import type { EvmRpc } from './rpc.ts'
import { type VerifiedBlock, type VerifiedHeader, verifyHeader, verifyReceipts } from './verify.ts'

/** Root of a trie with nothing in it: such a block has no transactions, whatever else is missing. */
const emptyRoot = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421'

/**
 * The block at a height with its receipts, verified to belong together.
 * @throws {NodeContradictionError} when the parts disagree, or the node does not have the block (yet).
 * @remarks Two calls; one for an empty block; a batch of one call per transaction on nodes without
 *   `eth_getBlockReceipts`.
 */
export async function fetchBlock(
  rpc: EvmRpc,
  capabilities: Capabilities,
  number: number,
  signal?: AbortSignal
): Promise<VerifiedBlock> {
  const options = signal ? { signal } : {}
  const raw = await rpc.request({ method: 'eth_getBlockByNumber', params: [quantity(number), true] }, options)
  if (raw === null) throw new NodeContradictionError(`block ${number}: the node does not have it`, { number })
  const header = verifyHeader(raw, number)
  const isEmpty = header.transactions.length === 0 && header.raw.transactionsRoot === emptyRoot
  return verifyReceipts(header, isEmpty ? [] : await fetchReceipts(rpc, capabilities, header, signal))
}

/** Asked for by hash: by number, two calls around a reorg would speak of two blocks. */
async function fetchReceipts(
  rpc: EvmRpc,
  capabilities: Capabilities,
  header: VerifiedHeader,
  signal: AbortSignal | undefined
): Promise<unknown> {
  const options = signal ? { signal } : {}
  const whole = await capabilities.attempt('eth_getBlockReceipts', async () => {
    try {
      return await rpc.request({ method: 'eth_getBlockReceipts', params: [header.ref.hash] }, options)
    } catch (error) {
      // Some nodes have the method but take heights only, which would not bind the receipts to this block.
      if (error instanceof NodeRpcError && error.rpcCode === -32602 && !isMethodMissing(error)) {
        throw new NodeRpcError(`${error.message}: not by hash`, -32601, error.rpcData, error.context)
      }
      throw error
    }
  })
  if (whole !== undefined) return whole
  const outcomes = await rpc.batch(
    header.transactions.map(({ hash }) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    options
  )
  return outcomes.map(outcome => {
    if (outcome.ok) return outcome.value
    throw outcome.error
  })
}

/** The node's block at a height; absent when it has none there. */
export async function fetchBlockRef(
  rpc: EvmRpc,
  number: number,
  signal?: AbortSignal
): Promise<BlockRef | undefined> {
  const call = { method: 'eth_getBlockByNumber', params: [quantity(number), false] }
  const ref = readBlockRef(await rpc.request(call, signal ? { signal } : {}), `block ${number}`)
  if (ref !== undefined && ref.number !== number) {
    throw new NodeContradictionError(`block ${number}: the node answered block ${ref.number}`, { number })
  }
  return ref
}

/** Whether the node still has this block, on its canonical path or beside it. */
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

/** Minimal 0x-hex, as EIP-1474 wants quantities in params. */
export function quantity(value: number): string {
  return `0x${value.toString(16)}`
}
