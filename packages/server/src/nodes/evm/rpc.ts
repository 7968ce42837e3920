import type { Hash } from '../../model/evm.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import { ConfigError, NodeRpcError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { isInService } from '../upstreams/chooseUpstream.ts'
import type { PieceOfWork } from '../upstreams/pieceOfWork.ts'
import { createUpstream, type Upstream } from '../upstreams/upstream.ts'
import type { UpstreamFigures } from '../../platform/figures.ts'
import type { ExpectedIdentity, ShownIdentity } from '../upstreams/upstreamIdentity.ts'
import { createUpstreamPool, type WorkLimits } from '../upstreams/upstreamPool.ts'
import { messageKindOf } from './jsonRpcChannel.ts'
import {
  type EvmNode,
  heightOf,
  isAbsentAnswer,
  type NodeCall,
  type NodeCallOptions,
  type NodeOutcome
} from './nodeCall.ts'

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

/** What the indexer and the composition root need besides. */
export interface EvmUpstreams extends EvmRpc {
  /**
   * Has several calls done by one upstream; when `work` throws a NodeContradictionError or finds the block missing, all of
   * it is done again by another.
   * @param what - for messages, and to compare its duration with its like.
   * @throws like `request`.
   */
  onOneNode<T>(what: string, work: (node: EvmNode) => Promise<T>, options?: NodeCallOptions): Promise<T>
  /**
   * Asks anew what chain is served; every upstream has to show it again before its next answer counts.
   * @throws {ConfigError} every upstream serves another chain than expected.
   */
  identity(signal?: AbortSignal): Promise<ShownIdentity>
  /** From now on an upstream with another genesis block serves another chain. */
  expectGenesis(genesisHash: Hash): void
  figures(): readonly UpstreamFigures[]
}

export interface EvmRpcOptions {
  readonly chainId: number
  /** In order of preference while nothing else speaks for one of them. */
  readonly rpcUrls: readonly string[]
  readonly logger?: Logger
  /** For the figures; `query`. */
  readonly role?: UpstreamFigures['role']
  /** Default bound on a whole exchange, retries included; 20 s. */
  readonly timeoutMs?: number
  /** Bound on one decoded HTTP body; 128 MiB. */
  readonly maxResponseBytes?: number
  /** Most calls in one HTTP request; 100. */
  readonly maxBatchCalls?: number
  /** Attempts per exchange over all upstreams; 4, and one more than there are upstreams. */
  readonly maxAttempts?: number
  readonly clock?: Clock
}

/**
 * @throws {ConfigError} for an empty list or a URL that cannot be used; the message never repeats the URL.
 * @remarks Opens no connection before the first call. With several upstreams, each is looked at every 5 s while there are
 *   calls.
 */
export function createEvmRpc(options: EvmRpcOptions): EvmUpstreams {
  const { chainId, rpcUrls, logger, clock = systemClock, role = 'query' } = options
  const defaultTimeoutMs = options.timeoutMs ?? 20_000
  if (rpcUrls.length === 0) throw new ConfigError(`chain ${chainId} has no rpcUrls; expected at least one`)
  const closing = new AbortController()
  const expected: ExpectedIdentity = { chainId }

  const upstreams: readonly Upstream[] = rpcUrls.map((url, place) =>
    createUpstream({
      url,
      position: place + 1,
      expected,
      maxResponseBytes: options.maxResponseBytes ?? 128 * 1024 * 1024,
      maxBatchCalls: options.maxBatchCalls ?? 100,
      identityTimeoutMs: Math.min(10_000, defaultTimeoutMs / 2),
      clock,
      closing: closing.signal,
      onWrong: error =>
        logger?.error('an upstream serves another chain and is not used', {
          chainId,
          problem: error.message
        }),
      onHead(upstream, head) {
        const heads = upstreams.flatMap(({ health }) => health.head ?? [])
        upstream.health.sawHead(head, Math.max(head, ...heads))
      }
    })
  )
  const pool = createUpstreamPool({
    chainId,
    upstreams,
    maxAttempts: options.maxAttempts ?? Math.max(4, rpcUrls.length + 1),
    clock,
    closing: closing.signal,
    ...(logger ? { logger } : {})
  })
  const limitsOf = ({ signal, timeoutMs = defaultTimeoutMs }: NodeCallOptions): WorkLimits => ({
    signal,
    timeoutMs
  })

  return {
    request(call, callOptions = {}) {
      return pool.run(requestWork(call, callOptions), limitsOf(callOptions))
    },
    async batch(calls, callOptions = {}) {
      const [first] = calls
      if (first === undefined) return []
      return pool.run(batchWork(calls, first, callOptions), limitsOf(callOptions))
    },
    onOneNode<T>(what: string, work: (node: EvmNode) => Promise<T>, callOptions: NodeCallOptions = {}) {
      const { height } = callOptions
      return pool.run<T>(
        { what, kind: what, height, ask: work, isAbsent: () => false, read: raw => raw as T },
        limitsOf(callOptions)
      )
    },
    identity(signal) {
      for (const { identity } of upstreams) identity.forget()
      return pool.run<ShownIdentity>(
        {
          what: 'identity',
          kind: 'identity',
          ask: (_, upstream) => upstream.identify(closing.signal),
          isAbsent: () => false,
          read: raw => raw as ShownIdentity
        },
        limitsOf(signal ? { signal } : {})
      )
    },
    expectGenesis(genesisHash) {
      expected.genesisHash = genesisHash
      for (const { identity } of upstreams) identity.judgeAgain()
    },
    figures: () => upstreams.map(upstream => figuresOf(upstream)),
    close() {
      closing.abort(new Error('closed'))
    }
  }

  function figuresOf(upstream: Upstream): UpstreamFigures {
    const { health, counts, position } = upstream
    const { concurrency, batch } = upstream.limits()
    return {
      chainId,
      role,
      position,
      ...counts.read(),
      concurrencyLimit: concurrency,
      batchLimit: batch,
      ...(health.head === undefined ? {} : { head: health.head }),
      lagBlocks: health.lagBlocks,
      score: health.score(),
      outOfService: !isInService(upstream, clock.now()),
      preferred: pool.preferred() === upstream
    }
  }
}

function requestWork(call: NodeCall, { height, read, scan }: NodeCallOptions): PieceOfWork<unknown> {
  const { method } = call
  return {
    what: method,
    kind: method,
    method,
    height: height ?? heightOf([call]),
    async ask(node, { name }) {
      const answer = await node.attempt(method, async () => ({ value: await node.request(call, scan) }))
      if (answer === undefined)
        throw new NodeRpcError(`${method}: ${name} has no such method (-32601)`, -32601, undefined)
      return answer.value
    },
    isAbsent: raw => isAbsentAnswer(call, raw),
    read: (raw, node) => (read === undefined ? raw : read(raw, node))
  }
}

function batchWork(
  calls: readonly NodeCall[],
  first: NodeCall,
  { height, read }: NodeCallOptions
): PieceOfWork<readonly NodeOutcome[]> {
  // Never passed on to another upstream: two nodes may be at different blocks.
  const known = new Map<Upstream, (NodeOutcome | undefined)[]>()
  return {
    what: calls.length === 1 ? first.method : `batch of ${calls.length} (${first.method})`,
    kind: `batch of ${first.method}`,
    height: height ?? heightOf(calls),
    ask(node, upstream) {
      const outcomes = known.get(upstream) ?? new Array<NodeOutcome | undefined>(calls.length)
      known.set(upstream, outcomes)
      return node.batch(calls, outcomes)
    },
    isAbsent(raw) {
      const [outcome] = raw as readonly NodeOutcome[]
      if (outcome === undefined) return false
      if (outcome.ok) return isAbsentAnswer(first, outcome.value)
      return outcome.error instanceof NodeRpcError && messageKindOf(outcome.error) === 'missingData'
    },
    read: (raw, node) => (read === undefined ? raw : read(raw, node)) as readonly NodeOutcome[]
  }
}
