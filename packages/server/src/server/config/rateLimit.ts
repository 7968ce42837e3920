import { z } from 'zod'
import { quotaRule } from './quotaRule.ts'

const rule = 'requestsPerSecond (above 0), burst (an integer from 1, which comes back in at most a day)'

const isStore = (text: string) =>
  text === 'memory' || (/^postgres(ql)?:\/\//i.test(text) && URL.canParse(text))

const defaults = {
  requestsPerSecond: 100,
  burst: 200,
  // What one person's browser asks for when a page opens, and then some.
  perAddress: { requestsPerSecond: 10, burst: 50 },
  store: 'memory'
}

const rateLimits = z
  .strictObject({
    requestsPerSecond: z.number().positive().max(1_000_000).default(defaults.requestsPerSecond),
    burst: z.int().min(1).max(1_000_000).default(defaults.burst),
    clientKeys: quotaRule.optional(),
    perAddress: z.union([z.literal(false), quotaRule]).default(defaults.perAddress),
    store: z.string().refine(isStore).default(defaults.store)
  })
  .refine(limits => quotaRule.safeParse(pick(limits)).success)

function pick({ requestsPerSecond, burst }: { requestsPerSecond: number; burst: number }) {
  return { requestsPerSecond, burst }
}

/** How often projects may call, or `false`. */
export const rateLimitSchema = z
  .union([z.literal(false), rateLimits])
  .default(defaults)
  .meta({
    description:
      `calls per project: { ${rule}, clientKeys, perAddress, store }: at most \`burst\` at once and ` +
      '`requestsPerSecond` on average; `clientKeys` likewise for all client keys of a project (a quarter when left ' +
      'out), `perAddress` for one address with client keys, or false; `store`: "memory", or the postgres:// URL of a ' +
      'database that servers share; or false for no limit'
  })
