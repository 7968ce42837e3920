import type { Hash } from '@chain-data/index'
import type { NodeEndpoint } from '../../model/nodeEndpoint.ts'
import { type Clock, steadyClock } from '../../platform/clock.ts'
import { ConfigError, NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import type { UpstreamFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import { isMethodMissing, messageKindOf } from '../upstreams/errorWords.ts'
import { UpstreamPool } from '../upstreams/pool.ts'
import { AbsentAnswer, type Work } from '../upstreams/work.ts'
import { createIdentityRules, type ExpectedIdentity, type ShownIdentity } from './identity.ts'
import {
  type EvmNode,
  heightOf,
  isAbsentAnswer,
  type NodeCall,
  type NodeCallOptions,
  type NodeOutcome
} from './nodeCall.ts'
import { createEvmNodes } from './nodes.ts'

/**
 * Plain JSON-RPC to one EVM chain over all of its `rpcUrls`. Answers are raw JSON: nothing is parsed into a
 * library's idea of a block, because real chains do not fit one.
 */
export interface EvmRpc {
  /**
   * Null for a block, receipt or transaction, and errors in the like of "header not found", are the answer only when no
   * other upstream knows better.
   * @throws {NodeRpcError} the node answered an error.
   * @throws {NodeContradictionError} `options.read` took no upstream's answer.
   * @throws {ConfigError} every upstream serves another chain.
   * @throws {NodeUnavailableError} no upstream answered in time.
   */
  request(call: NodeCall, options?: NodeCallOptions): Promise<unknown>
  /**
   * Sends the calls as JSON-RPC batches of bounded size, all to the same upstream, matched by id. Nodes that refuse
   * batches get single calls instead. The first call speaks for the block that all of them read: when its upstream does
   * not have that block, the whole batch goes to another.
   * @returns one outcome per call, in the order of the calls. An `error` is a NodeRpcError.
   * @throws like `request`.
   */
  batch(calls: readonly NodeCall[], options?: NodeCallOptions): Promise<readonly NodeOutcome[]>
  /** Ends what is under way and refuses what comes later, both with a NodeUnavailableError. */
  close(): void
}

/** Adds what the indexer and the composition root need. */
export interface EvmUpstreams extends EvmRpc {
  /**
   * Has several calls done by one upstream; when `work` throws a NodeContradictionError or finds the block missing, all of
   * it is done again by another.
   * @param what - for messages, and to compare its duration with its like.
   * @throws like `request`.
   */
  onOneNode<T>(what: string, work: (node: EvmNode) => Promise<T>, options?: NodeCallOptions): Promise<T>
  /**
   * Has the same work done by every upstream in service.
   * @returns the results of those that did it, in no order that means anything.
   */
  onEachNode<T>(
    what: string,
    work: (node: EvmNode) => Promise<T>,
    options?: NodeCallOptions
  ): Promise<readonly T[]>
  /** Returns the requests that all upstreams in service together take at the same time; 0 when none is. */
  room(): number
  /**
   * Asks anew what chain is served; every upstream has to show it again before its next answer counts.
   * @throws {ConfigError} every upstream serves another chain than expected.
   */
  identity(signal?: AbortSignal): Promise<ShownIdentity>
  /** Bound on a poll: asking for the head, or for the identity. */
  readonly pollTimeoutMs: number
  /**
   * From now on an upstream with another genesis block serves another chain. What upstreams have shown before counts no
   * more where it differs: they are asked again.
   * @param genesisHash - absent: any will do.
   */
  expectGenesis(genesisHash: Hash | undefined): void
  figures(): readonly UpstreamFigures[]
}

export interface EvmRpcOptions {
  readonly chainId: number
  /** In order of preference while nothing else speaks for one of them. */
  readonly rpcUrls: readonly NodeEndpoint[]
  readonly logger?: Logger
  /** For the figures; `query`. */
  readonly role?: UpstreamFigures['role']
  /** Default bound on a whole exchange, retries included; 20 s. */
  readonly timeoutMs?: number
  /** Bound on one decoded HTTP body; 128 MiB. */
  readonly maxResponseBytes?: number
  /** Most calls in one HTTP request; 100. */
  readonly maxBatchCalls?: number
  /** Attempts of one exchange at each upstream; 4. */
  readonly maxAttempts?: number
  /** Measures time limits and pauses; must not jump. */
  readonly clock?: Clock
}

/** Short: a node that limits the rate of calls says so and backs off, and in a window of blocks all wait for the last one. */
const firstPauseMs = 16

/** A node that takes longer for its head or its identity counts as silent: polls must show a hang before it holds up callers. */
const longestPollMs = 10_000

/**
 * @throws {ConfigError} for an empty list or a URL that cannot be used; the message never repeats the URL.
 * @remarks Opens no connection before the first call. With several upstreams, the head of each is checked every 5 s while
 *   there are calls.
 */
export function createEvmRpc(options: EvmRpcOptions): EvmUpstreams {
  const { chainId, rpcUrls, logger, clock = steadyClock, role = 'query' } = options
  const defaultTimeoutMs = options.timeoutMs ?? 20_000
  const pollTimeoutMs = Math.min(defaultTimeoutMs, longestPollMs)
  if (rpcUrls.length === 0) throw new ConfigError(`chain ${chainId} has no rpcUrls; expected at least one`)
  const expected: ExpectedIdentity = { chainId }
  const pool = new UpstreamPool({
    family: {
      label: `chain ${chainId}: `,
      context: { chainId },
      connect: createEvmNodes,
      judgeError(error) {
        if (error instanceof NodeContradictionError) return 'unsound'
        return messageKindOf(error) === 'missingData' || isMethodMissing(error) ? 'unavailable' : 'final'
      },
      askHead: node => node.request({ method: 'eth_blockNumber', params: [] }),
      identity: createIdentityRules({
        expected,
        timeoutMs: Math.min(10_000, defaultTimeoutMs / 2),
        onWrong: problem =>
          logger?.error('an upstream serves another chain and is not used', { chainId, problem })
      })
    },
    rpcUrls,
    maxResponseBytes: options.maxResponseBytes ?? 128 * 1024 * 1024,
    maxBatchCalls: options.maxBatchCalls ?? 100,
    maxAttempts: options.maxAttempts ?? 4,
    firstPauseMs,
    clock,
    logger
  })
  const limitsOf = ({ signal, timeoutMs = defaultTimeoutMs }: NodeCallOptions) => ({
    signal,
    deadlineMs: clock.now() + timeoutMs
  })

  return {
    async request(call, callOptions = {}) {
      return pool.run(requestWork(call, callOptions), limitsOf(callOptions))
    },
    async batch(calls, callOptions = {}) {
      const [first] = calls
      if (first === undefined) return []
      return pool.run(batchWork(calls, first, callOptions), limitsOf(callOptions))
    },
    async onOneNode(what, work, callOptions = {}) {
      const { height, isShared = false } = callOptions
      return pool.run({ what, kind: what, height, isShared, ask: work }, limitsOf(callOptions))
    },
    onEachNode: (what, work, callOptions = {}) =>
      pool.runOnEach({ what, kind: what, ask: work }, limitsOf(callOptions)),
    room: () => pool.room(),
    async identity(signal) {
      const shown = await pool.identify(limitsOf({ timeoutMs: pollTimeoutMs, ...(signal ? { signal } : {}) }))
      if (shown === undefined) throw new NodeContradictionError(`chain ${chainId}: no identity`)
      return shown
    },
    pollTimeoutMs,
    expectGenesis(genesisHash) {
      expected.genesisHash = genesisHash
      pool.judgeIdentitiesAgain()
    },
    figures: () => pool.figures().map(figures => ({ chainId, role, ...figures })),
    close: () => pool.close()
  }
}

function requestWork(call: NodeCall, { height, read }: NodeCallOptions): Work<EvmNode, unknown> {
  const { method } = call
  return {
    what: method,
    kind: method,
    method,
    height: height ?? heightOf([call]),
    async ask(node, { capabilities }) {
      const raw = await capabilities.require(method, () => node.request(call))
      const answer = () => (read === undefined ? raw : read(raw, node))
      if (isAbsentAnswer(call, raw)) throw new AbsentAnswer(answer)
      return answer()
    }
  }
}

function batchWork(
  calls: readonly NodeCall[],
  first: NodeCall,
  { height, read }: NodeCallOptions
): Work<EvmNode, readonly NodeOutcome[]> {
  // Never passed on to another upstream: two nodes may be at different blocks.
  const known = new Map<unknown, (NodeOutcome | undefined)[]>()
  return {
    what: calls.length === 1 ? first.method : `batch of ${calls.length} (${first.method})`,
    kind: `batch of ${first.method}`,
    height: height ?? heightOf(calls),
    async ask(node, upstream) {
      const outcomes = known.get(upstream) ?? new Array<NodeOutcome | undefined>(calls.length)
      known.set(upstream, outcomes)
      const raw = await node.batch(calls, outcomes)
      const answer = () => (read === undefined ? raw : read(raw, node)) as readonly NodeOutcome[]
      if (isAbsentOutcome(first, raw[0])) throw new AbsentAnswer(answer)
      return answer()
    }
  }
}

function isAbsentOutcome(call: NodeCall, outcome: NodeOutcome | undefined): boolean {
  if (outcome === undefined) return false
  if (outcome.ok) return isAbsentAnswer(call, outcome.value)
  return outcome.error instanceof NodeRpcError && messageKindOf(outcome.error) === 'missingData'
}
