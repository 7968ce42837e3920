import { ConfigError, NodeContradictionError, NodeRpcError } from '../../platform/errors.ts'
import { messageKindOf } from '../evm/jsonRpcChannel.ts'
import type { EvmNode } from '../evm/nodeCall.ts'
import { TimeUpError } from './abortScope.ts'
import { isMethodMissing } from './capabilities.ts'
import { UpstreamError } from './httpUpstream.ts'
import type { Upstream } from './upstream.ts'

/** Something to be had from one upstream, or else from another. All of it is reading, so asking twice does no harm. */
export interface PieceOfWork<T> {
  /** For messages: the method, mostly. */
  readonly what: string
  /** What is compared with its like when times are judged. */
  readonly kind: string
  readonly method?: string
  readonly height?: number | undefined
  ask(node: EvmNode, upstream: Upstream): Promise<unknown>
  /** This node does not have it, but another may. */
  isAbsent(raw: unknown): boolean
  /** @throws {NodeContradictionError} the answer is unsound. */
  read(raw: unknown, node: EvmNode): T
}

/** How one upstream's attempt at a piece of work ended. */
export type Verdict<T> =
  | { readonly kind: 'value'; readonly value: T }
  /** The node's own error, which is the answer. */
  | { readonly kind: 'final'; readonly error: unknown }
  /** Null, or an error in the like of "block not found". */
  | { readonly kind: 'absent'; readonly raw: unknown; readonly node: EvmNode }
  | { readonly kind: 'unavailable'; readonly error: NodeRpcError }
  | { readonly kind: 'unsound'; readonly error: NodeContradictionError }
  | { readonly kind: 'wrongChain'; readonly error: ConfigError }
  | { readonly kind: 'failed'; readonly error: UpstreamError }
  /** Called off: by the caller, or because another one was quicker. */
  | { readonly kind: 'calledOff' }

/** A verdict and whose it is. */
export interface Asked<T> {
  readonly upstream: Upstream
  readonly verdict: Verdict<T>
}

/** Runs a piece of work against one upstream, once it has shown its identity, and judges the outcome. Never throws. */
export async function workOn<T>(
  upstream: Upstream,
  work: PieceOfWork<T>,
  signal: AbortSignal
): Promise<Verdict<T>> {
  const startedMs = performance.now()
  const verdict = await judge(upstream, work, signal)
  const durationMs = performance.now() - startedMs
  if (verdict.kind === 'value') upstream.usualTimes.add(work.kind, durationMs)
  if (verdict.kind === 'unsound') upstream.health.failed('unsound')
  // A block below the head that it has named itself is one that it should have.
  if (verdict.kind === 'absent' && work.height !== undefined && work.height <= (upstream.health.head ?? -1)) {
    upstream.health.failed('unsound')
  }
  if (verdict.kind !== 'calledOff') upstream.counts.work(outcomeOf(verdict), durationMs)
  return verdict
}

async function judge<T>(upstream: Upstream, work: PieceOfWork<T>, signal: AbortSignal): Promise<Verdict<T>> {
  try {
    await upstream.identify(signal)
    const node = upstream.node(signal)
    const raw = await work.ask(node, upstream)
    if (work.isAbsent(raw)) return { kind: 'absent', raw, node }
    return { kind: 'value', value: work.read(raw, node) }
  } catch (error) {
    if (error instanceof UpstreamError) return { kind: 'failed', error }
    if (error instanceof ConfigError) return { kind: 'wrongChain', error }
    if (error instanceof NodeContradictionError) return { kind: 'unsound', error }
    if (error instanceof NodeRpcError) {
      const mayBeElsewhere = messageKindOf(error) === 'missingData' || isMethodMissing(error)
      return mayBeElsewhere ? { kind: 'unavailable', error } : { kind: 'final', error }
    }
    if (signal.aborted) {
      const timedOut = timeUp(signal, upstream.name)
      return timedOut === undefined ? { kind: 'calledOff' } : { kind: 'failed', error: timedOut }
    }
    return { kind: 'final', error }
  }
}

function timeUp(signal: AbortSignal, name: string): UpstreamError | undefined {
  if (!(signal.reason instanceof TimeUpError)) return undefined
  return new UpstreamError(`${name} did not answer in time`, 'timedOut')
}

function outcomeOf(verdict: Verdict<unknown>): string {
  if (verdict.kind === 'value') return 'ok'
  if (verdict.kind === 'absent' || verdict.kind === 'calledOff') return 'absent'
  return reasonOf(verdict.error)
}

/** The outcome that an error is counted under. */
export function reasonOf(error: unknown): string {
  if (error instanceof UpstreamError) return error.fault
  if (error instanceof ConfigError) return 'wrongChain'
  if (error instanceof NodeContradictionError) return 'unsound'
  if (error instanceof NodeRpcError) return messageKindOf(error) === 'missingData' ? 'absent' : 'error'
  return 'calledOff'
}
