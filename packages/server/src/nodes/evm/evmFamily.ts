import type { Hash } from '../../model/evm.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { isMethodMissing, messageKindOf } from '../upstreams/errorWords.ts'
import type { UpstreamFamily, UpstreamLink } from '../upstreams/upstream.ts'
import { UpstreamError } from '../upstreams/upstreamError.ts'
import { createJsonRpcChannel } from './jsonRpcChannel.ts'
import type { EvmNode, NodeCall, NodeOutcome } from './nodeCall.ts'
import { readCount, readHash, readObject, readQuantity } from './rawFields.ts'

/** What every upstream of a chain has to show. */
export interface ExpectedIdentity {
  readonly chainId: number
  /** Of the index; absent while nothing is indexed, or while that is not known yet. */
  genesisHash?: Hash
}

/** What an upstream has shown. */
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

/** Describes EVM nodes to the pool. @param options.onWrong - see `IdentityRules`. */
export function createEvmFamily(options: {
  readonly expected: ExpectedIdentity
  readonly identityTimeoutMs: number
  readonly onWrong: (problem: string) => void
}): UpstreamFamily<EvmNode, ShownIdentity> {
  const { expected } = options
  const { chainId } = expected
  return {
    label: `chain ${chainId}: `,
    context: { chainId },
    connect: createEvmNodes,
    judgeError(error) {
      if (error instanceof NodeContradictionError) return 'unsound'
      return messageKindOf(error) === 'missingData' || isMethodMissing(error) ? 'unavailable' : 'final'
    },
    askHead: node => node.request({ method: 'eth_blockNumber', params: [] }),
    identity: {
      ask: async (node, name) => readIdentity(await node.batch(identityCalls), name),
      differenceIn(shown) {
        if (shown.chainId !== BigInt(chainId)) return `serves chain ${shown.chainId}, expected ${chainId}`
        const { genesisHash } = expected
        if (!genesisHash || !shown.genesisHash || genesisHash === shown.genesisHash) return undefined
        return `has the genesis block ${shown.genesisHash}, the index is of ${genesisHash}`
      },
      // Without the block there is nothing to compare.
      missingIn: shown => (expected.genesisHash && !shown.genesisHash ? 'its genesis block' : undefined),
      proofs: 2,
      timeoutMs: options.identityTimeoutMs,
      onWrong: options.onWrong
    }
  }
}

function createEvmNodes(link: UpstreamLink): (signal: AbortSignal) => EvmNode {
  const channel = createJsonRpcChannel(link)

  function noteHead({ method, params }: NodeCall, value: unknown): void {
    const isHead = method === 'eth_blockNumber'
    if (!isHead && !(method === 'eth_getBlockByNumber' && params[0] === 'latest')) return
    const text = isHead ? value : (value as { number?: unknown } | null)?.number
    if (typeof text === 'string' && /^0x[0-9a-f]{1,13}$/i.test(text)) link.sawHead(Number(text))
  }

  const createNode = (signal: AbortSignal): EvmNode => ({
    async request(call, onSize) {
      const value = await link.track(signal, () => channel.send(call, signal, onSize))
      noteHead(call, value)
      return value
    },
    async batch(calls, known = new Array<NodeOutcome | undefined>(calls.length)) {
      const outcomes = await link.track(signal, () => channel.sendAll(calls, known, signal))
      for (const [index, call] of calls.entries()) {
        const outcome = outcomes[index]
        if (outcome?.ok) noteHead(call, outcome.value)
      }
      return outcomes
    },
    attempt: link.capabilities.attempt,
    doubt: link.doubt,
    async within(timeoutMs, ask) {
      const scope = openAbortScope([signal])
      // No AttemptTimeout, which would count as the upstream's failure.
      const cutShort = new Error('cut short')
      scope.setDeadline(timeoutMs, () => cutShort)
      try {
        return await ask(createNode(scope.signal))
      } catch (error) {
        if (error === cutShort && !signal.aborted) return undefined
        throw error
      } finally {
        scope.end()
      }
    },
    memory: link.memory
  })
  return createNode
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
