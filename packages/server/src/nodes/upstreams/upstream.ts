import type { Clock } from '../../platform/clock.ts'
import { ConfigError } from '../../platform/errors.ts'
import { createJsonRpcChannel } from '../evm/jsonRpcChannel.ts'
import type { EvmNode, NodeCall, NodeOutcome } from '../evm/nodeCall.ts'
import { createWayMemory } from '../evm/wayMemory.ts'
import { openAbortScope, TimeUpError, unlessAborted } from './abortScope.ts'
import { createBatchSize } from './batchSize.ts'
import { type Capabilities, createCapabilities } from './capabilities.ts'
import { createConcurrencyLimit } from './concurrencyLimit.ts'
import { createUsualTimes, type UsualTimes } from './hedge.ts'
import { createHttpUpstream, UpstreamError } from './httpUpstream.ts'
import { createUpstreamCounts, type UpstreamCounts } from './upstreamCounts.ts'
import { createUpstreamHealth, type UpstreamHealth } from './upstreamHealth.ts'
import {
  createUpstreamIdentity,
  type ExpectedIdentity,
  identityCalls,
  type ShownIdentity,
  type UpstreamIdentity
} from './upstreamIdentity.ts'

/** One node of a chain, with all that is known about it. */
export interface Upstream {
  /** Counted from 1. */
  readonly position: number
  readonly name: string
  readonly health: UpstreamHealth
  readonly identity: UpstreamIdentity
  readonly capabilities: Capabilities
  readonly usualTimes: UsualTimes
  readonly counts: UpstreamCounts
  /**
   * Makes sure that it serves the right chain: one batch after each new connection, a second one when that names another
   * chain, shared by all who wait for it.
   * @throws {ConfigError} it serves another one.
   * @throws {UpstreamError} it did not say.
   */
  identify(signal: AbortSignal): Promise<ShownIdentity>
  /** The upstream for one piece of work that ends with `signal`. */
  node(signal: AbortSignal): EvmNode
  isDoubted(height: number | undefined): boolean
  limits(): { readonly concurrency: number; readonly batch: number }
}

export interface UpstreamOptions {
  readonly url: string
  readonly position: number
  readonly expected: ExpectedIdentity
  readonly maxResponseBytes: number
  readonly maxBatchCalls: number
  readonly identityTimeoutMs: number
  readonly clock: Clock
  /** The end of everything. */
  readonly closing: AbortSignal
  onWrong(error: ConfigError): void
  /** It has named its newest block. */
  onHead(upstream: Upstream, head: number): void
}

const doubtMs = 60_000
const mostDoubts = 256

/** @throws {ConfigError} when the URL cannot be used; the message never repeats it. */
export function createUpstream(options: UpstreamOptions): Upstream {
  const { url, position, maxResponseBytes, clock, closing } = options
  const http = createHttpUpstream({ url, position, maxResponseBytes })
  const { name } = http
  const health = createUpstreamHealth(clock)
  const identity = createUpstreamIdentity(name, options.expected, clock, options.onWrong)
  const capabilities = createCapabilities()
  const limit = createConcurrencyLimit(clock)
  const batchSize = createBatchSize(options.maxBatchCalls, clock)
  const channel = createJsonRpcChannel({ name, hide: http.hide, post: postInTurn }, batchSize)
  const ways = createWayMemory(clock)
  const doubts = new Map<number, number>()
  let identifying: Promise<ShownIdentity> | undefined

  async function postInTurn(body: string, signal: AbortSignal) {
    let wasSent = false
    try {
      return await limit.run(signal, () => {
        wasSent = true
        return http.post(body, signal)
      })
    } catch (error) {
      if (error instanceof TimeUpError && !wasSent)
        throw new UpstreamError(`${name} had no room in time`, 'busy')
      throw error
    }
  }

  /** Runs one exchange and learns from how it ends. */
  async function track<T>(signal: AbortSignal, exchange: () => Promise<T>): Promise<T> {
    const startedMs = clock.now()
    try {
      const result = await exchange()
      health.succeeded()
      return result
    } catch (thrown) {
      const error =
        thrown instanceof TimeUpError && signal.aborted
          ? new UpstreamError(`${name} did not answer in time`, 'timedOut')
          : thrown
      // An error of the node is an answer; being called off says nothing.
      if (!(error instanceof UpstreamError)) {
        if (!signal.aborted) health.succeeded()
        throw error
      }
      if (error.fault === 'busy') throw error
      if (error.fault === 'throttled' || error.fault === 'timedOut') limit.overloaded(startedMs)
      if (error.fault === 'unreachable' || error.fault === 'timedOut') identity.forget()
      health.failed(error.fault, error.retryAfterMs)
      throw error
    }
  }

  function observe(call: NodeCall, value: unknown): void {
    const isHead = call.method === 'eth_blockNumber'
    const isLatest = call.method === 'eth_getBlockByNumber' && call.params[0] === 'latest'
    if (!isHead && !isLatest) return
    const text = isHead ? value : (value as { number?: unknown } | null)?.number
    if (typeof text === 'string' && /^0x[0-9a-f]{1,13}$/i.test(text)) options.onHead(upstream, Number(text))
  }

  async function batch(
    calls: readonly NodeCall[],
    signal: AbortSignal,
    outcomes = new Array<NodeOutcome | undefined>(calls.length)
  ): Promise<readonly NodeOutcome[]> {
    const answers = await track(signal, () => channel.sendAll(calls, outcomes, signal))
    for (const [place, call] of calls.entries()) {
      const outcome = answers[place]
      if (outcome?.ok) observe(call, outcome.value)
    }
    return answers
  }

  async function askIdentity(): Promise<ShownIdentity> {
    const scope = openAbortScope([closing])
    scope.limit(options.identityTimeoutMs)
    try {
      const ask = async () => identity.read(await batch(identityCalls, scope.signal))
      const found = await ask()
      // One wrong answer must not take it out for long: another chain is what it names twice.
      identity.judge(identity.isExpected(found) ? found : await ask())
    } finally {
      scope.end()
    }
    return requireShown()
  }

  function requireShown(): ShownIdentity {
    const known = identity.known()
    if (known instanceof ConfigError) throw known
    if (known === undefined)
      throw new UpstreamError(`${name} broke off while it was identified`, 'unreachable')
    return known
  }

  function nodeFor(signal: AbortSignal): EvmNode {
    return {
      async request(call, scan) {
        const value = await track(signal, () => channel.send(call, signal, scan))
        observe(call, value)
        return value
      },
      batch: (calls, known) => batch(calls, signal, known),
      attempt: capabilities.attempt,
      doubt(height) {
        health.failed('unsound')
        if (doubts.size >= mostDoubts) doubts.clear()
        doubts.set(height, clock.now() + doubtMs)
      },
      within: (timeoutMs, ask) => askWithin(timeoutMs, signal, ask),
      ways
    }
  }

  async function askWithin<T>(timeoutMs: number, signal: AbortSignal, ask: (node: EvmNode) => Promise<T>) {
    const shorter = new AbortController()
    const scope = openAbortScope([signal, shorter.signal])
    // Not the scope's own limit, whose end counts as the upstream's failure.
    const timer = setTimeout(() => shorter.abort(new Error('cut short')), timeoutMs)
    try {
      return await ask(nodeFor(scope.signal))
    } catch (error) {
      if (error === shorter.signal.reason && !signal.aborted) return undefined
      throw error
    } finally {
      clearTimeout(timer)
      scope.end()
    }
  }

  const upstream: Upstream = {
    position,
    name,
    health,
    identity,
    capabilities,
    usualTimes: createUsualTimes(),
    counts: createUpstreamCounts(),
    async identify(signal) {
      const known = identity.known()
      if (known !== undefined && !(known instanceof ConfigError)) return known
      if (known instanceof ConfigError && !identity.isDue('soon')) throw known
      identifying ??= askIdentity().finally(() => {
        identifying = undefined
      })
      return unlessAborted(identifying, signal)
    },
    node: nodeFor,
    isDoubted(height) {
      return height !== undefined && (doubts.get(height) ?? 0) > clock.now()
    },
    limits: () => ({ concurrency: limit.current(), batch: batchSize.current() })
  }
  return upstream
}
