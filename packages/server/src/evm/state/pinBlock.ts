import type { Address, Hash, Hex } from '@chain-data/index'
import { type EvmNode, type NodeCall, type NodeOutcome, quantityIn } from '../../nodes/evm/nodeCall.ts'
import { asHex, readCount, readHash, readObject } from '../../nodes/evm/rawFields.ts'
import { NodeContradictionError } from '../../platform/errors.ts'

/** A block at which something is read, as far as its reader needs it. */
export interface BlockAt {
  readonly number: number
  readonly hash: Hash
  readonly timestampSeconds: number
}

/** A block that the node was seen to read state of. */
export interface PinnedBlock extends BlockAt {
  /** The block parameter of every read: EIP-1898 `{ blockHash }`, or the height where the node does not know that. */
  readonly parameter: { readonly blockHash: Hash } | Hex
  /** False: the hash must be checked with every exchange, because a height can change its block. */
  readonly byHash: boolean
}

/** The node does not read the wanted block, or not any more: reorg, pruned state, another upstream. */
export class BlockLostError extends NodeContradictionError {
  constructor(block: BlockAt) {
    super(`the node does not read block ${block.number} ${block.hash}`, { blockNumber: block.number })
  }
}

/** The calls of a node that are used here. */
export type BlockReader = Pick<EvmNode, 'request' | 'batch'>

/** No block has this hash: a node that reads state for it ignores the hash. */
export const noHash: Hash = `0x${'00'.repeat(31)}01`

/**
 * Finds out how this node reads one block, by reading `owner`'s balance by hash and by height. One batch; nothing is remembered,
 * because one URL may lead to several nodes.
 *
 * @throws {BlockLostError} it reads the block neither by hash nor by height, or does not have it at its height (any more).
 */
export async function pinBlock(
  node: BlockReader,
  block: BlockAt,
  owner: Address
): Promise<{ readonly pinned: PinnedBlock; readonly nativeWei: bigint }> {
  const byHash = { blockHash: block.hash }
  const byNumber: Hex = `0x${block.number.toString(16)}`
  const [hashBalance, wrongHashBalance, numberBalance, blockNow] = await node.batch([
    { method: 'eth_getBalance', params: [owner, byHash] },
    { method: 'eth_getBalance', params: [owner, { blockHash: noHash }] },
    { method: 'eth_getBalance', params: [owner, byNumber] },
    { method: 'eth_getBlockByNumber', params: [byNumber, false] }
  ])
  // Nodes still read blocks that a reorg has removed; they must not be answered from.
  if (!blockNow?.ok || hashOfBlock(blockNow.value) !== block.hash) throw new BlockLostError(block)
  const atHash = wrongHashBalance?.ok === false ? quantityIn(hashBalance) : undefined
  if (atHash !== undefined) {
    return { pinned: { ...block, parameter: byHash, byHash: true }, nativeWei: atHash }
  }
  const atNumber = quantityIn(numberBalance)
  if (atNumber === undefined) throw new BlockLostError(block)
  return { pinned: { ...block, parameter: byNumber, byHash: false }, nativeWei: atNumber }
}

/** To be asked after the last read. @throws {BlockLostError} the height belongs to another block now. */
export async function confirmPinned(node: BlockReader, block: PinnedBlock): Promise<void> {
  const byNumber = `0x${block.number.toString(16)}`
  const answer = await node.request({ method: 'eth_getBlockByNumber', params: [byNumber, false] })
  if (hashOfBlock(answer) !== block.hash) throw new BlockLostError(block)
}

/**
 * Returns a call to send with reads: its answer shows whether the node reads this block at all. Only then are failures in the
 * same batch those of contracts.
 */
export function canaryOf(block: PinnedBlock): NodeCall {
  if (block.byHash) {
    return {
      method: 'eth_getBalance',
      params: ['0x0000000000000000000000000000000000000000', block.parameter]
    }
  }
  return { method: 'eth_getBlockByNumber', params: [block.parameter, false] }
}

/** @throws {BlockLostError} the canary says that the node does not read the block. */
export function requireCanary(outcome: NodeOutcome | undefined, block: PinnedBlock): void {
  const isAlive =
    outcome?.ok &&
    (block.byHash ? typeof outcome.value === 'string' : hashOfBlock(outcome.value) === block.hash)
  if (!isAlive) throw new BlockLostError(block)
}

/** @throws {NodeContradictionError} the node's newest block is not one. */
export async function readLatestBlock(node: BlockReader): Promise<BlockAt> {
  const what = 'latest block'
  const answer = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] })
  const { number, hash, timestamp } = readObject(answer, what)
  return {
    number: readCount(number, what, 'number'),
    hash: readHash(hash, what, 'hash'),
    timestampSeconds: readCount(timestamp, what, 'timestamp')
  }
}

/** Lower case; absent when `block` is no block. */
export function hashOfBlock(block: unknown): Hash | undefined {
  return asHex((block as { hash?: unknown } | null)?.hash, 64)
}
