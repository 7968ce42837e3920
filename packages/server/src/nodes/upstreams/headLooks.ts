import type { Clock } from '../../platform/clock.ts'
import { ConfigError } from '../../platform/errors.ts'
import { openAbortScope } from './abortScope.ts'
import { isInService } from './chooseUpstream.ts'
import { reasonOf } from './pieceOfWork.ts'
import type { Upstream } from './upstream.ts'

/** Looks at the heads of all upstreams now and then, so that lag and latency are compared like with like. */
export interface HeadLooks {
  /** Starts a round of looks if one is due; costs nothing else. Called with every piece of work: no work, no looks. */
  begin(): void
}

/** One `eth_blockNumber` to each upstream, at most so often; one that is out of service is visited this way too. */
const intervalMs = 5_000
const timeoutMs = 5_000

/** @param onLooked - after each round that brought news. */
export function createHeadLooks(
  upstreams: readonly Upstream[],
  clock: Clock,
  closing: AbortSignal,
  onLooked: () => void
): HeadLooks {
  let nextMs = 0
  let isLooking = false

  function isDue(upstream: Upstream, now: number): boolean {
    if (upstream.identity.known() instanceof ConfigError) return upstream.identity.isDue('rare')
    return isInService(upstream, now)
  }

  async function look(upstream: Upstream): Promise<void> {
    const scope = openAbortScope([closing])
    scope.limit(timeoutMs)
    const startedMs = performance.now()
    try {
      await upstream.identify(scope.signal)
      const sentMs = performance.now()
      await upstream.node(scope.signal).request({ method: 'eth_blockNumber', params: [] })
      upstream.health.looked(performance.now() - sentMs)
      upstream.counts.work('ok', performance.now() - startedMs)
    } catch (error) {
      // What a failure means for the upstream has been noted where it happened.
      upstream.counts.work(reasonOf(error), performance.now() - startedMs)
    } finally {
      scope.end()
    }
  }

  async function lookAround(now: number): Promise<void> {
    isLooking = true
    const looked = upstreams.filter(upstream => isDue(upstream, now))
    await Promise.all(looked.map(look))
    isLooking = false
    if (closing.aborted) return
    // Only now all of them have named a head of the same moment.
    const heads = looked.flatMap(({ health }) => health.head ?? [])
    for (const { health } of looked) {
      if (health.head !== undefined) health.sawHead(health.head, Math.max(...heads))
    }
    onLooked()
  }

  return {
    begin() {
      const now = clock.now()
      // With one upstream there is nothing to compare.
      if (upstreams.length < 2 || isLooking || now < nextMs || closing.aborted) return
      nextMs = now + intervalMs
      void lookAround(now)
    }
  }
}
