import type { BlockRef, Hash } from '../../model/evm.ts'
import type { EvmNode, NodeCallOptions } from '../../nodes/evm/nodeCall.ts'
import { readCount, readHash, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import type { EvmRpc, EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { isAnswerTooLarge, isMethodMissing, messageKindOf } from '../../nodes/upstreams/errorWords.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import type { BlockAuthorizations } from './authorizations.ts'
import type { AuthorizationReader } from './createAuthorizationReader.ts'
import type { RootChecks } from './roots/createRootChecks.ts'
import { BrokenChecksError } from './verification/blockChecks.ts'
import { contradiction, isEmptyRoot, type Waivers } from './verification/contradiction.ts'
import type { VerifiedBlock, VerifiedHeader } from './verification/verifiedBlock.ts'
import { verifyHeader, verifyReceipts } from './verify.ts'

/**
 * Reads the block at a height and its receipts, and verifies that they belong together.
 * @param read - turns the verified block into the result. Its NodeContradictionError counts like any other disagreement.
 * @throws {BrokenChecksError} the block breaks waivable checks on every upstream; it lists those of header and receipts.
 * @throws {NodeContradictionError} when the parts disagree on every upstream, or none has the block (yet).
 * @remarks Two calls; one for an empty block; a batch of one call per transaction on nodes without
 *   `eth_getBlockReceipts`. When the receipts of no upstream fit, the header may be wrong: the next attempt asks another
 *   upstream for it first.
 */
export async function fetchBlock<T>(
  rpc: EvmUpstreams,
  number: number,
  read: (block: VerifiedBlock, authorizations?: BlockAuthorizations) => T,
  { waivers, roots }: FetchChecks,
  {
    signal,
    authorizationReader
  }: { readonly signal?: AbortSignal | undefined; readonly authorizationReader?: AuthorizationReader } = {}
): Promise<T> {
  const options = { height: number, ...(signal ? { signal } : {}) }
  const { header, giver } = await fetchHeader(rpc, number, { waivers, roots }, options)
  const verify = (receipts: unknown): VerifiedBlock => {
    const block = verifyReceipts(header, receipts, waivers)
    roots?.receipts(block)
    return block
  }
  try {
    if (header.transactions.length === 0 && isEmptyRoot(header.raw.transactionsRoot)) {
      // The root proves that the block has no transactions.
      return read(verify([]))
    }
    // At the same time as the receipts, so that it takes no further exchange.
    const authorizations = authorizationReader?.read(header, signal)
    return await rpc.onOneNode(
      'eth_getBlockReceipts',
      async node => read(verify(await fetchReceipts(node, header)), await authorizations),
      options
    )
  } catch (error) {
    if (error instanceof NodeContradictionError) giver.doubt(number)
    // Without receipts the list of broken checks stays as short as the header has made it.
    else if (header.broken.length > 0) throw new BrokenChecksError(number, header.broken)
    throw error
  }
}

/** Reports whether a block failed because the node lacks it or its receipts: it lags, or has pruned them. */
export function lacksBlock(error: unknown): boolean {
  if (error instanceof NodeRpcError) return messageKindOf(error) === 'missingData'
  return error instanceof NodeContradictionError && error.context.isMissing === true
}

/** What a block is held against besides itself. */
export interface FetchChecks {
  readonly waivers: Waivers
  /** Absent: roots and hashes are not recomputed. */
  readonly roots?: RootChecks | undefined
}

interface HeaderFrom {
  readonly header: VerifiedHeader
  readonly giver: EvmNode
}

/** Reads a header that breaks no check from any upstream; where none has such a header, the first one that breaks some. */
async function fetchHeader(
  rpc: EvmUpstreams,
  number: number,
  { waivers, roots }: FetchChecks,
  options: NodeCallOptions
): Promise<HeaderFrom> {
  let broken: HeaderFrom | undefined
  const read = (raw: unknown, giver: EvmNode): HeaderFrom => {
    if (raw === null) throw contradiction(number, 'the node does not have it', true)
    const header = verifyHeader(raw, number, waivers)
    if (header.broken.length === 0) {
      roots?.header(header)
      return { header, giver }
    }
    broken ??= { header, giver }
    throw new BrokenChecksError(number, header.broken)
  }
  try {
    const call = { method: 'eth_getBlockByNumber', params: [toQuantity(number), true] }
    return (await rpc.request(call, { ...options, read })) as HeaderFrom
  } catch (error) {
    if (broken === undefined || !(error instanceof BrokenChecksError)) throw error
    return broken
  }
}

/**
 * Reads receipts by block hash, since a height may name another block after a reorg; one by one where the node offers no more,
 * or all of them are too large for one answer.
 */
async function fetchReceipts(node: EvmNode, { ref, transactions }: VerifiedHeader): Promise<unknown> {
  const whole = await node.attempt('eth_getBlockReceipts', async () => {
    try {
      return await node.request({ method: 'eth_getBlockReceipts', params: [ref.hash] })
    } catch (error) {
      if (isAnswerTooLarge(error)) return undefined
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

/** Reads the hash of the chain's block at a height; absent when no upstream has a block there. */
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

/** Reports whether any upstream still has this block, canonical or not. */
export async function knowsBlock(rpc: EvmRpc, hash: Hash, signal?: AbortSignal): Promise<boolean> {
  const call = { method: 'eth_getBlockByHash', params: [hash, false] }
  return (await rpc.request(call, signal ? { signal } : {})) !== null
}

/** Reads the height and hash of a block. @returns `undefined` for null, with which a node says that it has no such block. */
export function readBlockRef(raw: unknown, what: string): BlockRef | undefined {
  if (raw === null) return undefined
  const { number, hash } = readObject(raw, what)
  return { number: readCount(number, `${what}: number`), hash: readHash(hash, `${what}: hash`) }
}
