import { askForSpan, createSpanSearch, type SpanSize } from '../../../evm/search/createSpanSearch.ts'
import type { DownwardSearch, Wanted } from '../../../evm/search/DownwardSearch.ts'
import {
  isAbsent,
  type RawObject,
  readCount,
  readHash,
  readObject,
  readOptionalQuantity
} from '../../../nodes/evm/rawFields.ts'
import type { EvmRpc } from '../../../nodes/evm/rpc.ts'

export const traceMethod = 'trace_filter'

/**
 * Finds the transactions in whose calls an account took part, range by range.
 *
 * @param options.withCalls - also where a contract paid the account, or the account as a contract paid; else only as
 *   sender, receiver and created contract.
 * @param options.hashesOfBlock - of all transactions of a block that the node gives too many traces of.
 */
export function createTraceSearch(
  {
    rpc,
    size,
    withCalls,
    hashesOfBlock
  }: {
    readonly rpc: Pick<EvmRpc, 'request'>
    readonly size: SpanSize
    readonly withCalls: boolean
    hashesOfBlock(number: number, signal: AbortSignal): Promise<readonly `0x${string}`[]>
  },
  { address, below }: Wanted
): DownwardSearch {
  return createSpanSearch({
    below,
    size,
    async ask(span, found, signal) {
      // Both at once would mean both in one call, on most nodes.
      const answers = await Promise.all(
        (['fromAddress', 'toAddress'] as const).map(side =>
          askForSpan(rpc, traceMethod, span, { [side]: [address] }, signal)
        )
      )
      const traces = answers.flat()
      for (const trace of traces) {
        if (isAbsent(trace.transactionHash) || !(withCalls ? movesValue(trace) : isOutermost(trace))) continue
        found.addTransaction(
          readCount(trace.blockNumber, 'trace: blockNumber'),
          readHash(trace.transactionHash, 'trace: transactionHash')
        )
      }
      return traces.length
    },
    async searchBlock(number, found, signal) {
      for (const hash of await hashesOfBlock(number, signal)) found.addTransaction(number, hash)
    }
  })
}

/** The call or creation that the transaction itself is. */
function isOutermost({ traceAddress }: RawObject): boolean {
  return Array.isArray(traceAddress) && traceAddress.length === 0
}

/** A destroyed contract names its balance in another field. */
function movesValue(trace: RawObject): boolean {
  if (isOutermost(trace)) return true
  const action = readObject(trace.action, 'trace: action')
  const moved = [action.value, action.balance].map(value => readOptionalQuantity(value, 'trace: value') ?? 0n)
  return moved.some(value => value > 0n)
}
