import type { Clock } from '../../platform/clock.ts'
import type { UpstreamFault } from './httpUpstream.ts'

/** What is known of one upstream from its own answers. Times are `clock.now()`. */
export interface UpstreamHealth {
  /** An exchange went through. */
  succeeded(): void
  /** @param retryAfterMs - what it asked for; rests at least that long. */
  failed(fault: UpstreamFault | 'unsound' | 'exhausted', retryAfterMs?: number): void
  /** A look at its head took this long. */
  looked(durationMs: number): void
  /** It has named this as its newest block, while `best` was the newest of all. */
  sawHead(head: number, best: number): void
  readonly head: number | undefined
  readonly lagBlocks: number
  /** 0 to 1, of its recent exchanges. */
  failureRate(): number
  /** From 0 (of no use) to 1. */
  score(): number
  /** Until then it is not asked at all: it said so. */
  readonly restUntilMs: number
  /** Until then it is not asked while another one is in service; 0 while in service. */
  readonly outUntilMs: number
  /** Until then it is not asked even when there is no other. */
  readonly visitAtMs: number
}

/** Weight of one more outcome in the failure rate, and of one more look in the latency. */
const outcomeWeight = 1 / 4
const latencyWeight = 1 / 4
/** A failure that is so old counts half. */
const halfLifeMs = 30_000
/**
 * So many failures in a row take it out of service; then it is visited again after a pause that doubles. Fewer would be
 * no sign of anything where many exchanges are under way at a time.
 */
const failuresUntilOut = 4
const firstOutMs = 500
const longestOutMs = 30_000
const firstVisitMs = 50
const longestVisitMs = 1_000
const longestRestMs = 30_000
const exhaustedRestMs = 60_000
/** Latency of a node that nobody has looked at yet. */
const assumedLatencyMs = 100
/** A latency that halves the score; a lag that does. One block behind is the ordinary way of a network. */
const halvingLatencyMs = 500
const halvingLagBlocks = 4
const ordinaryLagBlocks = 1
/** More counts no more: a node that names a head which does not exist must not make all others worthless. */
const mostLagBlocks = 8

/** @param random - from 0 to 1; spreads the pauses of many clients. */
export function createUpstreamHealth(clock: Clock, random: () => number = Math.random): UpstreamHealth {
  let rate = 0
  let ratedAtMs = clock.now()
  let latencyMs: number | undefined
  let failuresInARow = 0
  let throttlesInARow = 0
  let head: number | undefined
  let lagBlocks = 0
  let restUntilMs = 0
  let outUntilMs = 0
  let visitAtMs = 0

  const failureRate = () => rate * 0.5 ** ((clock.now() - ratedAtMs) / halfLifeMs)
  function rateOutcome(failure: 0 | 1): void {
    rate = failureRate() * (1 - outcomeWeight) + failure * outcomeWeight
    ratedAtMs = clock.now()
  }
  const grown = (firstMs: number, longest: number, times: number) =>
    Math.min(longest, firstMs * 2 ** Math.min(times, 30)) * (0.5 + random() / 2)

  return {
    succeeded() {
      rateOutcome(0)
      failuresInARow = 0
      throttlesInARow = 0
      outUntilMs = 0
      visitAtMs = 0
    },
    failed(fault, retryAfterMs) {
      const now = clock.now()
      rateOutcome(1)
      if (fault === 'throttled' || fault === 'exhausted' || retryAfterMs !== undefined) {
        const restMs =
          fault === 'exhausted' ? exhaustedRestMs : grown(firstVisitMs, longestRestMs, throttlesInARow)
        throttlesInARow++
        restUntilMs = Math.max(restUntilMs, now + (retryAfterMs ?? restMs))
        return
      }
      if (fault === 'unsound') {
        // It came from a node that is there: it costs score, twice, because its exchange has counted as a success, and no service.
        rateOutcome(1)
        return
      }
      failuresInARow++
      const pauses = failuresInARow - failuresUntilOut
      if (pauses < 0) return
      outUntilMs = now + grown(firstOutMs, longestOutMs, pauses)
      visitAtMs = now + grown(firstVisitMs, longestVisitMs, pauses)
    },
    looked(durationMs) {
      latencyMs = latencyMs === undefined ? durationMs : latencyMs + (durationMs - latencyMs) * latencyWeight
    },
    sawHead(seen, best) {
      head = seen
      lagBlocks = Math.max(0, best - seen)
    },
    get head() {
      return head
    },
    get lagBlocks() {
      return lagBlocks
    },
    failureRate,
    score() {
      const soundness = (1 - failureRate()) ** 2
      const speed = halvingLatencyMs / (halvingLatencyMs + (latencyMs ?? assumedLatencyMs))
      const lag = Math.min(mostLagBlocks, Math.max(0, lagBlocks - ordinaryLagBlocks))
      return soundness * speed * (halvingLagBlocks / (halvingLagBlocks + lag))
    },
    get restUntilMs() {
      return restUntilMs
    },
    get outUntilMs() {
      return outUntilMs
    },
    get visitAtMs() {
      return visitAtMs
    }
  }
}
