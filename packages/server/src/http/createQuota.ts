import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { TakeQuota } from '../rpc/createRpc.ts'

/** At most `burst` calls at once and `requestsPerSecond` on average, for each project. */
export interface QuotaRule {
  readonly requestsPerSecond: number
  readonly burst: number
}

/**
 * Counts the calls of each project in this process.
 *
 * @param rule - `false`: everything is allowed.
 * @remarks `retryAfterMs` is the time until the quota is whole again, so never shorter than the real wait.
 */
export function createQuota(rule: QuotaRule | false): (projectId: string) => TakeQuota {
  if (rule === false) return () => async () => ({ allowed: true })
  const limiter = new RateLimiterMemory({
    points: rule.burst,
    duration: rule.burst / rule.requestsPerSecond
  })
  return projectId => async () => {
    try {
      await limiter.consume(projectId)
      return { allowed: true }
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal
      return { allowed: false, retryAfterMs: Math.max(1, Math.ceil(refusal.msBeforeNext)) }
    }
  }
}
