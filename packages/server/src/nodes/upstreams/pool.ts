import type { Clock } from '../../platform/clock.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { NodeContradictionError, NodeUnavailableError } from '../../platform/errors.ts'
import type { UpstreamFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import { type Attempts, createAttempts } from './attempts.ts'
import { createHeadChecks } from './headChecks.ts'
import { createHedgeBudget, hedgeRead } from './hedge.ts'
import { createUpstream, type Upstream, type UpstreamFamily } from './upstream.ts'
import { AttemptTimeout, UpstreamError } from './upstreamError.ts'
import { AbsentAnswer, type Asked, attemptWork, type Work } from './work.ts'

export interface UpstreamPoolOptions<N, S> {
  readonly family: UpstreamFamily<N, S>
  /** In order of preference while nothing else speaks for one of them. */
  readonly rpcUrls: readonly string[]
  /** Bound on one decoded HTTP body. */
  readonly maxResponseBytes: number
  /** Most calls in one HTTP request. Default 1. */
  readonly maxBatchCalls?: number
  /** Attempts of the same work at one upstream. */
  readonly maxAttempts: number
  /** Bound on one attempt, and on one pause; absent: the deadline alone. */
  readonly maxAttemptMs?: number
  /** Pause before the second attempt at one upstream, and twice as long before all further ones; both with jitter. */
  readonly firstPauseMs: number
  readonly clock: Clock
  readonly logger?: Logger | undefined
}

interface WorkLimits {
  readonly signal?: AbortSignal | undefined
  /** By the pool's clock; bounds everything, pauses included. */
  readonly deadlineMs: number
}

/** The upstreams of one chain as one: each work is done by the best of them, or by the next when that fails. */
export interface UpstreamPool<N, S> {
  /**
   * Has work done by one upstream after another until one does it soundly, the attempts are used up, or time is.
   * @throws {NodeContradictionError} no upstream answered soundly.
   * @throws {NodeRpcError} the node's own error, when it is final or no other upstream knows better.
   * @throws {ConfigError} every upstream serves another chain.
   * @throws {NodeUnavailableError} no upstream answered in time, or all of them asked for a longer pause.
   */
  run<T>(work: Work<N, T>, limits: WorkLimits): Promise<T>
  /** Asks anew what chain is served: every upstream has to show it again. @throws as `run` does. */
  identify(limits: WorkLimits): Promise<S | undefined>
  /** Compares what the upstreams have shown with what is expected by now. */
  judgeIdentitiesAgain(): void
  figures(): readonly Omit<UpstreamFigures, 'chainId' | 'role'>[]
  /** Ends what is under way and refuses what comes later, both with a NodeUnavailableError. */
  close(): void
}

/** The preferred upstream stays until another one's score is so many times its own. */
const clearlyBetter = 1.5

/** @throws {ConfigError} for a URL that cannot be used; the message never repeats it. */
export function createUpstreamPool<N, S>(options: UpstreamPoolOptions<N, S>): UpstreamPool<N, S> {
  const { family, maxAttemptMs = Number.POSITIVE_INFINITY, clock, logger } = options
  const { label, context } = family
  const closing = new AbortController()
  const hedges = createHedgeBudget()
  const upstreams: readonly Upstream<N, S>[] = options.rpcUrls.map((url, index) =>
    createUpstream({
      family,
      url,
      position: index + 1,
      maxResponseBytes: options.maxResponseBytes,
      maxBatchCalls: options.maxBatchCalls ?? 1,
      clock,
      closing: closing.signal,
      bestHead: () => Math.max(0, ...upstreams.flatMap(({ health }) => health.head ?? []))
    })
  )
  let preferred = upstreams[0]

  function reconsider(): void {
    const before = preferred
    if (before === undefined) return
    const [best] = upstreams
      .filter(upstream => upstream !== before && upstream.isInService())
      .sort((a, b) => b.health.score() - a.health.score() || a.position - b.position)
    if (best === undefined) return
    const isBetter = best.health.score() > before.health.score() * clearlyBetter
    if (!isBetter && before.isInService()) return
    preferred = best
    const problem = `${best.name} after ${before.name}`
    logger?.debug('another upstream is preferred', { ...context, problem })
  }

  const { askHead } = family
  const headChecks =
    askHead && createHeadChecks({ upstreams, askHead, clock, closing: closing.signal, onChecked: reconsider })

  async function run<T>(work: Work<N, T>, { signal, deadlineMs }: WorkLimits): Promise<T> {
    signal?.throwIfAborted()
    headChecks?.begin()
    const attempts = createAttempts<N>(upstreams, work, options)
    let waitMs = 0
    for (;;) {
      const choice = attempts.choose(preferred)
      if (choice === undefined || closing.signal.aborted) break
      waitMs = choice.waitMs
      // A pause that outlives the deadline cannot end well: it fails now.
      if (waitMs > maxAttemptMs || clock.now() + waitMs >= deadlineMs) break
      if (attempts.count() > 0) choice.upstream.counts.add('retries')
      const scope = openAbortScope([signal, closing.signal])
      try {
        if (waitMs > 0) await pause(waitMs, scope.signal)
        signal?.throwIfAborted()
        if (closing.signal.aborted) break
        const leftMs = deadlineMs - clock.now()
        // A silent upstream may use up only half of the time while there is another to ask.
        const attemptMs = Math.min(maxAttemptMs, attempts.isLast(choice.upstream) ? leftMs : leftMs / 2)
        scope.setDeadline(attemptMs, () => new AttemptTimeout())
        for (const { upstream, verdict } of await attempt(work, choice.upstream, attempts, scope.signal)) {
          if (verdict.kind === 'value') return verdict.value
          if (verdict.kind === 'final') throw verdict.error
          attempts.note(upstream, verdict)
        }
        signal?.throwIfAborted()
        reconsider()
        logger?.debug('a call to the node failed', {
          ...context,
          method: work.what,
          attempt: attempts.count(),
          problem: attempts.lastProblem()
        })
      } finally {
        scope.end()
      }
    }
    return conclude(work, attempts, waitMs)
  }

  /** Asks the chosen upstream, and a second one as well when the first takes longer than it usually does. */
  async function attempt<T>(
    work: Work<N, T>,
    first: Upstream<N, unknown>,
    attempts: Attempts<N>,
    signal: AbortSignal
  ): Promise<readonly Asked<N, T>[]> {
    hedges.counted()
    const ask = async (upstream: Upstream<N, unknown>, within: AbortSignal): Promise<Asked<N, T>> => ({
      upstream,
      verdict: await attemptWork(upstream, work, within, family.judgeError)
    })
    const afterMs = upstreams.length > 1 ? first.usualTimes.unusualAfterMs(work.kind) : undefined
    if (afterMs === undefined) return [await ask(first, signal)]
    let second: Upstream<N, unknown> | undefined
    const asked = await hedgeRead<Asked<N, T>>({
      first: within => ask(first, within),
      second() {
        const other = attempts.choose(preferred, first)
        if (other === undefined || other.waitMs > 0 || !hedges.take()) return undefined
        second = other.upstream
        second.counts.add('hedgesSent')
        return within => ask(other.upstream, within)
      },
      isSound: ({ verdict }) => verdict.kind === 'value' || verdict.kind === 'final',
      afterMs,
      signal
    })
    if (asked.length === 1 && asked[0]?.upstream === second) second?.counts.add('hedgesWon')
    return asked
  }

  function conclude<T>(work: Work<N, T>, attempts: Attempts<N>, waitMs: number): T {
    const { what } = work
    if (closing.signal.aborted) throw new NodeUnavailableError(`${label}${what}: the connection is closed`)
    const failure = attempts.mostTelling()
    if (failure?.kind === 'absent' && failure.error instanceof AbsentAnswer) return failure.error.read() as T
    if (failure !== undefined && failure.kind !== 'failed') throw failure.error
    if (failure?.error instanceof NodeContradictionError) {
      throw new NodeContradictionError(
        `${label}${what}: ${failure.upstream.name}: ${failure.error.message}`,
        {
          ...context,
          method: what
        }
      )
    }
    const problem = failure?.error.message ?? `no upstream may be called for ${Math.ceil(waitMs)} ms`
    const facts = failure?.error instanceof UpstreamError ? failure.error.context : {}
    throw new NodeUnavailableError(`${label}${what}: ${problem}`, { ...facts, ...context, method: what })
  }

  return {
    run,
    identify(limits) {
      for (const { identity } of upstreams) identity?.forget()
      const work: Work<N, unknown> = {
        what: 'identity',
        kind: 'identity',
        ask: async (_, upstream) => upstream.identity?.check(closing.signal)
      }
      return run(work, limits) as Promise<S | undefined>
    },
    judgeIdentitiesAgain() {
      for (const { identity } of upstreams) identity?.judgeAgain()
    },
    figures: () =>
      upstreams.map(upstream => ({
        position: upstream.position,
        ...upstream.counts.read(),
        concurrencyLimit: upstream.concurrency(),
        batchLimit: upstream.batchSize.current(),
        ...(upstream.health.head === undefined ? {} : { head: upstream.health.head }),
        lagBlocks: upstream.health.lagBlocks,
        score: upstream.health.score(),
        outOfService: !upstream.isInService(),
        preferred: upstream === preferred
      })),
    close: () => closing.abort(new Error('closed'))
  }
}
