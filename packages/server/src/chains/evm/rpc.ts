import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError, NodeRpcError, NodeUnavailableError } from '../../platform/errors.ts'
import { createHttpUpstream, UpstreamError } from '../../platform/httpUpstream.ts'
import type { Logger } from '../../platform/logger.ts'
import { createJsonRpcChannel, type JsonRpcChannel } from './jsonRpcChannel.ts'
import type { NodeCall, NodeCallOptions, NodeOutcome } from './nodeCall.ts'

/**
 * Plain JSON-RPC to one EVM chain over all of its `rpcUrls`. Answers are raw JSON: nothing is parsed into a
 * library's idea of a block, because real chains do not fit one.
 */
export interface EvmRpc {
  /**
   * @throws {NodeRpcError} the node answered an error.
   * @throws {NodeUnavailableError} no upstream answered in time.
   */
  request(call: NodeCall, options?: NodeCallOptions): Promise<unknown>
  /**
   * Sends the calls as JSON-RPC batches of bounded size, all to the same upstream, matched by id. Nodes that refuse
   * batches get single calls instead.
   * @returns one outcome per call, in the order of the calls. An `error` is a NodeRpcError.
   * @throws {NodeUnavailableError} no upstream answered in time.
   */
  batch(calls: readonly NodeCall[], options?: NodeCallOptions): Promise<readonly NodeOutcome[]>
  /** Ends what is under way and refuses what comes later, both with a NodeUnavailableError. */
  close(): void
}

export interface EvmRpcOptions {
  readonly chainId: number
  /** In order of preference; the first that works is kept until it fails. */
  readonly rpcUrls: readonly string[]
  readonly logger?: Logger
  /** Default bound on a whole exchange, retries included; 20 s. */
  readonly timeoutMs?: number
  /** Bound on one decoded HTTP body; 128 MiB. */
  readonly maxResponseBytes?: number
  /** Most calls in one HTTP request; 100. */
  readonly maxBatchCalls?: number
  /** Attempts per exchange over all upstreams; 4. */
  readonly maxAttempts?: number
}

/** First pause before a repeated attempt; doubles up to {@link longestPauseMs}, each drawn with full jitter. */
const firstPauseMs = 100
const longestPauseMs = 3_000

interface Upstream {
  readonly channel: JsonRpcChannel
  /** `Date.now()` before which it asked not to be called. */
  restUntilMs: number
}

/**
 * @throws {ConfigError} for an empty list or a URL that cannot be used; the message never repeats the URL.
 * @remarks Opens no connection before the first call.
 */
export function createEvmRpc(options: EvmRpcOptions): EvmRpc {
  const { chainId, rpcUrls, logger } = options
  const defaultTimeoutMs = options.timeoutMs ?? 20_000
  const maxAttempts = options.maxAttempts ?? 4
  if (rpcUrls.length === 0) throw new ConfigError(`chain ${chainId} has no rpcUrls; expected at least one`)

  const upstreams: Upstream[] = rpcUrls.map((url, index) => ({
    channel: createJsonRpcChannel(
      createHttpUpstream({
        url,
        position: index + 1,
        maxResponseBytes: options.maxResponseBytes ?? 128 * 1024 * 1024
      }),
      { maxBatchCalls: options.maxBatchCalls ?? 100 }
    ),
    restUntilMs: 0
  }))
  let preferred = 0
  const closing = new AbortController()

  /** The upstream to try next: the preferred one, or the next in line that does not rest. */
  function choose(now: number): { place: number; upstream: Upstream } {
    const order = upstreams.map((upstream, index) => ({
      place: (preferred + index) % upstreams.length,
      upstream: upstreams[(preferred + index) % upstreams.length] ?? upstream
    }))
    const awake = order.find(({ upstream }) => upstream.restUntilMs <= now)
    const soonest = order.reduce((a, b) => (b.upstream.restUntilMs < a.upstream.restUntilMs ? b : a))
    return awake ?? soonest
  }

  /** Runs `exchange` against one upstream after another until one answers, an answer is final, or time is up. */
  async function attempt<T>(
    what: string,
    exchange: (channel: JsonRpcChannel, signal: AbortSignal) => Promise<T>,
    { signal, timeoutMs = defaultTimeoutMs }: NodeCallOptions
  ): Promise<T> {
    const deadline = Date.now() + timeoutMs
    let last: UpstreamError | undefined
    for (let tries = 0; tries < maxAttempts; tries++) {
      const { place, upstream } = choose(Date.now())
      const pauseMs = Math.max(
        upstream.restUntilMs - Date.now(),
        tries === 0 ? 0 : jitteredPause(tries, upstreams.length)
      )
      // A pause that outlives the deadline cannot end well: say so now.
      if (Date.now() + pauseMs >= deadline) break
      const scope = openScope([signal, closing.signal])
      try {
        if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: scope.signal })
        const leftMs = deadline - Date.now()
        // With somebody else to ask, a silent upstream may use up only half of the time.
        scope.limit(upstreams.length > 1 && tries + 1 < maxAttempts ? leftMs / 2 : leftMs)
        const answer = await exchange(upstream.channel, scope.signal)
        preferred = place
        return answer
      } catch (error) {
        signal?.throwIfAborted()
        if (closing.signal.aborted) break
        if (error instanceof UpstreamError) last = error
        else if (scope.timedOut() && !(error instanceof NodeRpcError)) {
          last = new UpstreamError(`${upstream.channel.name} did not answer in time`, 'unreachable')
        } else throw error
        if (last.retryAfterMs !== undefined) upstream.restUntilMs = Date.now() + last.retryAfterMs
        preferred = (place + 1) % upstreams.length
        logger?.debug('a call to the node failed', {
          chainId,
          method: what,
          attempt: tries + 1,
          problem: last.message
        })
        const pointless = last.fault === 'refused' || last.fault === 'tooLarge'
        if (pointless && tries + 1 >= upstreams.length) break
      } finally {
        scope.end()
      }
    }
    if (closing.signal.aborted)
      throw new NodeUnavailableError(`chain ${chainId}: ${what}: the connection is closed`)
    throw new NodeUnavailableError(
      `chain ${chainId}: ${what}: ${last?.message ?? 'no upstream may be called in time'}`,
      {
        chainId,
        method: what,
        fault: last?.fault,
        httpStatus: last?.httpStatus,
        retryAfterMs: last?.retryAfterMs
      }
    )
  }

  return {
    request(call, callOptions = {}) {
      return attempt(call.method, (channel, signal) => channel.send(call, signal), callOptions)
    },
    async batch(calls, callOptions = {}) {
      const first = calls[0]
      if (first === undefined) return []
      // Outcomes survive a repeated attempt on the same upstream only: two nodes may be at different blocks.
      let outcomes: (NodeOutcome | undefined)[] = []
      let asked: JsonRpcChannel | undefined
      return attempt(
        calls.length === 1 ? first.method : `batch of ${calls.length} (${first.method})`,
        (channel, signal) => {
          if (channel !== asked) outcomes = new Array<NodeOutcome | undefined>(calls.length)
          asked = channel
          return channel.sendAll(calls, outcomes, signal)
        },
        callOptions
      )
    },
    close() {
      closing.abort(new Error('closed'))
    }
  }
}

/** The more upstreams there are, the sooner another try is worth it: the first round over all of them is immediate. */
function jitteredPause(tries: number, upstreamCount: number): number {
  const round = tries - (upstreamCount - 1)
  return round <= 0 ? 0 : Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** round)
}

/** One attempt's abort signal: follows the given ones and its own timer, and lets go of all of them at `end`. */
function openScope(parents: readonly (AbortSignal | undefined)[]) {
  const controller = new AbortController()
  let timer: NodeJS.Timeout | undefined
  let timedOut = false
  const followed = parents.filter(parent => parent !== undefined)
  // Many calls may follow one signal; Node 20 would take that for a leak.
  setMaxListeners(0, ...followed)
  // Not AbortSignal.any: it keeps one entry per attempt alive for as long as a long-lived parent lives.
  const follow = () => controller.abort(followed.find(parent => parent.aborted)?.reason)
  for (const parent of followed) parent.addEventListener('abort', follow, { once: true })
  if (followed.some(parent => parent.aborted)) follow()
  return {
    signal: controller.signal,
    limit(timeoutMs: number) {
      timer = setTimeout(() => {
        timedOut = true
        controller.abort(new Error('time is up'))
      }, timeoutMs)
    },
    timedOut: () => timedOut,
    end() {
      clearTimeout(timer)
      for (const parent of followed) parent.removeEventListener('abort', follow)
      // Ends what a failed attempt may still have under way.
      controller.abort()
    }
  }
}
