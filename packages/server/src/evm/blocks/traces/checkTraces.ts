import type { Finding } from '../../../model/finding.ts'
import type { Waiver } from '../../../model/waivableChecks.ts'
import type { EvmUpstreams } from '../../../nodes/evm/rpc.ts'
import { createEvmSource } from '../evmSource.ts'

const check = 'traces'

/**
 * Reads a block with its traces, as the indexer will.
 * @param number - a block with transactions, as near to the first one to index as there is; absent: there is none.
 * @throws as `AddTraces` does.
 */
export async function checkTraces(
  rpc: EvmUpstreams,
  number: number | undefined,
  waivers: readonly Waiver[]
): Promise<Finding> {
  if (number === undefined) {
    return { check, state: 'ok', found: 'no block has transactions, so no trace was asked for' }
  }
  const source = createEvmSource({ rpc, finality: 'auto', waivers, traces: 'on' })
  const { transactionCount } = await source.block(number)
  const isFlat = await rpc.onOneNode(check, node => node.attempt('trace_block', async () => true))
  const way = isFlat ? 'trace_block' : 'debug_traceBlockByHash, which tells no rewards'
  return {
    check,
    state: 'ok',
    found: `block ${number} with ${transactionCount} transactions is traced by ${way}`
  }
}

/** What to do where it fails. */
export const tracesAdvice =
  'take a node that offers trace_block or debug_traceBlockByHash and has the state of old blocks, or turn traces off'
