import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { systemClock } from '../../platform/clock.ts'
import { createSharedWork, openAbortScope } from '../../platform/concurrency/deadline.ts'
import { NodeRpcError } from '../../platform/errors.ts'
import { type Logger, silentLogger } from '../../platform/logger.ts'
import type { IdentityRules } from '../upstreams/identity.ts'
import { UpstreamPool } from '../upstreams/pool.ts'
import { AttemptTimeout, UpstreamError } from '../upstreams/upstreamError.ts'
import type { Work } from '../upstreams/work.ts'
import { clusterOfGenesis, type KnownCluster } from './clusters.ts'
import { exchange, type NodeResult, type WordedCall, wordCall } from './jsonRpc.ts'
import { readAnything } from './readAnswers.ts'
import { parseSolanaAddress } from './solanaAddress.ts'

/** One node, for the length of one attempt. */
export interface SolanaNode {
  /** `upstream 1`: the position in `rpcUrls`. */
  readonly name: string
  /** Sends a call once; see {@link exchange}. */
  send(call: WordedCall): Promise<NodeResult>
  /**
   * Runs work of one name once for all attempts at this node that want it at the same time.
   * @param work - gets the node for as long as any of them waits, and no longer than one exchange may take.
   */
  share<T>(name: string, work: (node: SolanaNode) => Promise<T>): Promise<T>
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
  /** The cluster that the nodes must be of. Default: any, the same for all of them. */
  readonly cluster?: KnownCluster | undefined
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
  /** Number of nodes. */
  readonly count: number
  /**
   * Asks the nodes until one gives a sound answer.
   *
   * @throws {ConfigError} every node serves another cluster than is expected.
   * @throws {NodeRpcError} no node serves the call.
   * @throws {NodeContradictionError} the last answer was unsound.
   * @throws {NodeUnavailableError} no node answered in time.
   * @throws the signal's reason.
   */
  ask<T>(
    method: string,
    attempt: (node: SolanaNode) => Promise<T>,
    options: SolanaCallOptions & Pick<Work<SolanaNode, T>, 'mustExist' | 'avoid'>
  ): Promise<T>
}

/** A node that is silent for so long gives way to one that was not asked yet. */
const maxSilenceMs = 4_000
/** Likewise for its genesis hash, which comes before its first answer. */
const identityTimeoutMs = 3_000

/** @throws {ConfigError} when a URL cannot be used. */
export function createSolanaNodes(options: SolanaNodesOptions): SolanaNodes {
  const { rpcUrls, cluster, timeoutMs = 10_000, logger = silentLogger } = options
  const isAlone = rpcUrls.length === 1
  const pool = new UpstreamPool<SolanaNode, string | undefined>({
    family: {
      label: '',
      context: {},
      connect(link) {
        const share = createSharedWork()
        const createNode = (signal: AbortSignal): SolanaNode => ({
          name: link.name,
          send: call => link.track(signal, () => exchange(link, call, signal)),
          share: (name, work) =>
            share(name, signal, async shared => {
              const scope = openAbortScope([shared])
              scope.setDeadline(timeoutMs, () => new AttemptTimeout())
              try {
                return await work(createNode(scope.signal))
              } finally {
                scope.end()
              }
            })
        })
        return createNode
      },
      // Another node may serve what this one does not, and an unsound answer mostly passes.
      judgeError: error => (error instanceof NodeRpcError ? 'refused' : 'failed'),
      ...((!isAlone || cluster !== undefined) && {
        identity: createClusterRules({
          ...{ cluster, isAlone, logger },
          timeoutMs: Math.min(timeoutMs, isAlone ? timeoutMs : identityTimeoutMs)
        })
      })
    },
    rpcUrls,
    maxResponseBytes: options.maxResponseBytes ?? 64 * 1024 * 1024,
    maxAttempts: options.maxAttempts ?? 3,
    maxAttemptMs: timeoutMs,
    maxSilenceMs,
    firstPauseMs: options.backoffMs ?? 250,
    clock: systemClock
  })
  return {
    count: rpcUrls.length,
    ask(method, attempt, { signal, deadlineMs = Number.POSITIVE_INFINITY, minContextSlot, ...work }) {
      return pool.run(
        {
          what: method,
          kind: method,
          method,
          ...work,
          awaitsNewer: minContextSlot !== undefined,
          // Asked even where the method was missing lately: such a node is chosen only when no other is left.
          ask: (node, { capabilities }) => capabilities.learn(method, () => attempt(node))
        },
        { signal, deadlineMs }
      )
    }
  }
}

/** All nodes must serve the expected cluster, or else that of the one that told its genesis hash first. */
function createClusterRules(options: {
  readonly cluster: KnownCluster | undefined
  readonly isAlone: boolean
  readonly timeoutMs: number
  readonly logger: Logger
}): IdentityRules<SolanaNode, string | undefined> {
  const { cluster, isAlone, timeoutMs, logger } = options
  let reference: { readonly hash: string; readonly name: string } | undefined
  return {
    async ask(node) {
      const answer = await node.send(wordCall('getGenesisHash', [])).then(readAnything, error => {
        if (error instanceof NodeRpcError) return undefined
        throw error
      })
      if (typeof answer === 'string' && parseSolanaAddress(answer) !== undefined) return answer
      // One node is what the host says it is, until it says something else.
      if (isAlone) return undefined
      throw new UpstreamError(`${node.name} does not tell its genesis hash`, 'refused')
    },
    differenceIn(hash, name) {
      if (hash === undefined) return undefined
      if (cluster !== undefined && hash !== cluster.genesisHash) {
        const found = clusterOfGenesis(hash)?.name ?? 'another cluster'
        return (
          `serves ${found} (genesis ${hash}), and chain id ${cluster.chainId} stands for ${cluster.name}: ` +
          'mend chainId or the URL, or set "dev": true for a development cluster'
        )
      }
      reference ??= { hash, name }
      return hash === reference.hash ? undefined : `serves another cluster than ${reference.name}`
    },
    missingIn: () => undefined,
    proofs: 1,
    timeoutMs,
    onWrong: problem => logger.error('a Solana node is not used', { problem })
  }
}
