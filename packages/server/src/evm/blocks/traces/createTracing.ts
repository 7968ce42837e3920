import type { BlockRows } from '../../../index/record/encodeBlock.ts'
import { type BlockTraces, withTraces } from '../../../index/record/withTraces.ts'
import type { TraceMode } from '../../../model/traceMode.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { isMethodMissing } from '../../../nodes/upstreams/errorWords.ts'
import { type Clock, steadyClock } from '../../../platform/clock.ts'
import { ChainDataError, NodeUnavailableError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { readTraces } from './readTraces.ts'
import { traceableBlock } from './TraceableBlock.ts'
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
 * @returns the rows as they were, where traces are "auto" and cannot be had.
 * @throws {NodeContradictionError} no upstream's traces fit the block.
 * @throws {NodeUnavailableError} no upstream offers traces, or none answered.
 * @throws {NodeRpcError} no upstream has the state of that block any more.
 * @remarks No call for a block that is empty and pays nobody; else see `readTraces`.
 */
export type AddTraces = (rows: BlockRows, mayReward: boolean, signal?: AbortSignal) => Promise<BlockRows>

const nothing: BlockTraces = { internal: [], events: [] }

export function createTracing({ rpc, mode, logger, clock = steadyClock }: TracingOptions): AddTraces {
  const patience = createTracePatience(clock)
  const window = createTraceWindow()
  let isUntraced = false

  async function ask(rows: BlockRows, signal: AbortSignal | undefined): Promise<BlockTraces> {
    const block = traceableBlock(rows)
    const options = { height: rows.ref.number, ...(signal && { signal }) }
    const read = (tell: (bytes: number) => void) =>
      rpc.onOneNode('traces', node => readTraces(node, block, tell), {
        ...options,
        timeoutMs: patience.limitMs()
      })
    return window.run(read, signal)
  }

  return async (rows, mayReward, signal) => {
    const { number } = rows.ref
    const isEmpty = rows.transactionCount === 0
    if (isEmpty && (number === 0 || !mayReward)) return withTraces(rows, nothing)
    try {
      const traces = await ask(rows, signal)
      patience.came(number)
      if (isUntraced) logger?.info('blocks are indexed with traces again', { blockNumber: number })
      isUntraced = false
      return withTraces(rows, traces)
    } catch (error) {
      signal?.throwIfAborted()
      // Nothing happened in it, and who was paid for it nobody tells.
      if (isEmpty && isMethodMissing(error)) return withTraces(rows, nothing)
      if (!(error instanceof ChainDataError)) throw error
      const explained = explain(error, number)
      if (mode === 'on' || !patience.isOver(number, error)) throw explained
      if (!isUntraced) {
        const problem = explained.message
        logger?.warn('blocks are indexed without traces', { blockNumber: number, problem })
      }
      isUntraced = true
      return rows
    }
  }
}

function explain(error: ChainDataError, blockNumber: number): ChainDataError {
  if (!isMethodMissing(error)) return error
  return new NodeUnavailableError(
    `block ${blockNumber}: no upstream offers traces (trace_block or debug_traceBlockByHash)`,
    { blockNumber }
  )
}
