import type { Address, BlockRef, DeepGap } from '@chain-data/index'
import { hashesIn } from '../../../evm/blocks/blockRows.ts'
import type { EvmSource } from '../../../evm/blocks/evmSource.ts'
import { SpanSize } from '../../../evm/search/createSpanSearch.ts'
import type { DownwardSearch, FoundBlock } from '../../../evm/search/DownwardSearch.ts'
import type { DeepSource } from '../../../model/deepHistory.ts'
import type { TraceMode } from '../../../model/traceMode.ts'
import { readList, readObject, toQuantity } from '../../../nodes/evm/rawFields.ts'
import type { EvmRpc, EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { createBatchSize } from '../../../nodes/upstreams/limits.ts'
import { steadyClock, systemClock } from '../../../platform/clock.ts'
import { createPermits } from '../../../platform/concurrency/permits.ts'
import { gapsFrom, type Offers } from './chooseSource.ts'
import { createLogSearch } from './createLogSearch.ts'
import { createOtsSearch } from './createOtsSearch.ts'
import { createTraceSearch } from './createTraceSearch.ts'
import { CallBudget, meterCalls } from './meterCalls.ts'
import { createOldState } from './state/createOldState.ts'
import { createPace } from './state/createPace.ts'
import { StateSearch } from './state/StateSearch.ts'
import { UnlistedSearch } from './UnlistedSearch.ts'

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
  /** What `direct` does not name; absent: nothing, or no node has the states that show it. */
  readonly unlisted?: UnlistedSearch
  readonly source: DeepSource
  /** Reads blocks for it. */
  readonly blocks: Pick<EvmSource, 'block' | 'blockRef'>
  /** Of the request that takes it further. */
  budget: CallBudget
  /** Its blocks are read one after the other: a request had too few calls for those that it began to read. */
  isFrugal: boolean
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
  readonly rpc: EvmUpstreams
  openSource(rpc: EvmUpstreams): Pick<EvmSource, 'block' | 'blockRef'>
  readonly traces: TraceMode
}) {
  const withCalls = options.traces !== 'off'
  const logSpans = new SpanSize()
  const thoroughLogSpans = new SpanSize()
  const traceSpans = new SpanSize()

  const stateSize = createBatchSize(maxStateCalls, systemClock)
  const pace = createPace(steadyClock)

  /** Asks as often as the nodes let it, and counts the calls. */
  function openNodes(searches: Pick<Searches, 'calls' | 'budget' | 'isFrugal'>) {
    const metered = meterCalls(options.rpc, calls => {
      searches.budget.spend(calls)
      searches.calls += calls
    })
    const rpc: Pick<EvmRpc, 'request' | 'batch'> = {
      request: (call, within) => pace.run(1, within?.signal, () => metered.request(call, within)),
      batch: (calls, within) => pace.run(calls.length, within?.signal, () => metered.batch(calls, within))
    }
    const source = options.openSource(metered)
    const permits = createPermits(inUse => {
      const isAffordable = searches.budget.left >= (inUse + 1) * usualBlockCalls
      return inUse === 0 || (isAffordable && !searches.isFrugal)
    })
    const read = async (number: number, signal: AbortSignal | undefined) => {
      const rows = await source.block(number, signal)
      // Where nonces are not given, the block's reader goes on without them: here they were not asked for.
      searches.budget.check()
      return rows
    }
    const blocks: Searches['blocks'] = {
      block: (number, signal) =>
        permits.run(() => pace.run(callsPerBlock, signal, () => read(number, signal)), signal),
      blockRef: (number, signal) => pace.run(1, signal, () => source.blockRef(number, signal))
    }
    return { rpc, blocks }
  }

  function begin({ address, below, index, anchor, offers, hasKey }: Begun): Searches {
    const wanted = { address, below }
    const isThorough = anchor.number <= thoroughBlocks
    const progress = { below, isOfBranch: false, calls: 0, kept: 0, percent: 0 }
    const spending = { budget: new CallBudget(0), isFrugal: false }
    const searches = { address, anchor, source: index, ...progress, ...spending }
    const { rpc, blocks } = openNodes(searches)
    const block = (number: number, signal: AbortSignal) => blocks.block(number, signal)
    const hashesOfBlock = async (number: number, signal: AbortSignal) => hashesIn(await block(number, signal))

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

    const size = isThorough ? thoroughLogSpans : logSpans
    const logs = createLogSearch({ rpc, size, isThorough, logsOfBlock }, wanted)
    const openState = () =>
      createOldState(rpc, address, {
        ...{ size: stateSize, nonceMethod: offers.nonceMethod },
        maxCalls: () => Math.max(1, Math.min(pace.maxCalls(), searches.budget.left))
      })
    const directs: Readonly<Record<DeepSource, () => DownwardSearch | undefined>> = {
      ots: () => createOtsSearch({ rpc, withCalls }, wanted),
      trace_filter: () => createTraceSearch({ rpc, size: traceSpans, withCalls, hashesOfBlock }, wanted),
      state: () => {
        const isListed = offers.ots === true || offers.traceFilter === true
        return new StateSearch({ state: openState(), block, hasKey, takesKeyless: !isListed }, wanted)
      },
      none: () => undefined
    }
    const direct = directs[index]()
    const isListed = index === 'ots' || index === 'trace_filter'
    const unlisted = isListed && offers.state ? new UnlistedSearch(openState()) : undefined
    return Object.assign(searches, { logs, blocks, ...(direct && { direct }), ...(unlisted && { unlisted }) })
  }

  return {
    begin,
    /** What the nodes take in one call of `trace_filter`. */
    spans: traceSpans
  }
}

/** The transactions that such searches may not find. */
export function gapsOf({
  source,
  unlisted,
  direct
}: Pick<Searches, 'source' | 'unlisted' | 'direct'>): readonly DeepGap[] {
  return [...gapsFrom(source, unlisted !== undefined), ...(direct?.gaps ?? [])]
}

/** What a search is to find, and from what. */
interface Begun {
  readonly address: Address
  readonly below: number
  readonly index: DeepSource
  readonly anchor: BlockRef
  readonly offers: Partial<Pick<Offers, 'ots' | 'traceFilter' | 'state' | 'nonceMethod'>>
  /** It is known that the account has a key. */
  readonly hasKey: boolean
}

/** Calls of state in one batch; a node may take fewer. */
const maxStateCalls = 100
/** With traces, and nonces of authorities. */
const usualBlockCalls = 4
/** The block and its receipts, by which its turn is found; without them it takes more. */
const callsPerBlock = 2
