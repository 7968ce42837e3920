import { type BlockRows, hashLength } from '../../index/record/encodeBlock.ts'
import { toHex } from '../../index/record/hexBytes.ts'
import type { DeepSource } from '../../model/deepHistory.ts'
import type { Address, BlockRef, Hash } from '../../model/evm.ts'
import type { TraceMode } from '../../model/traceMode.ts'
import { readList, readObject, toQuantity } from '../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../nodes/evm/rpc.ts'
import { createBatchSize } from '../../nodes/upstreams/limits.ts'
import { steadyClock, systemClock } from '../../platform/clock.ts'
import type { EvmSource } from '../blocks/evmSource.ts'
import type { Offers } from './chooseSource.ts'
import { createLogSearch } from './createLogSearch.ts'
import { createOtsSearch } from './createOtsSearch.ts'
import { SpanSize } from './createSpanSearch.ts'
import { createTraceSearch } from './createTraceSearch.ts'
import type { DownwardSearch, FoundBlock } from './search/DownwardSearch.ts'
import { createOldState } from './state/createOldState.ts'
import { createPace, type Pace } from './state/createPace.ts'
import { StateSearch } from './state/StateSearch.ts'

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
  readonly source: DeepSource
  /** The node was seen to have the index's first block. */
  isOfBranch: boolean
  /** Calls to nodes so far. */
  calls: number
  /** Records that were kept so far. */
  kept: number
  /** The highest share of them in percent that a caller was told is read; it does not fall when more is found than was expected. */
  percent: number
}

/**
 * A chain with so few blocks before its index is searched as a whole for transfers that no topic names. On longer ones they
 * are found only as far as the account's own calls show them.
 */
const thoroughBlocks = 10_000

/** Begins searches of a chain; what nodes refuse is learnt for all of them together. */
export function createSearches(options: {
  readonly rpc: Pick<EvmRpc, 'request' | 'batch'>
  readonly source: Pick<EvmSource, 'block'>
  readonly traces: TraceMode
}) {
  const { source, traces } = options
  const withCalls = traces !== 'off'
  const logSpans = new SpanSize()
  const thoroughLogSpans = new SpanSize()
  const traceSpans = new SpanSize()

  const stateSize = createBatchSize(maxStateCalls, systemClock)
  const pace = createPace(steadyClock)

  const hashesOfBlock = async (number: number, signal: AbortSignal) =>
    hashesIn(await source.block(number, signal))

  /** For a block with more logs than the node gives at once. */
  async function logsOfBlock(rpc: Pick<EvmRpc, 'request'>, number: number, signal: AbortSignal) {
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

  function begin({ address, below, index, anchor, offers, hasKey }: Begun): Searches {
    const wanted = { address, below }
    const isThorough = anchor.number <= thoroughBlocks
    const size = isThorough ? thoroughLogSpans : logSpans
    const searches = {
      address,
      anchor,
      below,
      source: index,
      isOfBranch: false,
      calls: 0,
      kept: 0,
      percent: 0
    }
    const rpc = paced(options.rpc, pace, calls => {
      searches.calls += calls
    })
    const block = (number: number, signal: AbortSignal) => {
      searches.calls += callsPerBlock
      return pace.run(callsPerBlock, signal, () => source.block(number, signal))
    }
    const logs = createLogSearch(
      { rpc, size, isThorough, logsOfBlock: (number, signal) => logsOfBlock(rpc, number, signal) },
      wanted
    )
    const directs: Readonly<Record<DeepSource, () => DownwardSearch | undefined>> = {
      ots: () => createOtsSearch({ rpc, withCalls }, wanted),
      trace_filter: () => createTraceSearch({ rpc, size: traceSpans, withCalls, hashesOfBlock }, wanted),
      state: () => {
        const state = createOldState(rpc, address, { size: stateSize, pace, nonceMethod: offers.nonceMethod })
        return new StateSearch({ state, block, hasKey }, wanted)
      },
      none: () => undefined
    }
    const direct = directs[index]()
    return Object.assign(searches, { logs, ...(direct && { direct }) })
  }

  return {
    begin,
    /** Reports whether `trace_filter` takes so few blocks at once that it costs more than state. */
    isCapped: (blocks: number) => traceSpans.isRefused && blocks / traceSpans.blocks > maxTraceCalls
  }
}

/** What a search is to find, and from what. */
interface Begun {
  readonly address: Address
  readonly below: number
  readonly index: DeepSource
  readonly anchor: BlockRef
  readonly offers: Pick<Offers, 'nonceMethod'>
  /** It is known that the account has a key. */
  readonly hasKey: boolean
}

/** Calls of state in one batch; a node may take fewer. */
const maxStateCalls = 100
/** A whole history from state takes some twenty exchanges, mostly. */
const maxTraceCalls = 40
/** The block and its receipts. */
export const callsPerBlock = 2

/** Asks as often as the nodes let it, and counts the calls. */
function paced(
  rpc: Pick<EvmRpc, 'request' | 'batch'>,
  pace: Pace,
  count: (calls: number) => void
): Pick<EvmRpc, 'request' | 'batch'> {
  return {
    request(call, options) {
      count(1)
      return pace.run(1, options?.signal, () => rpc.request(call, options))
    },
    batch(calls, options) {
      count(calls.length)
      return pace.run(calls.length, options?.signal, () => rpc.batch(calls, options))
    }
  }
}

/** Returns the hashes of a block's transactions. */
export function hashesIn({ hashes, transactionCount }: BlockRows): readonly Hash[] {
  return Array.from({ length: transactionCount }, (_, index) =>
    toHex(hashes.subarray(index * hashLength, (index + 1) * hashLength))
  )
}
