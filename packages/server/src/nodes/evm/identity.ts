import { describeOtherGenesis, type Hash } from '@chain-data/index'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import type { IdentityRules } from '../upstreams/identity.ts'
import { UpstreamError } from '../upstreams/upstreamError.ts'
import type { EvmNode, NodeCall, NodeOutcome } from './nodeCall.ts'
import { readCount, readHash, readObject, readQuantity } from './rawFields.ts'

/** The identity that every upstream of a chain has to show. */
export interface ExpectedIdentity {
  readonly chainId: number
  /** Of the index; absent while nothing is indexed, or while that is not known yet. */
  genesisHash?: Hash | undefined
}

/** The identity that an upstream has shown. */
export interface ShownIdentity {
  /** Exact also beyond 2^53. */
  readonly chainId: bigint
  /** Absent when the node has no block 0, or not any more. */
  readonly genesisHash?: Hash
}

/** One batch per connection. */
const identityCalls: readonly NodeCall[] = [
  { method: 'eth_chainId', params: [] },
  { method: 'eth_getBlockByNumber', params: ['0x0', false] }
]

/** @param options.onWrong - see `IdentityRules`. */
export function createIdentityRules(options: {
  readonly expected: ExpectedIdentity
  readonly timeoutMs: number
  readonly onWrong: (problem: string) => void
}): IdentityRules<EvmNode, ShownIdentity> {
  const { expected } = options
  return {
    ask: async (node, name) => readIdentity(await node.batch(identityCalls), name),
    differenceIn(shown) {
      const { chainId, genesisHash } = expected
      if (shown.chainId !== BigInt(chainId)) return `serves chain ${shown.chainId}, expected ${chainId}`
      if (!genesisHash || !shown.genesisHash || genesisHash === shown.genesisHash) return undefined
      return describeOtherGenesis(chainId, shown.genesisHash, genesisHash)
    },
    // Without the block there is nothing to compare.
    missingIn: shown => (expected.genesisHash && !shown.genesisHash ? 'its genesis block' : undefined),
    proofs: 2,
    timeoutMs: options.timeoutMs,
    onWrong: options.onWrong
  }
}

/** @throws {UpstreamError} the answers show no identity. */
function readIdentity([chainId, genesis]: readonly NodeOutcome[], name: string): ShownIdentity {
  if (chainId === undefined || !chainId.ok) {
    const code = chainId?.error instanceof NodeRpcError ? chainId.error.rpcCode : 'no answer'
    throw new UpstreamError(`${name} does not tell its chain (${code})`, 'malformed')
  }
  try {
    const shown = { chainId: readQuantity(chainId.value, 'eth_chainId') }
    if (!genesis?.ok || genesis.value === null) return shown
    const { number, hash } = readObject(genesis.value, 'block 0')
    if (readCount(number, 'block 0: number') !== 0) {
      throw new NodeContradictionError(`asked for block 0, it answered block ${number}`)
    }
    return { ...shown, genesisHash: readHash(hash, 'block 0: hash') }
  } catch (error) {
    throw new UpstreamError(`${name}: ${error instanceof Error ? error.message : 'no identity'}`, 'malformed')
  }
}
