import { type NodeEndpoint, urlOf } from '../../model/nodeEndpoint.ts'
import type { Clock } from '../../platform/clock.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { raceStaggered } from '../../platform/concurrency/race.ts'
import type { UpstreamFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import { type Attempts, createAttempts } from './attempts.ts'
import { createHedgeBudget } from './hedge.ts'
import { createUpstream, type Upstream, type UpstreamFamily } from './upstream.ts'
import { AttemptTimeout } from './upstreamError.ts'
import { attemptWork, type Verdict, type Work } from './work.ts'

export interface UpstreamPoolOptions<N, S> {
  readonly family: UpstreamFamily<N, S>
  /** In order of preference while nothing else speaks for one of them. */
  readonly rpcUrls: readonly NodeEndpoint[]
  /** Bound on one decoded HTTP body. */
  readonly maxResponseBytes: number
  /** Most calls in one HTTP request. Default 1. */
  readonly maxBatchCalls?: number
  /** Attempts of the same work at one upstream. */
  readonly maxAttempts: number
  /** Bound on one attempt, and on one pause; absent: the deadline alone. */
  readonly maxAttemptMs?: number
  /** Bound on an attempt while there is an upstream that was not asked yet; half of the time that is left in any case. */
  readonly maxSilenceMs?: number
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
  /** Has the same work done by every upstream in service. @returns the results of those that did it. */
  runOnEach<T>(work: Work<N, T>, limits: WorkLimits): Promise<readonly T[]>
  /** Returns the requests that all upstreams in service together take at the same time. */
  room(): number
  /** Asks anew what chain is served: every upstream has to show it again. @throws as `run` does. */
  identify(limits: WorkLimits): Promise<S | undefined>
  /** Has upstreams that have shown something else than is expected by now show their chain again. */
  judgeIdentitiesAgain(): void
  figures(): readonly Omit<UpstreamFigures, 'chainId' | 'role'>[]
  /** Ends what is under way and refuses what comes later, both with a NodeUnavailableError. */
  close(): void
}

/** One upstream and how its attempt ended. */
interface Asked<N, T> {
  readonly upstream: Upstream<N, unknown>
  readonly verdict: Verdict<T>
}

/** The preferred upstream stays until another one's score is so many times its own. */
const clearlyBetter = 1.5
/** Heads are checked by one call to each upstream, at most so often; the call also probes one whose breaker was open. */
const headCheck = { intervalMs: 5_000, timeoutMs: 5_000 }

/** @throws {ConfigError} for a URL that cannot be used; the message never repeats it. */
export function createUpstreamPool<N, S>(options: UpstreamPoolOptions<N, S>): UpstreamPool<N, S> {
  const { family, clock, logger } = options
  const { maxAttemptMs = Number.POSITIVE_INFINITY, maxSilenceMs = maxAttemptMs } = options
  const { context, askHead, judgeError } = family
  const closing = new AbortController()
  const hedges = createHedgeBudget()
  const upstreams: readonly Upstream<N, S>[] = options.rpcUrls.map((endpoint, index) =>
    createUpstream({
      family,
      url: urlOf(endpoint),
      position: index + 1,
      limits: typeof endpoint === 'string' ? {} : endpoint,
      headers: typeof endpoint === 'string' ? {} : endpoint.headers,
      maxResponseBytes: options.maxResponseBytes,
      maxBatchCalls: options.maxBatchCalls ?? 1,
      clock,
      closing: closing.signal,
      bestHead: () => Math.max(0, ...upstreams.flatMap(({ health }) => health.head ?? [])),
      hasOthers: () => upstreams.some((other, at) => at !== index && other.isInService()),
      onAside: problem => {
        logger?.error('an upstream is put aside', { ...context, problem })
        reconsider()
      }
    })
  )
  let preferred = upstreams[0]
  let nextCheckMs = 0
  let isChecking = false

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

  /** Checks all heads if a round is due, so that lag and latency are compared like with like. No work, no checks. */
  async function checkHeads(): Promise<void> {
    const isOver = () => closing.signal.aborted
    // With one upstream there is nothing to compare.
    if (!askHead || upstreams.length < 2 || isChecking || clock.now() < nextCheckMs || isOver()) return
    nextCheckMs = clock.now() + headCheck.intervalMs
    isChecking = true
    const work: Work<N, void> = {
      what: 'head',
      kind: 'head',
      async ask(node, { health }) {
        const sentMs = performance.now()
        await askHead(node)
        health.checked(performance.now() - sentMs)
      }
    }
    const checked = upstreams.filter(upstream => upstream.isCheckDue())
    const scope = openAbortScope([closing.signal])
    scope.setDeadline(headCheck.timeoutMs, () => new AttemptTimeout())
    await Promise.all(checked.map(upstream => attemptWork(upstream, work, scope.signal, judgeError)))
    scope.end()
    isChecking = false
    if (isOver()) return
    // Only now all of them have named a head of the same moment.
    const heads = checked.flatMap(({ health }) => health.head ?? [])
    for (const { health } of checked) {
      if (health.head !== undefined) health.sawHead(health.head, Math.max(...heads))
    }
    reconsider()
  }

  async function run<T>(work: Work<N, T>, { signal, deadlineMs }: WorkLimits): Promise<T> {
    signal?.throwIfAborted()
    void checkHeads()
    const attempts = createAttempts<N>(upstreams, work, options, family)
    let waitMs = 0
    for (;;) {
      reconsider()
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
        const silenceMs = attempts.isLast(choice.upstream) ? leftMs : Math.min(maxSilenceMs, leftMs / 2)
        const attemptMs = Math.min(maxAttemptMs, silenceMs)
        scope.setDeadline(attemptMs, () => new AttemptTimeout())
        for (const { upstream, verdict } of await attempt(work, choice.upstream, attempts, scope.signal)) {
          if (verdict.kind === 'value') return verdict.value
          if (verdict.kind === 'final') throw verdict.error
          attempts.note(upstream, verdict)
        }
        signal?.throwIfAborted()
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
    return attempts.conclude(closing.signal.aborted, waitMs) as T
  }

  /** Asks the chosen upstream, and a second one as well when the first takes longer than it usually does. */
  async function attempt<T>(
    work: Work<N, T>,
    first: Upstream<N, unknown>,
    attempts: Attempts<N>,
    signal: AbortSignal
  ): Promise<readonly Asked<N, T>[]> {
    hedges.counted()
    const afterMs = upstreams.length > 1 ? first.usualTimes.unusualAfterMs(work.kind) : undefined
    if (afterMs === undefined)
      return [{ upstream: first, verdict: await attemptWork(first, work, signal, judgeError) }]
    const all: Promise<Asked<N, T>>[] = []
    let hasAnswered = false
    const ask = (upstream: Upstream<N, unknown>) => (within: AbortSignal, onStart: () => void) => {
      onStart()
      const asked = attemptWork(upstream, work, within, judgeError).then(verdict => {
        hasAnswered = true
        return { upstream, verdict }
      })
      all.push(asked)
      return asked
    }
    function* contenders() {
      yield ask(first)
      // A first upstream that has failed by now is followed by the next attempt.
      const other = hasAnswered ? undefined : attempts.choose(preferred, first)
      if (other === undefined || other.waitMs > 0 || !hedges.take()) return
      other.upstream.counts.add('hedgesSent')
      yield ask(other.upstream)
    }
    const isFinal = ({ verdict }: Asked<N, T>) => verdict.kind === 'value' || verdict.kind === 'final'
    const race = { contenders: contenders(), staggerMs: afterMs, signal, isFinal }
    // It rejects when the signal aborts; the attempts then say how they ended.
    const winner = await raceStaggered<Asked<N, T>>(race).catch(() => undefined)
    if (winner === undefined || !isFinal(winner)) return Promise.all(all)
    if (winner.upstream !== first) winner.upstream.counts.add('hedgesWon')
    return [winner]
  }

  async function runOnEach<T>(work: Work<N, T>, { signal, deadlineMs }: WorkLimits): Promise<readonly T[]> {
    const scope = openAbortScope([signal, closing.signal])
    scope.setDeadline(deadlineMs - clock.now(), () => new AttemptTimeout())
    const asked = upstreams.filter(upstream => upstream.isInService())
    const verdicts = await Promise.all(
      asked.map(upstream => attemptWork(upstream, work, scope.signal, judgeError))
    )
    scope.end()
    signal?.throwIfAborted()
    return verdicts.flatMap(verdict => (verdict.kind === 'value' ? [verdict.value] : []))
  }

  return {
    run,
    runOnEach,
    room: () =>
      upstreams.reduce((sum, upstream) => sum + (upstream.isInService() ? upstream.window.size() : 0), 0),
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
    figures: () => upstreams.map(upstream => ({ ...upstream.figures(), preferred: upstream === preferred })),
    close: () => closing.abort(new Error('closed'))
  }
}
