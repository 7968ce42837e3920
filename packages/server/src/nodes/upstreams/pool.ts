import { type NodeEndpoint, urlOf } from '../../model/nodeEndpoint.ts'
import type { Clock } from '../../platform/clock.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import { pause } from '../../platform/concurrency/pause.ts'
import { raceStaggered } from '../../platform/concurrency/race.ts'
import type { UpstreamFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import { Attempts } from './attempts.ts'
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

/** One upstream and how its attempt ended. */
interface Asked<N, T> {
  readonly upstream: Upstream<N, unknown>
  readonly verdict: Verdict<T>
}

/** The preferred upstream stays until another one's score is so many times its own. */
const clearlyBetter = 1.5
/** Heads are checked by one call to each upstream, at most so often; the call also probes one whose breaker was open. */
const headCheck = { intervalMs: 5_000, timeoutMs: 5_000 }

/** The upstreams of one chain as one: each work is done by the best of them, or by the next when that fails. */
export class UpstreamPool<N, S> {
  readonly #options: UpstreamPoolOptions<N, S>
  readonly #upstreams: readonly Upstream<N, S>[]
  readonly #closing = new AbortController()
  readonly #hedges = createHedgeBudget()
  #preferred: Upstream<N, S> | undefined
  #nextCheckMs = 0
  #isChecking = false

  /** @throws {ConfigError} for a URL that cannot be used; the message never repeats it. */
  constructor(options: UpstreamPoolOptions<N, S>) {
    this.#options = options
    this.#upstreams = options.rpcUrls.map((endpoint, index) => this.#connect(endpoint, index))
    this.#preferred = this.#upstreams[0]
  }

  /**
   * Has work done by one upstream after another until one does it soundly, the attempts are used up, or time is.
   * @throws {NodeContradictionError} no upstream answered soundly.
   * @throws {NodeRpcError} the node's own error, when it is final or no other upstream knows better.
   * @throws {ConfigError} every upstream serves another chain.
   * @throws {NodeUnavailableError} no upstream answered in time, or all of them asked for a longer pause.
   */
  async run<T>(work: Work<N, T>, { signal, deadlineMs }: WorkLimits): Promise<T> {
    signal?.throwIfAborted()
    const {
      family,
      clock,
      logger,
      maxAttemptMs = Number.POSITIVE_INFINITY,
      maxSilenceMs = maxAttemptMs
    } = this.#options
    void this.#checkHeads()
    const attempts = new Attempts<N>(this.#upstreams, work, this.#options, family)
    let waitMs = 0
    for (;;) {
      this.#reconsider()
      const choice = attempts.choose(this.#preferred)
      if (choice === undefined || this.#closing.signal.aborted) break
      waitMs = choice.waitMs
      // A pause that outlives the deadline cannot end well: it fails now.
      if (waitMs > maxAttemptMs || clock.now() + waitMs >= deadlineMs) break
      if (attempts.count > 0) choice.upstream.counts.add('retries')
      const scope = openAbortScope([signal, this.#closing.signal])
      try {
        if (waitMs > 0) await pause(waitMs, scope.signal)
        signal?.throwIfAborted()
        if (this.#closing.signal.aborted) break
        const leftMs = deadlineMs - clock.now()
        // A silent upstream may use up only half of the time while there is another to ask.
        const silenceMs = attempts.isLast(choice.upstream) ? leftMs : Math.min(maxSilenceMs, leftMs / 2)
        scope.setDeadline(Math.min(maxAttemptMs, silenceMs), () => new AttemptTimeout())
        for (const { upstream, verdict } of await this.#attempt(
          work,
          choice.upstream,
          attempts,
          scope.signal
        )) {
          if (verdict.kind === 'value') return verdict.value
          if (verdict.kind === 'final') throw verdict.error
          attempts.note(upstream, verdict)
        }
        signal?.throwIfAborted()
        logger?.debug('a call to the node failed', {
          ...family.context,
          method: work.what,
          attempt: attempts.count,
          problem: attempts.lastProblem
        })
      } finally {
        scope.end()
      }
    }
    return attempts.conclude(this.#closing.signal.aborted, waitMs) as T
  }

  /** Has the same work done by every upstream in service. @returns the results of those that did it. */
  async runOnEach<T>(work: Work<N, T>, { signal, deadlineMs }: WorkLimits): Promise<readonly T[]> {
    const { clock, family } = this.#options
    const scope = openAbortScope([signal, this.#closing.signal])
    scope.setDeadline(deadlineMs - clock.now(), () => new AttemptTimeout())
    const asked = this.#upstreams.filter(upstream => upstream.isInService())
    const verdicts = await Promise.all(
      asked.map(upstream => attemptWork(upstream, work, scope.signal, family.judgeError))
    )
    scope.end()
    signal?.throwIfAborted()
    return verdicts.flatMap(verdict => (verdict.kind === 'value' ? [verdict.value] : []))
  }

  /** Returns the requests that all upstreams in service together take at the same time. */
  room(): number {
    return this.#upstreams.reduce(
      (sum, upstream) => sum + (upstream.isInService() ? upstream.window.size() : 0),
      0
    )
  }

  /** Asks anew what chain is served: every upstream has to show it again. @throws as `run` does. */
  identify(limits: WorkLimits): Promise<S | undefined> {
    for (const { identity } of this.#upstreams) identity?.forget()
    const work: Work<N, unknown> = {
      what: 'identity',
      kind: 'identity',
      ask: async (_, upstream) => upstream.identity?.check(this.#closing.signal)
    }
    return this.run(work, limits) as Promise<S | undefined>
  }

  /** Has upstreams that have shown something else than is expected by now show their chain again. */
  judgeIdentitiesAgain(): void {
    for (const { identity } of this.#upstreams) identity?.judgeAgain()
  }

  figures(): readonly Omit<UpstreamFigures, 'chainId' | 'role'>[] {
    return this.#upstreams.map(upstream => ({
      ...upstream.figures(),
      preferred: upstream === this.#preferred
    }))
  }

  /** Ends what is under way and refuses what comes later, both with a NodeUnavailableError. */
  close(): void {
    this.#closing.abort(new Error('closed'))
  }

  #connect(endpoint: NodeEndpoint, index: number): Upstream<N, S> {
    const { family, clock, logger, maxResponseBytes, maxBatchCalls = 1 } = this.#options
    return createUpstream({
      family,
      url: urlOf(endpoint),
      position: index + 1,
      limits: typeof endpoint === 'string' ? {} : endpoint,
      headers: typeof endpoint === 'string' ? {} : endpoint.headers,
      maxResponseBytes,
      maxBatchCalls,
      clock,
      closing: this.#closing.signal,
      bestHead: () => Math.max(0, ...this.#upstreams.flatMap(({ health }) => health.head ?? [])),
      hasOthers: () => this.#upstreams.some((other, at) => at !== index && other.isInService()),
      onAside: problem => {
        logger?.error('an upstream is put aside', { ...family.context, problem })
        this.#reconsider()
      }
    })
  }

  #reconsider(): void {
    const before = this.#preferred
    if (before === undefined) return
    const [best] = this.#upstreams
      .filter(upstream => upstream !== before && upstream.isInService())
      .sort((a, b) => b.health.score() - a.health.score() || a.position - b.position)
    if (best === undefined) return
    const isBetter = best.health.score() > before.health.score() * clearlyBetter
    if (!isBetter && before.isInService()) return
    this.#preferred = best
    const problem = `${best.name} after ${before.name}`
    const { family, logger } = this.#options
    logger?.debug('another upstream is preferred', { ...family.context, problem })
  }

  /** Checks all heads if a round is due, so that lag and latency are compared like with like. No work, no checks. */
  async #checkHeads(): Promise<void> {
    const { clock, family } = this.#options
    const { askHead, judgeError } = family
    const isOver = () => this.#closing.signal.aborted
    // With one upstream there is nothing to compare.
    if (
      !askHead ||
      this.#upstreams.length < 2 ||
      this.#isChecking ||
      clock.now() < this.#nextCheckMs ||
      isOver()
    )
      return
    this.#nextCheckMs = clock.now() + headCheck.intervalMs
    this.#isChecking = true
    const work: Work<N, void> = {
      what: 'head',
      kind: 'head',
      async ask(node, { health }) {
        const sentMs = performance.now()
        await askHead(node)
        health.checked(performance.now() - sentMs)
      }
    }
    const checked = this.#upstreams.filter(upstream => upstream.isCheckDue())
    const scope = openAbortScope([this.#closing.signal])
    scope.setDeadline(headCheck.timeoutMs, () => new AttemptTimeout())
    await Promise.all(checked.map(upstream => attemptWork(upstream, work, scope.signal, judgeError)))
    scope.end()
    this.#isChecking = false
    if (isOver()) return
    // Only now all of them have named a head of the same moment.
    const heads = checked.flatMap(({ health }) => health.head ?? [])
    for (const { health } of checked) {
      if (health.head !== undefined) health.sawHead(health.head, Math.max(...heads))
    }
    this.#reconsider()
  }

  /** Asks the chosen upstream, and a second one as well when the first takes longer than it usually does. */
  async #attempt<T>(
    work: Work<N, T>,
    first: Upstream<N, unknown>,
    attempts: Attempts<N>,
    signal: AbortSignal
  ): Promise<readonly Asked<N, T>[]> {
    const { judgeError } = this.#options.family
    this.#hedges.counted()
    const afterMs = this.#upstreams.length > 1 ? first.usualTimes.unusualAfterMs(work.kind) : undefined
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
    const chooseOther = () => {
      // A first upstream that has failed by now is followed by the next attempt.
      const other = hasAnswered ? undefined : attempts.choose(this.#preferred, first)
      return other === undefined || other.waitMs > 0 || !this.#hedges.take() ? undefined : other.upstream
    }
    function* contenders() {
      yield ask(first)
      const other = chooseOther()
      if (other === undefined) return
      other.counts.add('hedgesSent')
      yield ask(other)
    }
    const isFinal = ({ verdict }: Asked<N, T>) => verdict.kind === 'value' || verdict.kind === 'final'
    const race = { contenders: contenders(), staggerMs: afterMs, signal, isFinal }
    // It rejects when the signal aborts; the attempts then say how they ended.
    const winner = await raceStaggered<Asked<N, T>>(race).catch(() => undefined)
    if (winner === undefined || !isFinal(winner)) return Promise.all(all)
    if (winner.upstream !== first) winner.upstream.counts.add('hedgesWon')
    return [winner]
  }
}
