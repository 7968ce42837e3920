import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { TakeQuota } from '../rpc/createRpc.ts'

/** At most `burst` calls at once and `requestsPerSecond` on average, for each project. */
export interface QuotaRule {
  readonly requestsPerSecond: number
  readonly burst: number
}

/** What the quota must know of a caller. */
export interface QuotaCaller {
  readonly projectId: string
  /** Present for a publishable client key. */
  readonly origins?: readonly string[]
}

/** Whoever reads a page can use its client key, so all client keys of a project together get this part of a quota. */
const clientShare = 1 / 4

/**
 * Counts the calls of each project in this process: those with its server key, and apart from them those with its
 * client keys, which so cannot use up what the server key needs.
 *
 * @param rule - of the server key; client keys get a quarter of it. `false`: everything is allowed.
 * @remarks `retryAfterMs` is the time until the quota is whole again, so never shorter than the real wait.
 */
export function createQuota(rule: QuotaRule | false): (caller: QuotaCaller) => TakeQuota {
  if (rule === false) return () => async () => ({ allowed: true })
  const server = createLimiter(rule)
  const client = createLimiter({
    requestsPerSecond: rule.requestsPerSecond * clientShare,
    burst: Math.max(1, Math.floor(rule.burst * clientShare))
  })
  return ({ projectId, origins }) => {
    const limiter = origins === undefined ? server : client
    return async () => {
      try {
        await limiter.consume(projectId)
        return { allowed: true }
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal
        return { allowed: false, retryAfterMs: Math.max(1, Math.ceil(refusal.msBeforeNext)) }
      }
    }
  }
}

function createLimiter({ requestsPerSecond, burst }: QuotaRule): RateLimiterMemory {
  return new RateLimiterMemory({ points: burst, duration: burst / requestsPerSecond })
}
