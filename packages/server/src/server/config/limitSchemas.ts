import { z } from 'zod'

const login = z.strictObject({
  attempts: z.int().min(1).max(1_000_000),
  windowMs: z.int().min(1).max(86_400_000),
  longestPauseMs: z.int().min(1).max(86_400_000)
})

/** How many wrong credentials an address may send, or `false`. */
export const loginSchema = z
  .union([z.literal(false), login])
  .default({ attempts: 20, windowMs: 60_000, longestPauseMs: 900_000 })
  .meta({
    description:
      'wrong credentials per address: { attempts (an integer from 1) within windowMs, then pauses of windowMs and ' +
      'longer, up to longestPauseMs (milliseconds up to a day) }, or false for no limit'
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
