import type { Clock } from '../../platform/clock.ts'
import { backOffMs, jittered } from '../../platform/concurrency/pause.ts'
import { NodeContradictionError, NodeUnavailableError } from '../../platform/errors.ts'
import type { Upstream, UpstreamFamily } from './upstream.ts'
import { type FailureKind, failureKinds, UpstreamError } from './upstreamError.ts'
import { AbsentAnswer, type Verdict, type Work } from './work.ts'

/** An upstream and the time until it may be called; 0 for at once. */
interface Choice<N> {
  readonly upstream: Upstream<N, unknown>
  readonly waitMs: number
}

/**
 * Attempts at an upstream that is behind or limits the rate of calls count a fifth: what one upstream has shown, others will
 * know in some seconds, one URL may stand for several nodes, and a rate is found out by being refused.
 */
const awaitFactor = 5
/** Fifths of an attempt at an upstream that does not have what must exist. */
const absentFifths = 3

/** The past attempts at one upstream. */
interface Past {
  asked: number
  /** In fifths of an attempt. */
  spent: number
  /** Its next attempt may not begin before. */
  againAtMs: number
  /** Its answer would be the same again. */
  isFruitless: boolean
  isUnsound: boolean
}

interface AttemptOptions {
  readonly maxAttempts: number
  readonly firstPauseMs: number
  readonly clock: Clock
}

/** Holds the attempts at one work: which upstream is asked next, and what the failures mean. */
export class Attempts<N> {
  readonly #upstreams: readonly Upstream<N, unknown>[]
  readonly #work: Work<N, unknown>
  readonly #options: AttemptOptions
  readonly #family: Pick<UpstreamFamily<N, never>, 'label' | 'context'>
  readonly #pasts = new Map<Upstream<N, unknown>, Past>()
  readonly #failures = new Map<FailureKind, { readonly name: string; readonly error: Error }>()
  /** Attempts that have failed. */
  count = 0
  lastProblem = 'called off'

  constructor(
    upstreams: readonly Upstream<N, unknown>[],
    work: Work<N, unknown>,
    options: AttemptOptions,
    family: Pick<UpstreamFamily<N, never>, 'label' | 'context'>
  ) {
    this.#upstreams = upstreams
    this.#work = work
    this.#options = options
    this.#family = family
  }

  /**
   * Chooses the next upstream: in service before others, one that was asked less often, one that has shown the height
   * before one that has not, one that is to be avoided last, for shared work the one with most room, the preferred one before others, then by score.
   * @param beside - is being asked already.
   * @returns `undefined` when none is left.
   */
  choose(preferred: Upstream<N, unknown> | undefined, beside?: Upstream<N, unknown>): Choice<N> | undefined {
    const left = this.#upstreams.filter(upstream => upstream !== beside && !this.#isSpent(upstream))
    const fresh = this.#best(
      left.filter(upstream => !this.#pasts.get(upstream)?.isFruitless),
      preferred
    )
    if (beside !== undefined || fresh === undefined || fresh.upstream.isInService()) return fresh
    // Before one that is not in service is waited for, one whose answer was unsound is asked again: that mostly passes.
    const again = this.#best(
      left.filter(upstream => this.#pasts.get(upstream)?.isUnsound),
      preferred
    )
    return again !== undefined && again.waitMs < fresh.waitMs ? again : fresh
  }

  note(upstream: Upstream<N, unknown>, verdict: Verdict<unknown>): void {
    if (verdict.kind === 'value' || verdict.kind === 'final' || verdict.kind === 'aborted') return
    const { kind, error } = verdict
    const fault = error instanceof UpstreamError ? error.fault : undefined
    const { clock, firstPauseMs } = this.#options
    const past = this.#pasts.get(upstream) ?? {
      asked: 0,
      spent: 0,
      againAtMs: 0,
      isFruitless: false,
      isUnsound: false
    }
    this.#pasts.set(upstream, past)
    this.count++
    past.asked++
    const isPassing = fault === 'throttled' || (this.#work.awaitsNewer === true && fault === 'behind')
    const isMissed = this.#work.mustExist === true && kind === 'absent'
    past.spent += isPassing ? 1 : isMissed ? absentFifths : awaitFactor
    past.againAtMs =
      clock.now() + jittered(backOffMs({ firstMs: firstPauseMs, maxMs: 2 * firstPauseMs }, past.asked))
    past.isFruitless ||= (kind !== 'failed' && !isMissed) || fault === 'refused' || fault === 'tooLarge'
    past.isUnsound ||= kind === 'unsound'
    this.lastProblem = `${kind === 'absent' ? `${upstream.name} ` : ''}${error.message}`
    // The first of each kind; of failed exchanges the newest.
    if (kind === 'failed' || !this.#failures.has(kind))
      this.#failures.set(kind, { name: upstream.name, error })
  }

  /** Reports whether all other upstreams have been asked, or need not be. */
  isLast(upstream: Upstream<N, unknown>): boolean {
    return this.#upstreams.every(
      other => other === upstream || this.#pasts.has(other) || (other.identity?.isWrong() ?? false)
    )
  }

  /**
   * Ends the work by its most telling failure.
   * @param waitMs - until the next upstream may be called, for the message.
   * @returns what an absent answer is read as.
   * @throws that failure.
   */
  conclude(isClosed: boolean, waitMs: number): unknown {
    const { label, context } = this.#family
    const method = this.#work.what
    if (isClosed) throw new NodeUnavailableError(`${label}${method}: the connection is closed`)
    const kind = failureKinds.find(candidate => this.#failures.has(candidate))
    const { name, error } = (kind && this.#failures.get(kind)) ?? {}
    if (error instanceof AbsentAnswer) return error.read()
    if (error !== undefined && kind !== 'failed') throw error
    if (error instanceof NodeContradictionError) {
      throw new NodeContradictionError(`${label}${method}: ${name}: ${error.message}`, {
        ...context,
        method
      })
    }
    const problem = error?.message ?? `no upstream may be called for ${Math.ceil(waitMs)} ms`
    const facts = error instanceof UpstreamError ? error.context : {}
    throw new NodeUnavailableError(`${label}${method}: ${problem}`, { ...facts, ...context, method })
  }

  #isSpent(upstream: Upstream<N, unknown>): boolean {
    return (this.#pasts.get(upstream)?.spent ?? 0) >= this.#options.maxAttempts * awaitFactor
  }

  #waitFor(upstream: Upstream<N, unknown>): number {
    const { backOffUntilMs, probeAtMs } = upstream.health
    const mayAtMs = upstream.isInService() ? 0 : Math.max(backOffUntilMs, probeAtMs)
    return Math.max(
      0,
      Math.max(mayAtMs, this.#pasts.get(upstream)?.againAtMs ?? 0) - this.#options.clock.now()
    )
  }

  #compare(preferred: Upstream<N, unknown> | undefined) {
    const { method, height, avoid, isShared = false } = this.#work
    const timesAsked = (upstream: Upstream<N, unknown>) => this.#pasts.get(upstream)?.asked ?? 0
    const lacks = (upstream: Upstream<N, unknown>) =>
      Number(method !== undefined && upstream.capabilities.lacks(method))
    const isBehind = ({ health }: Upstream<N, unknown>) =>
      Number(height !== undefined && (health.head ?? -1) < height)
    return (a: Upstream<N, unknown>, b: Upstream<N, unknown>) =>
      lacks(a) - lacks(b) ||
      Number(a.name === avoid) - Number(b.name === avoid) ||
      timesAsked(a) - timesAsked(b) ||
      isBehind(a) - isBehind(b) ||
      (isShared ? a.window.load() - b.window.load() : 0) ||
      Number(b === preferred) - Number(a === preferred) ||
      b.health.score() - a.health.score() ||
      a.position - b.position
  }

  #best(
    candidates: readonly Upstream<N, unknown>[],
    preferred: Upstream<N, unknown> | undefined
  ): Choice<N> | undefined {
    const [upstream] = candidates.filter(candidate => candidate.isInService()).sort(this.#compare(preferred))
    if (upstream !== undefined) return { upstream, waitMs: this.#waitFor(upstream) }
    // None is well: the one that may be called first, those of another chain last of all.
    const isWrong = ({ upstream }: Choice<N>) => Number(upstream.identity?.isWrong() ?? false)
    const [soonest] = candidates
      .map(candidate => ({ upstream: candidate, waitMs: this.#waitFor(candidate) }))
      .sort((a, b) => isWrong(a) - isWrong(b) || a.waitMs - b.waitMs)
    return soonest
  }
}
