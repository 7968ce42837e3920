import { describe, expect, it } from 'vitest'
import { createQuota } from './createQuota.ts'

/** How many of the calls are allowed before the first refusal. */
async function allowedCalls(take: ReturnType<ReturnType<typeof createQuota>>): Promise<number> {
  for (let calls = 0; calls < 1_000; calls++) if (!(await take()).allowed) return calls
  return Number.POSITIVE_INFINITY
}

const rule = { requestsPerSecond: 1, burst: 40 }
const page = { projectId: 'one', origins: ['https://app.test'] }

describe('the quota', () => {
  it('gives client keys a quarter, counted apart from the server key', async () => {
    const quotaOf = createQuota(rule)
    expect(await allowedCalls(quotaOf(page))).toBe(10)
    expect(await allowedCalls(quotaOf({ projectId: 'one' }))).toBe(40)
  })

  it('counts each project by itself, over all of its callers', async () => {
    const quotaOf = createQuota(rule)
    expect(await allowedCalls(quotaOf(page))).toBe(10)
    expect(await allowedCalls(quotaOf({ ...page, origins: ['https://other.test'] }))).toBe(0)
    expect(await allowedCalls(quotaOf({ ...page, projectId: 'two' }))).toBe(10)
  })

  it('leaves client keys at least one call', async () => {
    expect(await allowedCalls(createQuota({ requestsPerSecond: 1, burst: 2 })(page))).toBe(1)
  })

  it('allows everything where there is none', async () => {
    expect(await allowedCalls(createQuota(false)(page))).toBe(Number.POSITIVE_INFINITY)
  })
})
