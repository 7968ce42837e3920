import { afterEach, expect, it } from 'vitest'
import { type MethodContext, ResultStream } from '../../src/server/methods/MethodContext.ts'
import { address, request, type ServiceChanges, startService } from '../http/startService.ts'

const modestProjects = Array.from({ length: 9 }, (_, index) => `modest ${index}`)
const projects = ['greedy', ...modestProjects].map(projectId => ({
  projectId,
  serverKey: `key of ${projectId}`
}))
const authorizationOf = (projectId: string) => `Basic ${btoa(`${projectId}:key of ${projectId}`)}`
const holdings = { native: '0', tokens: [], nfts: [] }
const tokens = request('svc_getTokensAndNFTs', [address])
const history = request('svc_getTransactionsByAddress', [address])

const services: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
})

/** A service whose calls, and pieces of histories, keep the thread busy for a millisecond each. Histories never end. */
function start(rateLimit: NonNullable<ServiceChanges['rateLimit']>) {
  let begun = 0
  let calls = 0
  const work = () => {
    begun++
    for (const fromMs = performance.now(); performance.now() - fromMs < 1; ) {}
  }
  const endless = async function* ({ pause }: MethodContext) {
    for (; ; await pause?.()) {
      work()
      yield `"${'x'.repeat(300_000)}"`
    }
  }
  const service = startService({
    projects,
    rateLimit,
    // A test may be kept from the processor for long.
    overload: { eventLoopDelayMs: 10_000 },
    handlers: {
      svc_getTokensAndNFTs: async () => {
        calls++
        work()
        return holdings
      },
      svc_getTransactionsByAddress: async (_params, context) =>
        new ResultStream(endless(context), async () => {})
    }
  })
  services.push(service)
  const send = (projectId: string, body: string) =>
    service.post('/evm-chain', body, { headers: { authorization: authorizationOf(projectId) } })
  return { begun: () => begun, calls: () => calls, send }
}

it.each([
  ['without rate limits', false],
  ['with rate limits', { requestsPerSecond: 100, burst: 200 }]
] as const)(
  'one greedy project costs nine modest ones no call and few turns, %s',
  async (_what, rateLimit) => {
    const { begun, calls, send } = start(rateLimit)
    const unread = await Promise.all(Array.from({ length: 100 }, () => send('greedy', history)))
    // Its part of the views of a store.
    expect(unread.filter(({ status }) => status === 200)).toHaveLength(48)
    expect(unread.filter(({ status }) => status === 429)).toHaveLength(52)

    const batch = `[${Array(100).fill(tokens).join()}]`
    const batches = Array.from({ length: 5 }, () => send('greedy', batch))
    const statuses: number[] = []
    const turns: number[] = []
    for (let round = 0; round < 5; round++) {
      const before = begun()
      const modest = modestProjects.map(async projectId => {
        const answer = await send(projectId, tokens)
        turns.push(begun() - before)
        return answer.status
      })
      statuses.push(...(await Promise.all(modest)))
    }
    const left = (rateLimit === false ? 500 : 100) + 45 - calls()
    expect(statuses).toEqual(Array(45).fill(200))
    // Nine of their own, and about one in ten of the greedy one's.
    expect(Math.max(...turns)).toBeLessThan(40)
    // It was under way all the time.
    expect(left).toBeGreaterThan(0)
    for (const answer of batches) expect((await answer).status).toBe(200)
    for (const { body } of unread) await body?.cancel()
  }
)

it('pieces of long histories that one project reads cost other projects few turns', async () => {
  const { begun, send } = start(false)
  const histories = await Promise.all(Array.from({ length: 40 }, () => send('greedy', history)))
  let isOver = false
  const reading = histories.map(async ({ body }) => {
    const reader = body?.getReader()
    while (!isOver) await reader?.read()
    await reader?.cancel()
  })
  const turns: number[] = []
  for (let round = 0; round < 5; round++) {
    const before = begun()
    const modest = modestProjects.map(async projectId => {
      const { status } = await send(projectId, tokens)
      turns.push(begun() - before)
      return status
    })
    expect(await Promise.all(modest)).toEqual(Array(9).fill(200))
  }
  isOver = true
  await Promise.all(reading)
  expect(Math.max(...turns)).toBeLessThan(40)
})
