import { hashLength } from '../../index/record/encodeBlock.ts'
import { toHex } from '../../index/record/hexBytes.ts'
import type { BlockRef, Hash } from '../../model/evm.ts'
import { type EvmNode, type ResultScan, Scanned } from '../../nodes/evm/nodeCall.ts'
import { readCount, readHash, readObject } from '../../nodes/evm/rawFields.ts'
import type { EvmRpc, EvmUpstreams } from '../../nodes/evm/rpc.ts'
import { isMethodMissing } from '../../nodes/upstreams/errorWords.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import type { ScanHeader, ScannedHeader } from './fastBlocks/scanHeader.ts'
import { isEmptyRoot } from './verification/tries.ts'
import type { VerifiedBlock, VerifiedHeader } from './verification/verifiedBlock.ts'
import type { Waivers } from './verification/waivers.ts'
import { verifyHeader, verifyReceipts } from './verify.ts'

/** How a block is read once its parts are known to belong together. */
export interface BlockReading<T> {
  /** May refuse the block with a NodeContradictionError, which counts like any other disagreement. */
  read(block: VerifiedBlock): T
  /** The same from bytes, which is many times cheaper; whatever it leaves is parsed, verified and read. */
  readonly scan?: BlockScan<T>
}

/** Reads and verifies the parts of a block from the bytes of the two results; `undefined`: they have to be parsed. */
export interface BlockScan<T> {
  header: ScanHeader
  receipts(header: ScannedHeader, bytes: Uint8Array): T | undefined
}

/**
 * The block at a height with its receipts, verified to belong together, as `reading` reads it.
 * @throws {NodeContradictionError} when the parts disagree on every upstream, or none has the block (yet).
 * @remarks Two calls; one for an empty block; a batch of one call per transaction on nodes without
 *   `eth_getBlockReceipts`. Receipts that fit on no upstream put the header in doubt: next time another upstream is asked
 *   for it first.
 */
export async function fetchBlock<T>(
  rpc: EvmUpstreams,
  number: number,
  reading: BlockReading<T>,
  waivers: Waivers,
  signal?: AbortSignal
): Promise<T> {
  const { read, scan } = reading
  const options = { height: number, ...(signal ? { signal } : {}) }
  const { header, giver } = (await rpc.request(
    { method: 'eth_getBlockByNumber', params: [quantity(number), true] },
    {
      ...options,
      ...(scan ? { scan: bytes => asScanned(scan.header(bytes, number)) } : {}),
      read(raw, node): HeaderFrom {
        if (raw instanceof Scanned) return { header: raw.value as ScannedHeader, giver: node }
        if (raw === null) {
          throw new NodeContradictionError(`block ${number}: the node does not have it`, { number })
        }
        return { header: verifyHeader(raw, number, waivers), giver: node }
      }
    }
  )) as HeaderFrom
  try {
    if (isEmpty(header)) return read(verifyReceipts(header, [], waivers))
    return await rpc.onOneNode(
      'eth_getBlockReceipts',
      async node => {
        const receipts = await fetchReceipts(node, header, scan)
        if (receipts instanceof Scanned) return receipts.value as T
        return read(verifyReceipts(verifiedOf(header, waivers), receipts, waivers))
      },
      options
    )
  } catch (error) {
    if (error instanceof NodeContradictionError) giver.doubt(number)
    throw error
  }
}

interface HeaderFrom {
  readonly header: VerifiedHeader | ScannedHeader
  readonly giver: EvmNode
}

function asScanned<T>(value: T | undefined): Scanned<T> | undefined {
  return value === undefined ? undefined : new Scanned(value)
}

/** Such a block has no transactions, whatever else is missing. */
function isEmpty(header: VerifiedHeader | ScannedHeader): header is VerifiedHeader {
  return 'raw' in header && header.transactions.length === 0 && isEmptyRoot(header.raw.transactionsRoot)
}

/** What was scanned has passed all checks, so that no node can be found wrong here. */
function verifiedOf(header: VerifiedHeader | ScannedHeader, waivers: Waivers): VerifiedHeader {
  if ('raw' in header) return header
  return verifyHeader(JSON.parse(Buffer.from(header.bytes).toString('utf8')), header.ref.number, waivers)
}

function hashesOf(header: VerifiedHeader | ScannedHeader): readonly Hash[] {
  if ('raw' in header) return header.transactions.map(({ hash }) => hash)
  return Array.from(header.indexes, (_, place) =>
    toHex(header.hashes.subarray(place * hashLength, (place + 1) * hashLength))
  )
}

/** Asked for by hash: by number, two calls around a reorg would speak of two blocks. Each node in the way it offers. */
async function fetchReceipts<T>(
  node: EvmNode,
  header: VerifiedHeader | ScannedHeader,
  scan: BlockScan<T> | undefined
): Promise<unknown> {
  const scanResult: ResultScan | undefined =
    scan && !('raw' in header) ? bytes => asScanned(scan.receipts(header, bytes)) : undefined
  const whole = await node.attempt('eth_getBlockReceipts', async () => {
    try {
      return await node.request({ method: 'eth_getBlockReceipts', params: [header.ref.hash] }, scanResult)
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
    hashesOf(header).map(hash => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
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
  const call = { method: 'eth_getBlockByNumber', params: [quantity(number), false] }
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

/** Minimal 0x-hex, as EIP-1474 wants quantities in params. */
export function quantity(value: number): string {
  return `0x${value.toString(16)}`
}
