import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../platform/clock.ts'
import { NodeUnavailableError } from '../../platform/errors.ts'
import type { Logger } from '../../platform/logger.ts'
import { openAbortScope } from './abortScope.ts'
import { type Choice, chooseUpstream, reconsider } from './chooseUpstream.ts'
import { createHeadLooks } from './headLooks.ts'
import { createHedge } from './hedge.ts'
import type { UpstreamError } from './httpUpstream.ts'
import { type Asked, type PieceOfWork, type Verdict, workOn } from './pieceOfWork.ts'
import { raceTwo } from './raceTwo.ts'
import type { Upstream } from './upstream.ts'

export interface UpstreamPoolOptions {
  readonly chainId: number
  /** At least one. */
  readonly upstreams: readonly Upstream[]
  readonly maxAttempts: number
  readonly clock: Clock
  readonly closing: AbortSignal
  readonly logger?: Logger
}

export interface WorkLimits {
  readonly signal?: AbortSignal | undefined
  /** Bound on everything, pauses included. */
  readonly timeoutMs: number
}

/** The upstreams of one chain as one: whoever can do a piece of work does it. */
export interface UpstreamPool {
  /**
   * Has a piece of work done by one upstream after another until one does it soundly, the attempts are used up, or time is.
   * @throws {NodeContradictionError} nobody answered soundly; the first such answer.
   * @throws {NodeRpcError} the node's own error, when it is final or nobody knows better.
   * @throws {ConfigError} every upstream serves another chain.
   * @throws {NodeUnavailableError} nobody answered in time, or all of them asked to be left alone for longer.
   */
  run<T>(work: PieceOfWork<T>, limits: WorkLimits): Promise<T>
  preferred(): Upstream
}

/**
 * First pause before an upstream is asked again for the same work; doubles, each drawn with full jitter. Short: whoever
 * limits the rate of calls says so and rests, and in a window of blocks all wait for the last one.
 */
const firstPauseMs = 12
const longestPauseMs = 3_000

export function createUpstreamPool(options: UpstreamPoolOptions): UpstreamPool {
  const { chainId, upstreams, maxAttempts, clock, closing, logger } = options
  const hedge = createHedge()
  const [first] = upstreams
  if (first === undefined) throw new Error('a pool needs an upstream')
  let preferred = first
  const prefer = () => {
    const before = preferred
    preferred = reconsider(upstreams, preferred, clock)
    if (preferred !== before) {
      logger?.debug('another upstream is preferred', {
        chainId,
        problem: `${preferred.name} after ${before.name}`
      })
    }
  }
  const looks = createHeadLooks(upstreams, clock, closing, prefer)

  async function run<T>(work: PieceOfWork<T>, { signal, timeoutMs }: WorkLimits): Promise<T> {
    signal?.throwIfAborted()
    const deadlineMs = clock.now() + timeoutMs
    const findings: Findings<T> = { asked: new Map(), fruitless: new Set(), unsoundOnes: new Set() }
    looks.begin()
    for (let attempt = 1; attempt <= maxAttempts; attempt++) {
      const choice = choose(work, findings)
      if (choice === undefined || closing.aborted) break
      const timesAsked = findings.asked.get(choice.upstream) ?? 0
      const pauseMs = Math.max(choice.waitMs, jitteredPause(timesAsked))
      // A pause that outlives the deadline cannot end well: say so now.
      if (clock.now() + pauseMs >= deadlineMs) {
        findings.restMs = pauseMs
        break
      }
      if (attempt > 1) choice.upstream.counts.retry()
      const scope = openAbortScope([signal, closing])
      try {
        if (pauseMs > 0) await sleep(pauseMs, undefined, { signal: scope.signal }).catch(() => undefined)
        signal?.throwIfAborted()
        if (closing.aborted) break
        const leftMs = deadlineMs - clock.now()
        // With somebody else to ask, a silent upstream may use up only half of the time.
        scope.limit(upstreams.length > 1 && attempt < maxAttempts ? leftMs / 2 : leftMs)
        for (const { upstream, verdict } of await askOneOrTwo(work, choice, findings, scope.signal)) {
          if (verdict.kind === 'value') return verdict.value
          if (verdict.kind === 'final') throw verdict.error
          note(findings, upstream, verdict)
        }
        signal?.throwIfAborted()
        prefer()
        logger?.debug('a call to the node failed', {
          chainId,
          method: work.what,
          attempt,
          problem: findings.last ?? 'called off'
        })
      } finally {
        scope.end()
      }
    }
    return conclude(work, findings)
  }

  /**
   * Somebody who has not answered yet; but before one that rests is waited for, one whose answer was unsound may be asked
   * again: such answers mostly pass.
   */
  function choose<T>(work: PieceOfWork<T>, findings: Findings<T>): Choice | undefined {
    const { asked, fruitless, unsoundOnes } = findings
    const fresh = chooseUpstream(upstreams, { ...work, preferred, asked, without: fruitless }, clock)
    if (fresh === undefined || fresh.waitMs === 0) return fresh
    const others = new Set(upstreams.filter(upstream => !unsoundOnes.has(upstream)))
    const again = chooseUpstream(upstreams, { ...work, preferred, asked, without: others }, clock)
    return again !== undefined && again.waitMs < fresh.waitMs ? again : fresh
  }

  /** The chosen upstream, and a second one beside it when the first takes longer than it usually does. */
  async function askOneOrTwo<T>(
    work: PieceOfWork<T>,
    { upstream }: Choice,
    { fruitless }: Findings<T>,
    signal: AbortSignal
  ): Promise<readonly Asked<T>[]> {
    hedge.counted()
    const unusualAfterMs = upstreams.length > 1 ? upstream.usualTimes.unusualAfterMs(work.kind) : undefined
    const run = (on: Upstream, within: AbortSignal) => workOn(on, work, within)
    if (unusualAfterMs === undefined) return [{ upstream, verdict: await run(upstream, signal) }]
    return raceTwo({
      first: upstream,
      run,
      afterMs: unusualAfterMs,
      signal,
      second() {
        const without = new Set([...fruitless, upstream])
        const other = chooseUpstream(upstreams, { ...work, preferred, without }, clock)
        return other !== undefined && other.waitMs === 0 && hedge.take() ? other.upstream : undefined
      }
    })
  }

  function conclude<T>(work: PieceOfWork<T>, findings: Findings<T>): T {
    const { unsound, absent, unavailable, wrongChain, failed } = findings
    if (closing.aborted) {
      throw new NodeUnavailableError(`chain ${chainId}: ${work.what}: the connection is closed`)
    }
    // What was said is more telling than that somebody else said nothing.
    if (unsound !== undefined) throw unsound
    if (absent !== undefined) return work.read(absent.raw, absent.node)
    if (unavailable !== undefined) throw unavailable
    if (wrongChain !== undefined && failed === undefined) throw wrongChain
    const problem = failed?.message ?? `no upstream may be called for ${Math.ceil(findings.restMs ?? 0)} ms`
    throw new NodeUnavailableError(`chain ${chainId}: ${work.what}: ${problem}`, {
      chainId,
      method: work.what,
      fault: failed?.fault,
      httpStatus: failed?.httpStatus,
      retryAfterMs: failed?.retryAfterMs
    })
  }

  return { run, preferred: () => preferred }
}

/** What has come out of the attempts at one piece of work, the first of each kind. */
interface Findings<T> {
  /** How often each upstream was asked. */
  readonly asked: Map<Upstream, number>
  /** Those whose answer would be the same again. */
  readonly fruitless: Set<Upstream>
  /** Those of them that contradicted themselves. */
  readonly unsoundOnes: Set<Upstream>
  unsound?: (Verdict<T> & { kind: 'unsound' })['error']
  absent?: Verdict<T> & { kind: 'absent' }
  unavailable?: (Verdict<T> & { kind: 'unavailable' })['error']
  wrongChain?: (Verdict<T> & { kind: 'wrongChain' })['error']
  /** The newest one. */
  failed?: UpstreamError
  restMs?: number
  last?: string
}

function note<T>(findings: Findings<T>, upstream: Upstream, verdict: Verdict<T>): void {
  findings.asked.set(upstream, (findings.asked.get(upstream) ?? 0) + 1)
  switch (verdict.kind) {
    case 'failed': {
      findings.failed = verdict.error
      findings.last = verdict.error.message
      const isPointless = verdict.error.fault === 'refused' || verdict.error.fault === 'tooLarge'
      if (isPointless) findings.fruitless.add(upstream)
      return
    }
    case 'absent':
      findings.absent ??= verdict
      findings.last = `${upstream.name} does not have it`
      break
    case 'unsound':
      findings.unsound ??= verdict.error
      findings.unsoundOnes.add(upstream)
      findings.last = verdict.error.message
      break
    case 'unavailable':
      findings.unavailable ??= verdict.error
      findings.last = verdict.error.message
      break
    case 'wrongChain':
      findings.wrongChain ??= verdict.error
      findings.last = verdict.error.message
      break
    default:
      return
  }
  findings.fruitless.add(upstream)
}

/** Somebody who has not been asked yet is asked at once. */
function jitteredPause(timesAsked: number): number {
  return timesAsked === 0 ? 0 : Math.random() * Math.min(longestPauseMs, firstPauseMs * 2 ** timesAsked)
}
