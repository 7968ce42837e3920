import type { Clock } from '../../platform/clock.ts'
import { openAbortScope } from '../../platform/concurrency/deadline.ts'
import type { Upstream } from './upstream.ts'
import { AttemptTimeout } from './upstreamError.ts'
import { outcomeOf } from './work.ts'

/** Checks the heads of all upstreams now and then, so that lag and latency are compared like with like. */
export interface HeadChecks {
  /** Starts a round of checks if one is due; costs nothing else. Called with all work: no work, no checks. */
  begin(): void
}

/** One call to each upstream, at most so often; one whose breaker was open is probed by it, too. */
const intervalMs = 5_000
const timeoutMs = 5_000

/**
 * @param askHead - asks for the newest block.
 * @param onChecked - called after each round.
 */
export function createHeadChecks<N>(options: {
  readonly upstreams: readonly Upstream<N, unknown>[]
  readonly askHead: (node: N) => Promise<unknown>
  readonly clock: Clock
  readonly closing: AbortSignal
  readonly onChecked: () => void
}): HeadChecks {
  const { upstreams, askHead, clock, closing, onChecked } = options
  let nextMs = 0
  let isChecking = false

  async function check(upstream: Upstream<N, unknown>): Promise<void> {
    const scope = openAbortScope([closing])
    scope.setDeadline(timeoutMs, () => new AttemptTimeout())
    const startedMs = performance.now()
    try {
      await upstream.identity?.check(scope.signal)
      const sentMs = performance.now()
      await askHead(upstream.createNode(scope.signal))
      upstream.health.checked(performance.now() - sentMs)
      upstream.counts.work('ok', performance.now() - startedMs)
    } catch (error) {
      // What a failure means for the upstream has been noted where it happened.
      upstream.counts.work(outcomeOf(error), performance.now() - startedMs)
    } finally {
      scope.end()
    }
  }

  async function checkAll(): Promise<void> {
    isChecking = true
    const checked = upstreams.filter(upstream => upstream.isCheckDue())
    await Promise.all(checked.map(check))
    isChecking = false
    if (closing.aborted) return
    // Only now all of them have named a head of the same moment.
    const heads = checked.flatMap(({ health }) => health.head ?? [])
    for (const { health } of checked) {
      if (health.head !== undefined) health.sawHead(health.head, Math.max(...heads))
    }
    onChecked()
  }

  return {
    begin() {
      const now = clock.now()
      // With one upstream there is nothing to compare.
      if (upstreams.length < 2 || isChecking || now < nextMs || closing.aborted) return
      nextMs = now + intervalMs
      void checkAll()
    }
  }
}
