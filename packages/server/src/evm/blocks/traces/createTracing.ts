import type { IndexedBlock } from '../../../model/evm.ts'
import type { TraceMode } from '../../../model/traceMode.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { isMethodMissing } from '../../../nodes/upstreams/errorWords.ts'
import { type Clock, steadyClock } from '../../../platform/clock.ts'
import { eachOnce } from '../../../platform/eachOnce.ts'
import { ChainDataError, NodeUnavailableError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { type BlockTraces, readTraces } from './readTraces.ts'
import { createTracePatience } from './tracePatience.ts'
import { createTraceWindow } from './traceWindow.ts'

export interface TracingOptions {
  readonly rpc: EvmUpstreams
  readonly mode: Exclude<TraceMode, 'off'>
  readonly logger?: Logger
  readonly clock?: Clock
}

/**
 * Lays over a verified block what happened inside its transactions.
 *
 * @param mayReward - the block is of proof of work (its difficulty is not 0): also one without transactions may pay somebody.
 * @returns the block as it was, where traces are "auto" and cannot be had.
 * @throws {NodeContradictionError} no upstream's traces fit the block.
 * @throws {NodeUnavailableError} no upstream offers traces, or none answered.
 * @throws {NodeRpcError} no upstream has the state of that block any more.
 * @remarks No call for a block that is empty and pays nobody; else see `readTraces`.
 */
export type AddTraces = (
  block: IndexedBlock,
  mayReward: boolean,
  signal?: AbortSignal
) => Promise<IndexedBlock>

const nothing: BlockTraces = { internal: [], events: [] }

export function createTracing({ rpc, mode, logger, clock = steadyClock }: TracingOptions): AddTraces {
  const patience = createTracePatience(clock)
  const window = createTraceWindow()
  let isUntraced = false

  async function ask(
    { ref, transactions }: IndexedBlock,
    signal: AbortSignal | undefined
  ): Promise<BlockTraces> {
    const traceable = { ref, transactions: transactions.map(({ transaction }) => transaction) }
    const options = { height: ref.number, ...(signal && { signal }) }
    const read = (tell: (bytes: number) => void) =>
      rpc.onOneNode('traces', node => readTraces(node, traceable, tell), {
        ...options,
        timeoutMs: patience.limitMs()
      })
    return window.run(read, signal)
  }

  return async (block, mayReward, signal) => {
    const { number } = block.ref
    const isEmpty = block.transactions.length === 0
    if (isEmpty && (number === 0 || !mayReward)) return withTraces(block, nothing)
    try {
      const traces = await ask(block, signal)
      patience.came(number)
      if (isUntraced) logger?.info('blocks are indexed with traces again', { blockNumber: number })
      isUntraced = false
      return withTraces(block, traces)
    } catch (error) {
      signal?.throwIfAborted()
      // Nothing happened in it, and who was paid for it nobody tells.
      if (isEmpty && isMethodMissing(error)) return withTraces(block, nothing)
      if (!(error instanceof ChainDataError)) throw error
      const explained = explain(error, number)
      if (mode === 'on' || !patience.isOver(number, error)) throw explained
      if (!isUntraced) {
        const problem = explained.message
        logger?.warn('blocks are indexed without traces', { blockNumber: number, problem })
      }
      isUntraced = true
      return block
    }
  }
}

/** Transactions get their internal transfers, whose payers and receivers become parties, and events are joined by account. */
function withTraces(block: IndexedBlock, { internal, events }: BlockTraces): IndexedBlock {
  const accounts = new Map((block.events ?? []).map(each => [each.address, each]))
  for (const { address, events: added } of events) {
    accounts.set(address, { address, events: [...(accounts.get(address)?.events ?? []), ...added] })
  }
  const transactions = block.transactions.map((each, place) => {
    const inside = internal[place] ?? []
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
