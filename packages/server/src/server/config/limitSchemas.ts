import { availableParallelism } from 'node:os'
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

const rule = 'requestsPerSecond (above 0), burst (an integer from 1, which comes back in at most a day)'

const defaults = {
  requestsPerSecond: 100,
  burst: 200,
  // What one person's browser asks for when a page opens, and then some.
  perAddress: { requestsPerSecond: 10, burst: 50 }
}

const rateLimits = z
  .strictObject({
    requestsPerSecond: z.number().positive().max(1_000_000).default(defaults.requestsPerSecond),
    burst: z.int().min(1).max(1_000_000).default(defaults.burst),
    clientKeys: quotaRule.optional(),
    perAddress: z.union([z.literal(false), quotaRule]).default(defaults.perAddress)
  })
  .refine(limits => quotaRule.safeParse(pick(limits)).success)

function pick({ requestsPerSecond, burst }: { requestsPerSecond: number; burst: number }) {
  return { requestsPerSecond, burst }
}

/** Quotas of projects, or `false`. */
export const rateLimitSchema = z
  .union([z.literal(false), rateLimits])
  .default(defaults)
  .meta({
    description:
      `calls per project: { ${rule}, clientKeys, perAddress }: at most \`burst\` at once and ` +
      '`requestsPerSecond` on average; `clientKeys` likewise for all client keys of a project (a quarter when left ' +
      'out), `perAddress` for one address with client keys, or false; or false for no limit'
  })

const login = z.strictObject({
  attempts: z.int().min(1).max(1_000_000),
  windowMs: z.int().min(1).max(86_400_000)
})

/** The login throttle, or `false`. */
export const loginSchema = z
  .union([z.literal(false), login])
  .default({ attempts: 20, windowMs: 60_000 })
  .meta({
    description:
      'wrong credentials per address: { attempts (an integer from 1) within windowMs (milliseconds up to a day), then ' +
      'a wait of windowMs }, or false for no limit'
  })

/** When load is shed, or `false`. */
export const overloadSchema = z
  .union([z.literal(false), z.strictObject({ eventLoopDelayMs: z.int().min(10).max(60_000) })])
  .default({ eventLoopDelayMs: 200 })
  .meta({
    description:
      'when load is shed: { eventLoopDelayMs (10 to 60000): how long requests may wait for their turn before some ' +
      'are refused, all at twice that }, or false for never'
  })

/** More would wait for the thread that writes a chain; two cores are busy with that thread and the chain's own. */
const maxDefaultThreads = 4

const threads = z
  .int()
  .min(0)
  .max(64)
  .default(() => Math.min(maxDefaultThreads, Math.max(0, availableParallelism() - 2)))

/** How the chains are indexed, or `false`. */
export const indexingSchema = z
  .union([
    z.literal(false),
    z.literal(true).transform(() => ({ threads: threads.parse(undefined) })),
    z.strictObject({ threads })
  ])
  .prefault(true)
  .meta({
    description:
      'index the chains, or wait to do so while another process does: true, or { threads (0 to 64) } for other threads ' +
      'than two fewer than cores, 0 to 4, in which blocks are decoded while chains catch up; or false for a process ' +
      'that only answers (not with "sqlite::memory:")'
  })
