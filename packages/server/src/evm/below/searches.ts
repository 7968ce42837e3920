import { type BlockRows, hashLength } from '../../index/record/encodeBlock.ts'
import { toHex } from '../../index/record/hexBytes.ts'
import type { DeepSource } from '../../model/deepHistory.ts'
import type { Address, BlockRef, Hash } from '../../model/evm.ts'
import type { TraceMode } from '../../model/traceMode.ts'
import { readList, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../nodes/evm/rpc.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import type { EvmSource } from '../blocks/evmSource.ts'
import { createLogSearch } from './createLogSearch.ts'
import { createOtsSearch, otsMethod } from './createOtsSearch.ts'
import { SpanSize } from './createSpanSearch.ts'
import { createTraceSearch, traceMethod } from './createTraceSearch.ts'
import type { DownwardSearch, FoundBlock } from './DownwardSearch.ts'

/** The searches for one account before one block. */
export interface Searches {
  readonly address: Address
  readonly anchor: BlockRef
  /** All that was found above has been kept. */
  below: number
  /** What was found from `bottom` up to `below` and is not kept yet, newest first; absent: not searched yet. */
  found?: { readonly bottom: number; readonly blocks: readonly FoundBlock[] } | undefined
  /** Token transfers, and what may be held. */
  readonly logs: DownwardSearch
  /** Everything else; absent: only what may be held is searched for. */
  readonly direct?: DownwardSearch
  /** The node was seen to have the index's first block. */
  isOfBranch: boolean
}

/**
 * A chain with so few blocks before its index is searched as a whole for transfers that no topic names. On longer ones they
 * are found only as far as the account's own calls show them.
 */
const thoroughBlocks = 10_000

/** Begins searches of a chain; what nodes refuse is learnt for all of them together. */
export function createSearches(options: {
  readonly rpc: Pick<EvmRpc, 'request'>
  readonly source: Pick<EvmSource, 'block'>
  readonly traces: TraceMode
}) {
  const { rpc, source, traces } = options
  const withCalls = traces !== 'off'
  const logSpans = new SpanSize()
  const thoroughLogSpans = new SpanSize()
  const traceSpans = new SpanSize()

  const hashesOfBlock = async (number: number, signal: AbortSignal) =>
    hashesIn(await source.block(number, signal))

  /** For a block with more logs than the node gives at once. */
  async function logsOfBlock(number: number, signal: AbortSignal) {
    const receipts = await Promise.all(
      (await hashesOfBlock(number, signal)).map(hash =>
        rpc.request({ method: 'eth_getTransactionReceipt', params: [hash] }, { signal, height: number })
      )
    )
    return receipts.flatMap(receipt =>
      readList(readObject(receipt, `block ${number}: receipt`).logs, 'logs').map(log => ({
        ...readObject(log, 'log'),
        blockNumber: toQuantity(number)
      }))
    )
  }

  return ({
    address,
    below,
    index,
    anchor
  }: {
    readonly address: Address
    readonly below: number
    readonly index: DeepSource
    readonly anchor: BlockRef
  }): Searches => {
    const wanted = { address, below }
    const isThorough = anchor.number <= thoroughBlocks
    const size = isThorough ? thoroughLogSpans : logSpans
    return {
      ...{ address, anchor, below, isOfBranch: false },
      logs: createLogSearch({ rpc, size, isThorough, logsOfBlock }, wanted),
      ...(index === 'ots' ? { direct: createOtsSearch({ rpc, withCalls }, wanted) } : {}),
      ...(index === 'trace_filter'
        ? { direct: createTraceSearch({ rpc, size: traceSpans, withCalls, hashesOfBlock }, wanted) }
        : {})
    }
  }
}

/** Returns the hashes of a block's transactions. */
export function hashesIn({ hashes, transactionCount }: BlockRows): readonly Hash[] {
  return Array.from({ length: transactionCount }, (_, index) =>
    toHex(hashes.subarray(index * hashLength, (index + 1) * hashLength))
  )
}

/** The index by which a node lists the transactions of an address. */
export type AddressIndex = Exclude<DeepSource, 'state'>

const nobody = '0x0000000000000000000000000000000000000001'

/**
 * Finds the index of addresses that a node has, with calls that ask for as little as possible.
 *
 * Where contracts that pay count, `trace_filter` is the better one: pages of some nodes leave out whom a destroyed contract
 * pays. Else a page costs less, wherever the transactions are.
 *
 * @throws {NodeUnavailableError} no upstream answers, so that it is not known.
 */
export async function findAddressIndex(
  rpc: Pick<EvmRpc, 'request'>,
  withCalls: boolean,
  signal: AbortSignal
): Promise<AddressIndex> {
  const isThere = async (method: string, params: readonly unknown[]) => {
    try {
      await rpc.request({ method, params }, { signal })
      return true
    } catch (error) {
      // A node that refuses so little has no such method, in whatever words.
      if (error instanceof NodeRpcError) return false
      throw error
    }
  }
  const filter = { fromBlock: '0x1', toBlock: '0x1', fromAddress: [nobody] }
  const methods: readonly (readonly [AddressIndex, () => Promise<boolean>])[] = [
    ['ots', () => isThere(otsMethod, [nobody, 1, 1])],
    ['trace_filter', () => isThere(traceMethod, [filter])]
  ]
  for (const [index, isOffered] of withCalls ? methods.toReversed() : methods) {
    if (await isOffered()) return index
  }
  return 'none'
}
