import type { Clock } from '../../platform/clock.ts'
import { backOffMs, jittered } from '../../platform/concurrency/pause.ts'
import type { UpstreamFault } from './upstreamError.ts'

/** A circuit breaker: closed while calls go through, open while none should be sent, half-open while one more failure opens it again. */
type BreakerState = 'closed' | 'open' | 'halfOpen'

/** Holds what is known of one upstream from its own answers. Times are `clock.now()`. */
export type UpstreamHealth = ReturnType<typeof createUpstreamHealth>

/** Weight of one more outcome in the failure rate, and of one more check in the latency. */
const outcomeWeight = 1 / 4
const latencyWeight = 1 / 4
/** A failure that is so old counts half. */
const halfLifeMs = 30_000
/** Failures in a row that open the breaker. Fewer would prove nothing where many exchanges run at a time. */
const failuresToOpen = 4
const open = { firstMs: 500, maxMs: 30_000 }
const probe = { firstMs: 50, maxMs: 1_000 }
const throttle = { firstMs: 50, maxMs: 30_000 }
/** Time out of service after a block that others do not have; doubled each time. */
const aside = { firstMs: 10_000, maxMs: 3_600_000 }
/** An exhausted quota, and the longest back-off that a node can ask for. */
const maxBackOffMs = 60_000
/** Latency of a node that was not checked yet. */
const assumedLatencyMs = 100
/** A latency that halves the score; a lag that does. One block of lag is normal in a network. */
const halvingLatencyMs = 500
const halvingLagBlocks = 4
const normalLagBlocks = 1
/** More lag counts no more: a node that names a head which does not exist must not make all others worthless. */
const maxLagBlocks = 8

interface Failure {
  /** The pause that the node asked for. */
  readonly retryAfterMs?: number | undefined
  /** When the request began. */
  readonly startedMs?: number
}

export function createUpstreamHealth(clock: Clock) {
  let rate = 0
  let ratedAtMs = clock.now()
  let latencyMs: number | undefined
  let failures = 0
  let throttles = 0
  let throttledAtMs = Number.NEGATIVE_INFINITY
  let timesAside = 0
  let head: number | undefined
  let lagBlocks = 0
  let backOffUntilMs = 0
  let openUntilMs = 0
  let probeAtMs = 0

  const failureRate = () => rate * 0.5 ** ((clock.now() - ratedAtMs) / halfLifeMs)
  function rateOutcome(failure: 0 | 1): void {
    rate = failureRate() * (1 - outcomeWeight) + failure * outcomeWeight
    ratedAtMs = clock.now()
  }

  function throttled(fault: UpstreamFault | 'unsound', { retryAfterMs: askedMs, startedMs }: Failure): void {
    // Requests that were under way at the first refusal are refused with it: that is one finding.
    if (startedMs === undefined || startedMs >= throttledAtMs) {
      throttles++
      throttledAtMs = clock.now()
    } else if (askedMs === undefined) return
    const ownMs = fault === 'exhausted' ? maxBackOffMs : jittered(backOffMs(throttle, throttles))
    backOffUntilMs = Math.max(backOffUntilMs, clock.now() + Math.min(maxBackOffMs, askedMs ?? ownMs))
  }

  return {
    /** Notes an exchange that went through; closes the breaker. */
    succeeded(): void {
      rateOutcome(0)
      failures = 0
      throttles = 0
      openUntilMs = 0
      probeAtMs = 0
    },
    failed(fault: UpstreamFault | 'unsound', failure: Failure = {}): void {
      rateOutcome(1)
      if (fault === 'throttled' || fault === 'exhausted' || failure.retryAfterMs !== undefined) {
        throttled(fault, failure)
        return
      }
      if (fault === 'unsound') {
        // The node answered, so the breaker stays closed. Twice, because its exchange has counted as a success.
        rateOutcome(1)
        return
      }
      failures++
      const times = failures - failuresToOpen + 1
      if (times < 1) return
      openUntilMs = clock.now() + jittered(backOffMs(open, times))
      probeAtMs = clock.now() + jittered(backOffMs(probe, times))
    },
    /** Takes it out of service for a while. */
    putAside(): void {
      backOffUntilMs = Math.max(backOffUntilMs, clock.now() + backOffMs(aside, ++timesAside))
    },
    /** Notes how long a check of its head took. */
    checked(durationMs: number): void {
      latencyMs = latencyMs === undefined ? durationMs : latencyMs + (durationMs - latencyMs) * latencyWeight
    },
    /** Notes its newest block, while `best` was the newest of all upstreams. */
    sawHead(seen: number, best: number): void {
      head = seen
      lagBlocks = Math.max(0, best - seen)
    },
    get head() {
      return head
    },
    get lagBlocks() {
      return lagBlocks
    },
    /** From 0 (of no use) to 1. */
    score(): number {
      const soundness = (1 - failureRate()) ** 2
      const speed = halvingLatencyMs / (halvingLatencyMs + (latencyMs ?? assumedLatencyMs))
      const lag = Math.min(maxLagBlocks, Math.max(0, lagBlocks - normalLagBlocks))
      return soundness * speed * (halvingLagBlocks / (halvingLagBlocks + lag))
    },
    breaker(): BreakerState {
      if (failures < failuresToOpen) return 'closed'
      return clock.now() < openUntilMs ? 'open' : 'halfOpen'
    },
    /** End of the back-off that the node asked for, or was put aside for: until then it is not called at all. */
    get backOffUntilMs() {
      return backOffUntilMs
    },
    /** Earliest probe through an open breaker, for a pool that has no other upstream; 0 while the breaker is closed. */
    get probeAtMs() {
      return probeAtMs
    }
  }
}
