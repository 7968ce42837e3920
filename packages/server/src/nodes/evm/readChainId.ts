import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { steadyClock } from '../../platform/clock.ts'
import { NodeContradictionError } from '../../platform/errors.ts'
import { UpstreamPool } from '../upstreams/pool.ts'
import type { EvmNode } from './nodeCall.ts'
import { createEvmNodes } from './nodes.ts'
import { readQuantity } from './rawFields.ts'

/**
 * Asks a node which chain it serves, before anything is expected of it.
 *
 * @throws {ConfigError} the URL cannot be used.
 * @throws {NodeRpcError} the node refuses `eth_chainId`, as one of Solana does.
 * @throws {NodeUnavailableError} no JSON-RPC answer came in time.
 * @throws {NodeContradictionError} the answer is no chain id.
 */
export async function readChainId(endpoint: NodeEndpoint, timeoutMs: number): Promise<number> {
  const method = 'eth_chainId'
  const pool = new UpstreamPool<EvmNode, never>({
    family: { label: '', context: {}, connect: createEvmNodes, judgeError: () => 'final' },
    rpcUrls: [endpoint],
    maxResponseBytes: 1024 * 1024,
    maxAttempts: 2,
    firstPauseMs: 100,
    clock: steadyClock
  })
  try {
    const ask = (node: EvmNode) => node.request({ method, params: [] })
    const limits = { deadlineMs: steadyClock.now() + timeoutMs }
    const chainId = Number(readQuantity(await pool.run({ what: method, kind: method, ask }, limits), method))
    if (Number.isSafeInteger(chainId) && chainId > 0) return chainId
    throw new NodeContradictionError(`it answered ${method} with ${chainId}`)
  } finally {
    pool.close()
  }
}
