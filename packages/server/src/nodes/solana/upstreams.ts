import { setTimeout as sleep } from 'node:timers/promises'
import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../../platform/errors.ts'
import { silentLogger } from '../../platform/logger.ts'
import { createHttpUpstream, type HttpUpstream, UpstreamError } from '../upstreams/httpUpstream.ts'
import { createClusterIdentity } from './clusterIdentity.ts'
import { METHOD_NOT_FOUND } from './nodeErrors.ts'
import type { SolanaCallOptions, SolanaRpcOptions } from './rpc.ts'

/** Asks one node once and reads what it says. */
export type Attempt<T> = (upstream: HttpUpstream, signal: AbortSignal) => Promise<T>

/** All nodes of a cluster as one. */
export interface SolanaUpstreams {
  /**
   * Asks the nodes in turn until one gives a sound answer.
   *
   * @throws {NodeRpcError} no node serves the call.
   * @throws {NodeContradictionError} the last answer was unsound.
   * @throws {NodeUnavailableError} no node answered in time.
   * @throws the signal's reason.
   */
  ask<T>(method: string, attempt: Attempt<T>, options: SolanaCallOptions): Promise<T>
}

/** What is known of one node. */
interface Upstream {
  readonly http: HttpUpstream
  /** Why it is left alone, and until when. */
  rest: { readonly untilMs: number; readonly reason: UpstreamError } | undefined
  /** Methods that it does not serve, each with the time until which that is believed. */
  readonly lacks: Map<string, number>
}

type NodeFailure = NodeUnavailableError | NodeContradictionError | NodeRpcError

/** A node may be given a method, or a right, that it lacked. */
const believeLackMs = 60_000
/** Nobody is left alone for longer, whatever it asks for. */
const longestRestMs = 60_000
/**
 * What one node has shown, others will know in some seconds, and one URL may stand for several nodes: the next call may
 * meet one that knows. An account with thousands of mints needs hundreds of answers, none of them older than the first.
 */
const awaitFactor = 5

/** @throws {ConfigError} when a URL cannot be used. */
export function createSolanaUpstreams(options: SolanaRpcOptions): SolanaUpstreams {
  const { timeoutMs = 10_000, maxRounds = 3, backoffMs = 200, logger = silentLogger } = options
  const { maxResponseBytes = 64 * 1024 * 1024 } = options
  const upstreams = options.rpcUrls.map(
    (url, at): Upstream => ({
      http: createHttpUpstream({ url, position: at + 1, maxResponseBytes }),
      rest: undefined,
      lacks: new Map()
    })
  )
  const identity = createClusterIdentity({
    timeoutMs,
    onStranger: problem => logger.error('a Solana node is not used', { problem })
  })
  let preferred = 0

  async function askOne<T>(
    { http }: Upstream,
    attempt: Attempt<T>,
    { signal, deadlineMs = Number.POSITIVE_INFINITY }: SolanaCallOptions,
    isLast: boolean
  ): Promise<T> {
    signal?.throwIfAborted()
    // A node that hangs leaves half of the time to those after it.
    const leftMs = (deadlineMs - Date.now()) / (isLast ? 1 : 2)
    const timer = AbortSignal.timeout(Math.max(0, Math.ceil(Math.min(timeoutMs, leftMs))))
    const whole = signal === undefined ? timer : AbortSignal.any([signal, timer])
    try {
      // One node is what the host says it is; several must be the same.
      if (upstreams.length > 1) await identity.check(http, whole)
      return await attempt(http, whole)
    } catch (error) {
      signal?.throwIfAborted()
      if (timer.aborted) throw new UpstreamError(`${http.name} did not answer in time`, 'timedOut')
      throw error
    }
  }

  /** All, the one that answered last first; those without the method only when nobody has it. */
  function inOrder(method: string): readonly Upstream[] {
    const all = [...upstreams.slice(preferred), ...upstreams.slice(0, preferred)]
    const serving = all.filter(({ lacks }) => (lacks.get(method) ?? 0) <= Date.now())
    return serving.length === 0 ? all : serving
  }

  /** @returns false when the node is not to be asked again for this call. */
  function note(upstream: Upstream, method: string, failure: NodeFailure): boolean {
    if (failure instanceof NodeRpcError) {
      if (failure.rpcCode === METHOD_NOT_FOUND) upstream.lacks.set(method, Date.now() + believeLackMs)
      return false
    }
    if (!(failure instanceof UpstreamError)) return true
    if (failure.retryAfterMs !== undefined) {
      const untilMs = Date.now() + Math.min(failure.retryAfterMs, longestRestMs)
      upstream.rest = { untilMs, reason: failure }
    }
    return failure.fault !== 'refused' && failure.fault !== 'tooLarge'
  }

  return {
    async ask(method, attempt, callOptions) {
      const { signal, deadlineMs = Number.POSITIVE_INFINITY, minContextSlot } = callOptions
      const fits = (waitMs: number) => waitMs <= timeoutMs && Date.now() + waitMs < deadlineMs
      let able = inOrder(method)
      let failure: NodeFailure | undefined
      /** Some node was only behind in the last round. */
      let isAwaited = false
      for (let round = 0; round < maxRounds * (isAwaited ? awaitFactor : 1) && able.length > 0; round++) {
        isAwaited = false
        const rests = able.map(({ rest }) => (rest?.untilMs ?? 0) - Date.now())
        const allRested = Math.max(...rests)
        const rested = round === maxRounds - 1 && fits(allRested) ? allRested : Math.min(...rests)
        const waitMs = Math.max(rested, round === 0 ? 0 : backoffMs * Math.min(round, 2))
        if (waitMs > 0) {
          // A wait that outlasts the caller is no wait: better an error at once.
          if (!fits(waitMs)) break
          await pause(waitMs, signal)
        }
        for (const upstream of able) {
          if (upstream.rest !== undefined && upstream.rest.untilMs > Date.now()) continue
          if (failure !== undefined && Date.now() >= deadlineMs) break
          try {
            const answer = await askOne(upstream, attempt, callOptions, upstream === able.at(-1))
            preferred = upstreams.indexOf(upstream)
            return answer
          } catch (error) {
            if (!isNodeFailure(error)) throw error
            if (minContextSlot !== undefined && isBehind(error)) isAwaited = true
            if (!note(upstream, method, error)) able = able.filter(other => other !== upstream)
            // That it may work later says more than that one node never will.
            if (failure === undefined || error.retryable) failure = named(error, method, upstream)
          }
        }
      }
      throw failure ?? named(reasonToRest(able), method)
    }
  }
}

function isNodeFailure(error: unknown): error is NodeFailure {
  return (
    error instanceof NodeUnavailableError ||
    error instanceof NodeContradictionError ||
    error instanceof NodeRpcError
  )
}

function isBehind(failure: NodeFailure): boolean {
  return failure instanceof UpstreamError && failure.fault === 'behind'
}

/** What is told when no node was asked, because all were to be left alone. */
function reasonToRest(upstreams: readonly Upstream[]): NodeFailure {
  const reasons = upstreams.flatMap(({ rest }) => (rest === undefined ? [] : [rest.reason]))
  return reasons[0] ?? new NodeUnavailableError('no node is configured')
}

function named(failure: NodeFailure, method: string, upstream?: Upstream): NodeFailure {
  if (failure instanceof NodeRpcError) return failure
  if (failure instanceof NodeContradictionError) {
    return new NodeContradictionError(`${method}: ${upstream?.http.name}: ${failure.message}`, { method })
  }
  return new NodeUnavailableError(`${method}: ${failure.message}`, { ...failure.context, method })
}

/** @throws the signal's reason, unwrapped. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  try {
    await sleep(ms, undefined, { signal })
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  }
}
