import { performance } from 'node:perf_hooks'
import type { EvmNode, NodeCall } from '../../nodes/evm/nodeCall.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { canaryOf, type PinnedBlock } from './pinBlock.ts'

const burntGas = 500_000
const tries = 2
/** Where nothing can be told from a clock. */
const fastest = 500_000_000

/**
 * How much gas this node works off in a second, at its worst: an endless loop with little gas, less the time of the way
 * there. From a million on nodes written in JavaScript to several hundred million.
 */
export async function measureSpeed(node: EvmNode, block: PinnedBlock): Promise<number> {
  // JUMPDEST, PUSH1 0, JUMP: initcode, so that nothing has to be there.
  const loop: NodeCall = {
    method: 'eth_call',
    params: [{ data: '0x5b600056', gas: `0x${burntGas.toString(16)}` }, block.parameter]
  }
  const wayMs = await shortest(node, canaryOf(block))
  const burnMs = (await shortest(node, loop)) - wayMs
  return burnMs <= 0 ? fastest : Math.min(fastest, (burntGas / burnMs) * 1000)
}

async function shortest(node: EvmNode, call: NodeCall): Promise<number> {
  let ms = Number.POSITIVE_INFINITY
  for (let i = 0; i < tries; i++) {
    const startedMs = performance.now()
    await node.request(call).catch(error => {
      if (!(error instanceof NodeRpcError)) throw error
    })
    ms = Math.min(ms, performance.now() - startedMs)
  }
  return ms
}
