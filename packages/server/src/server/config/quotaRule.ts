import { z } from 'zod'

const longestQuotaSeconds = 86_400

/** `burst` calls at once and `requestsPerSecond` on average, with a burst in at most a day. */
export const quotaRule = z
  .strictObject({
    requestsPerSecond: z.number().positive().max(1_000_000),
    burst: z.int().min(1).max(1_000_000)
  })
  // A longer time fits into no timer, and the quota would be whole again at once.
  .refine(({ requestsPerSecond, burst }) => burst / requestsPerSecond <= longestQuotaSeconds)
