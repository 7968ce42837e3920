import type { ErrorContext } from '@chain-data/index'
import type { Clock } from '../../platform/clock.ts'
import { openAbortScope, unlessAborted } from '../../platform/concurrency/deadline.ts'
import { ConfigError } from '../../platform/errors.ts'
import { AttemptTimeout, UpstreamError } from './upstreamError.ts'

/** The rules by which the upstreams of one family show which chain they serve. */
export interface IdentityRules<N, S> {
  /** Asks one upstream for it. @throws {UpstreamError} it does not tell. */
  ask(node: N, name: string): Promise<S>
  /** Compares it with what is expected. @returns the difference as the rest of a sentence; absent: none is known. */
  differenceIn(shown: S, name: string): string | undefined
  /** Names what it still has to show before it is used; absent: it is believed. */
  missingIn(shown: S): string | undefined
  /** Answers of another chain that are needed to believe it: behind a balancer, one may be a mistake. */
  readonly proofs: 1 | 2
  /** Bound on asking one upstream. */
  readonly timeoutMs: number
  /** Called with a sentence when an upstream turns out to serve another chain. */
  onWrong(problem: string): void
}

/** Knows whether one upstream serves the right chain, as far as it has shown. */
export type UpstreamIdentity<S> = ReturnType<typeof createUpstreamIdentity<never, S>>

/** A wrong upstream stays wrong until its operator changes something; sooner only while there is no right one. */
const recheckMs = { inPassing: 60_000, needed: 1_000 }

/** @param options.label, options.context - see `UpstreamFamily`. */
export function createUpstreamIdentity<N, S>(options: {
  readonly name: string
  readonly label: string
  readonly context: ErrorContext
  readonly rules: IdentityRules<N, S>
  readonly createNode: (signal: AbortSignal) => N
  readonly clock: Clock
  readonly closing: AbortSignal
}) {
  const { name, label, context, rules, createNode, clock, closing } = options
  let shown: { readonly value: S } | undefined
  let wrong: { readonly error: ConfigError; readonly sinceMs: number } | undefined
  let asking: Promise<S> | undefined

  const isDue = (ageMs: number) => wrong === undefined || clock.now() - wrong.sinceMs >= ageMs

  function judge(value: S): void {
    const difference = rules.differenceIn(value, name)
    if (difference === undefined) wrong = undefined
    else {
      const error = new ConfigError(`${label}${name} ${difference}`, context)
      if (error.message !== wrong?.error.message) rules.onWrong(error.message)
      wrong = { error, sinceMs: clock.now() }
    }
    shown = rules.missingIn(value) === undefined ? { value } : undefined
  }

  async function ask(): Promise<S> {
    const scope = openAbortScope([closing])
    scope.setDeadline(rules.timeoutMs, () => new AttemptTimeout())
    try {
      const node = createNode(scope.signal)
      let value = await rules.ask(node, name)
      for (let proofs = 1; proofs < rules.proofs && rules.differenceIn(value, name) !== undefined; proofs++) {
        value = await rules.ask(node, name)
      }
      judge(value)
      if (wrong !== undefined) throw wrong.error
      const missing = rules.missingIn(value)
      if (missing !== undefined) throw new UpstreamError(`${name} does not show ${missing}`, 'malformed')
      return value
    } finally {
      scope.end()
    }
  }

  return {
    /**
     * Makes sure of it: asks once after each new connection, for all callers that wait.
     * @throws {ConfigError} it serves another chain.
     * @throws {UpstreamError} it did not tell.
     */
    async check(signal: AbortSignal): Promise<S> {
      if (wrong !== undefined && !isDue(recheckMs.needed)) throw wrong.error
      if (wrong === undefined && shown !== undefined) return shown.value
      asking ??= ask().finally(() => {
        asking = undefined
      })
      return unlessAborted(asking, signal)
    },
    /** Reports whether it is known to serve another chain. */
    isWrong: () => wrong !== undefined,
    /** Reports whether an upstream known to be wrong was left alone for long enough to be asked again in passing. */
    isDue: () => isDue(recheckMs.inPassing),
    /** The connection was lost: behind the same address there may be another node now. */
    forget(): void {
      if (wrong === undefined) shown = undefined
    },
    /** Forgets what it has shown where that is not what is expected by now: behind the same address there may be another node. */
    judgeAgain(): void {
      wrong = undefined
      if (shown !== undefined && rules.differenceIn(shown.value, name) !== undefined) shown = undefined
    }
  }
}
