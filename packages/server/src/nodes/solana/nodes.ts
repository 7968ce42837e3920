import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { systemClock } from '../../platform/clock.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { type Logger, silentLogger } from '../../platform/logger.ts'
import type { IdentityRules } from '../upstreams/identity.ts'
import { createUpstreamPool } from '../upstreams/pool.ts'
import { UpstreamError } from '../upstreams/upstreamError.ts'
import { exchange, type NodeResult, type WordedCall, wordCall } from './jsonRpc.ts'
import { readAnything } from './readAnswers.ts'
import { parseSolanaAddress } from './solanaAddress.ts'

/** One node, for the length of one attempt. */
export interface SolanaNode {
  /** `upstream 1`: the position in `rpcUrls`. */
  readonly name: string
  /** Sends a call once; see {@link exchange}. */
  send(call: WordedCall): Promise<NodeResult>
}

export interface SolanaCallOptions {
  readonly signal?: AbortSignal | undefined
  /** `Date.now()` after which the call is given up, retries included. */
  readonly deadlineMs?: number | undefined
  /** The answer may not be older than this slot; a node that is behind is treated like one that is down. */
  readonly minContextSlot?: number | undefined
}

export interface SolanaNodesOptions {
  /** In order of preference while nothing else speaks for one of them. */
  readonly rpcUrls: readonly NodeEndpoint[]
  /** Bound on one exchange with one node, from the first byte out to the last byte in. Default 10 s. */
  readonly timeoutMs?: number
  /** Attempts at each node before a call fails; five times as many where it is only behind. Default 3. */
  readonly maxAttempts?: number
  /** Pause before the second attempt at a node, and twice as long before all further ones. Default 250 ms. */
  readonly backoffMs?: number
  /** Default 64 MiB: some 100,000 token accounts. */
  readonly maxResponseBytes?: number
  /** Gets an error for a node that serves another cluster. Default: nobody is told. */
  readonly logger?: Logger
}

/** All nodes of a cluster as one. */
export interface SolanaNodes {
  /**
   * Asks the nodes until one gives a sound answer.
   *
   * @throws {NodeRpcError} no node serves the call.
   * @throws {NodeContradictionError} the last answer was unsound.
   * @throws {NodeUnavailableError} no node answered in time.
   * @throws the signal's reason.
   */
  ask<T>(method: string, attempt: (node: SolanaNode) => Promise<T>, options: SolanaCallOptions): Promise<T>
}

/** @throws {ConfigError} when a URL cannot be used. */
export function createSolanaNodes(options: SolanaNodesOptions): SolanaNodes {
  const { rpcUrls, timeoutMs = 10_000, logger = silentLogger } = options
  const pool = createUpstreamPool<SolanaNode, string>({
    family: {
      label: '',
      context: {},
      connect: link => signal => ({
        name: link.name,
        send: call => link.track(signal, () => exchange(link, call, signal))
      }),
      // Another node may serve what this one does not, and an unsound answer mostly passes.
      judgeError: error => (error instanceof NodeRpcError ? 'refused' : 'failed'),
      // One node is what the host says it is; several must be the same.
      ...(rpcUrls.length > 1 && { identity: createClusterRules(timeoutMs, logger) })
    },
    rpcUrls,
    maxResponseBytes: options.maxResponseBytes ?? 64 * 1024 * 1024,
    maxAttempts: options.maxAttempts ?? 3,
    maxAttemptMs: timeoutMs,
    firstPauseMs: options.backoffMs ?? 250,
    clock: systemClock
  })
  return {
    ask(method, attempt, { signal, deadlineMs = Number.POSITIVE_INFINITY, minContextSlot }) {
      return pool.run(
        {
          what: method,
          kind: method,
          method,
          awaitsNewer: minContextSlot !== undefined,
          // Asked even where the method was missing lately: such a node is chosen only when no other is left.
          ask: (node, { capabilities }) => capabilities.learn(method, () => attempt(node))
        },
        { signal, deadlineMs }
      )
    }
  }
}

/** All nodes must serve the cluster of the one that told its genesis hash first. */
function createClusterRules(timeoutMs: number, logger: Logger): IdentityRules<SolanaNode, string> {
  let reference: { readonly hash: string; readonly name: string } | undefined
  return {
    async ask(node) {
      const answer = await node.send(wordCall('getGenesisHash', [])).then(readAnything, error => {
        if (error instanceof NodeRpcError) return undefined
        throw error
      })
      if (typeof answer === 'string' && parseSolanaAddress(answer) !== undefined) return answer
      throw new UpstreamError(`${node.name} does not tell its genesis hash`, 'refused')
    },
    differenceIn(hash, name) {
      reference ??= { hash, name }
      return hash === reference.hash ? undefined : `serves another cluster than ${reference.name}`
    },
    missingIn: () => undefined,
    proofs: 1,
    timeoutMs,
    onWrong: problem => logger.error('a Solana node is not used', { problem })
  }
}
