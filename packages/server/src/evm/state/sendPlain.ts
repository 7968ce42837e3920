import type { EvmNode, NodeOutcome } from '../../nodes/evm/nodeCall.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { readReturnData } from './abi.ts'
import type { ContractCall } from './contractCall.ts'
import { canaryOf, type PinnedBlock, requireCanary } from './pinBlock.ts'
import type { AttemptResult } from './readResults.ts'

/**
 * A plain JSON-RPC batch of gas-capped `eth_call`.
 * @throws {BlockLostError}
 */
export async function sendPlain(
  node: EvmNode,
  block: PinnedBlock,
  calls: readonly ContractCall[]
): Promise<readonly AttemptResult[]> {
  const nodeCalls = calls.map(({ to, data, gas }) => ({
    method: 'eth_call',
    params: [{ to, data, gas: `0x${gas.toString(16)}` }, block.parameter]
  }))
  const [canary, ...outcomes] = await node.batch([canaryOf(block), ...nodeCalls])
  requireCanary(canary, block)
  return calls.map((call, i) => readResult(outcomes[i], call))
}

function readResult(outcome: NodeOutcome | undefined, call: ContractCall): AttemptResult {
  if (outcome === undefined) throw new NodeContradictionError('fewer answers than calls in a batch')
  if (!outcome.ok) {
    if (!(outcome.error instanceof NodeRpcError)) throw outcome.error
    return { kind: isRevert(outcome.error) ? 'reverted' : 'failed' }
  }
  const data = readReturnData(outcome.value)
  if (data === undefined) throw new NodeContradictionError('eth_call answered something that is not hex data')
  return data.length / 2 > call.maxReturnBytes ? { kind: 'tooLong' } : { kind: 'returned', data }
}

/**
 * Nodes agree on code 3 with the revert data, or on a code of their own with the data, which some also give, empty, to
 * whoever runs out of gas. The text is the last resort: it only decides whether a contract counts as refusing or as broken.
 */
function isRevert({ rpcCode, rpcData, message }: NodeRpcError): boolean {
  const hasData = typeof rpcData === 'string' && /^0x/.test(rpcData)
  if (hasData && rpcData.length > 2) return true
  if (/out ?of ?gas|invalid (opcode|instruction)/i.test(message)) return false
  return rpcCode === 3 || hasData || /revert/i.test(message)
}
