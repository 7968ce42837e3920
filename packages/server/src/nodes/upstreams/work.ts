import { ConfigError, NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { messageKindOf } from './errorWords.ts'
import type { Upstream } from './upstream.ts'
import { AttemptTimeout, type ErrorJudge, type FailureKind, UpstreamError } from './upstreamError.ts'

/** A read that one upstream does, or else another. Asking twice does no harm. */
export interface Work<N, T> {
  /** For messages: the method, mostly. */
  readonly what: string
  /** Durations are compared with those of the same kind. */
  readonly kind: string
  /** An upstream that lacks it is asked last. */
  readonly method?: string
  /** The block that it is about: an upstream that has not shown this height is asked only when no other has. */
  readonly height?: number | undefined
  /** An upstream that is behind is asked more often: it may catch up, and its address may stand for several nodes. */
  readonly awaitsNewer?: boolean
  /** Another upstream has named it: one that does not have it is asked again, after all others. */
  readonly mustExist?: boolean
  /** Name of an upstream that is asked last. */
  readonly avoid?: string | undefined
  /** Whatever upstream does it, the result is the same: it goes to the one with most room, not to the preferred one. */
  readonly isShared?: boolean
  /**
   * Does it at one upstream.
   * @throws {AbsentAnswer} this node does not have it, but another may.
   * @throws {NodeContradictionError} the answer is unsound.
   */
  ask(node: N, upstream: Upstream<N, unknown>): Promise<T>
}

/** Null, where another upstream may know better; `read` makes it the answer when none does. */
export class AbsentAnswer extends Error {
  readonly read: () => unknown

  constructor(read: () => unknown) {
    super('does not have it')
    this.read = read
  }
}

/** The end of one upstream's attempt. */
export type Verdict<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** The node's own error, which is the answer. */
  | { readonly kind: 'final'; readonly error: unknown }
  | { readonly kind: FailureKind; readonly error: Error }
  /** Aborted by the caller, or because another upstream was quicker. */
  | { readonly kind: 'aborted' }

/** Runs an attempt at one upstream, once it has shown its identity, and judges the outcome. Never throws. */
export async function attemptWork<N, T>(
  upstream: Upstream<N, unknown>,
  work: Work<N, T>,
  signal: AbortSignal,
  judgeError: ErrorJudge
): Promise<Verdict<T>> {
  const startedMs = performance.now()
  const verdict = await attempt(upstream, work, signal, judgeError)
  const durationMs = performance.now() - startedMs
  if (verdict.kind === 'aborted') return verdict
  if (verdict.kind === 'value') {
    upstream.usualTimes.add(work.kind, durationMs)
    upstream.counts.work('ok', durationMs)
    return verdict
  }
  const { kind, error } = verdict
  // A block below the head that it has named itself is one that it should have.
  const isBelowHead = work.height !== undefined && work.height <= (upstream.health.head ?? -1)
  const shouldHave = isBelowHead || work.mustExist === true
  const isBehind = error instanceof UpstreamError && error.fault === 'behind'
  if (error instanceof NodeContradictionError || isBehind || (kind === 'absent' && shouldHave)) {
    upstream.health.failed('unsound')
  }
  upstream.counts.work(outcomeOf(error), durationMs)
  return verdict
}

async function attempt<N, T>(
  upstream: Upstream<N, unknown>,
  work: Work<N, T>,
  signal: AbortSignal,
  judgeError: ErrorJudge
): Promise<Verdict<T>> {
  try {
    await upstream.identity?.check(signal)
    return { kind: 'value', value: await work.ask(upstream.createNode(signal), upstream) }
  } catch (error) {
    if (error instanceof AbsentAnswer) return { kind: 'absent', error }
    if (error instanceof UpstreamError) return { kind: 'failed', error }
    if (error instanceof ConfigError) return { kind: 'wrongChain', error }
    if (error instanceof NodeContradictionError || error instanceof NodeRpcError) {
      return { kind: judgeError(error), error }
    }
    if (!signal.aborted) return { kind: 'final', error }
    if (!(signal.reason instanceof AttemptTimeout)) return { kind: 'aborted' }
    return { kind: 'failed', error: new UpstreamError(`${upstream.name} did not answer in time`, 'timedOut') }
  }
}

/** Returns the outcome that an error is counted under. */
function outcomeOf(error: unknown): string {
  if (error instanceof UpstreamError) return error.fault
  if (error instanceof ConfigError) return 'wrongChain'
  if (error instanceof NodeContradictionError) return 'unsound'
  if (error instanceof AbsentAnswer) return 'absent'
  return error instanceof NodeRpcError && messageKindOf(error) === 'missingData' ? 'absent' : 'error'
}
