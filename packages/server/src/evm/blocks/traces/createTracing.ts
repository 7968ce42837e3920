import { ChainDataError, type IndexedBlock } from '@chain-data/index'
import type { TraceMode } from '../../../model/traceMode.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { isMethodMissing } from '../../../nodes/upstreams/errorWords.ts'
import { type Clock, steadyClock } from '../../../platform/clock.ts'
import { eachOnce } from '../../../platform/eachOnce.ts'
import { NodeUnavailableError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { type BlockTraces, readTraces } from './readTraces.ts'
import { createTraceTimeout } from './traceTimeout.ts'
import { createTraceWindow } from './traceWindow.ts'

export interface TracingOptions {
  readonly rpc: EvmUpstreams
  readonly mode: Exclude<TraceMode, 'off'>
  readonly logger?: Logger
  readonly clock?: Clock
}

/**
 * Adds internal transfers and account events, read from traces, to a verified block.
 *
 * @param mayReward - the block is of proof of work (its difficulty is not 0), so it may pay a reward without transactions.
 * @returns the same block, where traces are "auto" and unavailable, or its transactions are unknown.
 * @throws {NodeContradictionError} no upstream's traces fit the block.
 * @throws {NodeUnavailableError} no upstream offers traces, or none answered.
 * @throws {NodeRpcError} no upstream has the state of that block any more.
 * @remarks No call for an empty block without a reward; else see `readTraces`.
 */
export type AddTraces = (
  block: IndexedBlock,
  mayReward: boolean,
  signal?: AbortSignal
) => Promise<IndexedBlock>

const nothing: BlockTraces = { internal: [], events: [] }

export function createTracing({ rpc, mode, logger, clock = steadyClock }: TracingOptions): AddTraces {
  const timeout = createTraceTimeout(clock)
  const window = createTraceWindow()
  let isUntraced = false

  async function ask(
    { ref, transactions }: IndexedBlock,
    signal: AbortSignal | undefined
  ): Promise<BlockTraces> {
    const traceable = { ref, transactions: transactions.map(({ transaction }) => transaction) }
    const options = { height: ref.number, ...(signal && { signal }) }
    const read = (reportBytes: (bytes: number) => void) =>
      rpc.onOneNode('traces', node => readTraces(node, traceable, reportBytes), {
        ...options,
        timeoutMs: timeout.requestMs()
      })
    return window.run(read, signal)
  }

  return async (block, mayReward, signal) => {
    if (block.unknown === 'transactions') return block
    const { number } = block.ref
    const isEmpty = block.transactions.length === 0
    if (isEmpty && (number === 0 || !mayReward)) return withTraces(block, nothing)
    try {
      const traces = await ask(block, signal)
      timeout.received(number)
      if (isUntraced) logger?.info('blocks are indexed with traces again', { blockNumber: number })
      isUntraced = false
      return withTraces(block, traces)
    } catch (error) {
      signal?.throwIfAborted()
      // The block has no transactions, and no node can report its reward.
      if (isEmpty && isMethodMissing(error)) return withTraces(block, nothing)
      if (!(error instanceof ChainDataError)) throw error
      const explained = explain(error, number)
      if (mode === 'on' || !timeout.isOver(number, error)) throw explained
      if (!isUntraced) {
        const problem = explained.message
        logger?.warn('blocks are indexed without traces', { blockNumber: number, problem })
      }
      isUntraced = true
      return block
    }
  }
}

/** Adds internal transfers, whose payers and receivers become parties, and joins events by account. */
function withTraces(block: IndexedBlock, { internal, events }: BlockTraces): IndexedBlock {
  const accounts = new Map((block.events ?? []).map(each => [each.address, each]))
  for (const { address, events: added } of events) {
    accounts.set(address, { address, events: [...(accounts.get(address)?.events ?? []), ...added] })
  }
  const transactions = block.transactions.map((each, i) => {
    const inside = internal[i] ?? []
    if (inside.length === 0) return { ...each, internal: inside }
    const parties = eachOnce([...each.parties, ...inside.flatMap(({ from, to }) => [from, to])])
    return { ...each, internal: inside, parties }
  })
  return { ...block, isTraced: true, transactions, events: [...accounts.values()] }
}

function explain(error: ChainDataError, blockNumber: number): ChainDataError {
  if (!isMethodMissing(error)) return error
  return new NodeUnavailableError(
    `block ${blockNumber}: no upstream offers traces (trace_block or debug_traceBlockByHash)`,
    { blockNumber }
  )
}
