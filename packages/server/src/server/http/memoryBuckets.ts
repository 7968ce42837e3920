import { RateLimiterCompatibleAbstract, RateLimiterRes } from 'rate-limiter-flexible'
import { BoundedMap } from '../../platform/boundedMap.ts'
import type { Clock } from '../../platform/clock.ts'

/** At most `burst` calls at once and `requestsPerSecond` on average. */
export interface QuotaRule {
  readonly requestsPerSecond: number
  readonly burst: number
}

/** Far more keys than one process serves at the same time; a bucket takes some 200 bytes. */
const largestNumberOfKeys = 100_000

/** Calls are whole, and time is not: this much of one may be missing. */
export const smallestPart = 1e-6

/**
 * Token buckets in this process, one for each key, as a limiter of rate-limiter-flexible. That library's own limiters
 * count in windows, and let twice the burst pass where one window ends and the next one begins.
 *
 * @remarks Of a bucket only the moment is kept at which it will be full again. A key that was not used for longest is
 *   forgotten first once there are 100,000; its bucket is then full.
 */
export class MemoryBuckets extends RateLimiterCompatibleAbstract {
  override readonly keyPrefix = ''
  override blockDuration = 0
  override execEvenly = false
  readonly #rule: QuotaRule
  readonly #msPerCall: number
  readonly #clock: Clock
  readonly #fullAt = new BoundedMap<string, number>(largestNumberOfKeys)

  constructor(rule: QuotaRule, clock: Clock) {
    super()
    this.#rule = rule
    this.#msPerCall = 1_000 / rule.requestsPerSecond
    this.#clock = clock
  }

  /**
   * Takes as many of the calls as fit.
   *
   * @throws {RateLimiterRes} Not all of them fit: `consumedPoints` is `burst` and what did not fit, `msBeforeNext` the
   *   wait for one call.
   */
  override consume(key: string, calls = 1): Promise<RateLimiterRes> {
    const now = this.#clock.now()
    const fullAt = Math.max(this.#fullAt.get(key) ?? now, now)
    const room = this.#rule.burst - (fullAt - now) / this.#msPerCall
    const fitting = Math.min(calls, Math.max(0, Math.floor(room + smallestPart)))
    this.#fullAt.set(key, fullAt + fitting * this.#msPerCall)
    const outcome = quotaOutcome({
      rule: this.#rule,
      calls,
      fitting,
      fullInMs: fullAt + fitting * this.#msPerCall - now
    })
    return fitting === calls ? Promise.resolve(outcome) : Promise.reject(outcome)
  }

  /** Gives back calls that were taken and not used. */
  override reward(key: string, calls = 1): Promise<RateLimiterRes> {
    const fullAt = this.#fullAt.get(key)
    if (fullAt !== undefined) this.#fullAt.set(key, fullAt - calls * this.#msPerCall)
    return Promise.resolve(new RateLimiterRes())
  }
}

/**
 * What became of some calls, in the terms of rate-limiter-flexible.
 *
 * @param taken.fullInMs - time until the bucket is full again, after `fitting` calls were taken.
 */
export function quotaOutcome(taken: {
  readonly rule: QuotaRule
  readonly calls: number
  readonly fitting: number
  readonly fullInMs: number
}): RateLimiterRes {
  const { rule, calls, fitting, fullInMs } = taken
  const msPerCall = 1_000 / rule.requestsPerSecond
  const used = Math.ceil(fullInMs / msPerCall - smallestPart)
  const refused = calls - fitting
  const msBeforeNext = Math.max(0, Math.ceil(fullInMs - (rule.burst - 1) * msPerCall))
  return new RateLimiterRes(
    Math.max(0, rule.burst - used),
    refused > 0 ? Math.max(1, msBeforeNext) : msBeforeNext,
    refused > 0 ? rule.burst + refused : used,
    false
  )
}
