import { describe, expect, it, vi } from 'vitest'
import { arrival } from '../../../test/http/runGuard.ts'
import type { HttpAnswer } from '../guards/exchange.ts'
import { Answered } from '../guards/guards.ts'
import { createOverload } from './overload.ts'

const callOf = (projectId: string) =>
  ({ ...arrival(), caller: { projectId, kind: 'server' }, address: undefined }) as const

function start(options: { requestsInFlight?: number; delayMs?: number | false } = {}) {
  const clock = { ms: 0, now: () => clock.ms }
  let tick = () => {}
  const queue = {
    ...{ waitMs: 0, arrived() {}, enter: () => undefined, expectedWaitMs: () => queue.waitMs },
    isHeavy: (caller: string) => caller === 'server:heavy'
  }
  // Every hundredth in turn: exact parts instead of likely ones.
  let turn = 0
  const random = () => (turn++ % 100) / 100
  const onShed = vi.fn()
  const overload = createOverload({
    requestsInFlight: 1_000,
    delayMs: 200,
    ...options,
    onShed,
    now: clock.now,
    every: run => {
      tick = run
      return () => {}
    },
    queue,
    random
  })
  /** A request that is under way until `end` is called. */
  const begin = (projectId = 'heavy') => {
    const call = callOf(projectId)
    const found = overload.guard.check?.(call)
    if (found instanceof Answered) return { end() {}, answer: found.answer }
    const answer: HttpAnswer = { status: 200, headers: {}, body: '' }
    return { end: () => overload.guard.release?.(call), answer }
  }
  return {
    clock,
    queue,
    overload,
    onShed,
    begin,
    /** A request that is answered at once. */
    ask() {
      const { end, answer } = begin()
      end()
      return answer
    },
    /** A round of the event loop that took so long. */
    round(ms: number) {
      clock.ms += ms
      tick()
    },
    /** How many of a hundred requests are admitted. */
    async admitted(projectId?: string) {
      let admitted = 0
      for (let request = 0; request < 100; request++) {
        turn = request
        const { end, answer } = begin(projectId)
        end()
        if (answer.status === 200) admitted++
      }
      return admitted
    }
  }
}

describe('the overload guard', () => {
  it('admits everything while the event loop is quick', async () => {
    const { round, admitted } = start()
    for (let count = 0; count < 10; count++) round(120)
    expect(await admitted()).toBe(100)
  })

  it('sheds a growing part between the limit and twice the limit, then everything', async () => {
    const parts = [220, 270, 320, 370, 421, 900].map(ms => {
      const { round, admitted } = start()
      round(ms)
      round(ms)
      return admitted()
    })
    expect(await Promise.all(parts)).toEqual([100, 75, 50, 25, 0, 0])
  })

  it('sheds for the delay of the event loop none of callers with fewer requests', async () => {
    const parts = [220, 320, 420, 2_000].map(async ms => {
      const { round, admitted } = start()
      round(ms)
      round(ms)
      return [await admitted('heavy'), await admitted('light')]
    })
    expect(await Promise.all(parts)).toEqual([
      [100, 100],
      [50, 100],
      [0, 100],
      [0, 100]
    ])
  })

  it('is busy from a quarter of the limit on, and never without one', () => {
    const busy = [50, 51].map(waitMs => {
      const { queue, overload } = start()
      queue.waitMs = waitMs
      return overload.isBusy()
    })
    const unlimited = start({ delayMs: false })
    unlimited.queue.waitMs = 10_000
    expect([...busy, unlimited.overload.isBusy()]).toEqual([false, true, false])
  })

  it('sheds by what the queue says likewise, and at once', async () => {
    const parts = [200, 250, 399, 400].map(waitMs => {
      const { queue, admitted } = start()
      queue.waitMs = waitMs
      return admitted()
    })
    expect(await Promise.all(parts)).toEqual([100, 75, 0, 0])
  })

  it('takes one long round for a hiccup, and a very long one for what it is', async () => {
    const hiccup = start()
    hiccup.round(600)
    expect(await hiccup.admitted()).toBe(100)
    const late = start()
    late.clock.ms += 20 + 1_100
    expect(await late.admitted()).toBe(0)
  })

  it('sheds within a round that follows a long one', async () => {
    const { round, clock, admitted } = start()
    round(520)
    clock.ms += 20 + 300
    expect(await admitted()).toBe(50)
  })

  it('admits everything two quick rounds after an overload', async () => {
    const { round, admitted } = start()
    for (let count = 0; count < 100; count++) round(2_000)
    expect(await admitted()).toBe(0)
    round(20)
    round(20)
    expect(await admitted()).toBe(100)
  })

  it('never sheds for delay where that is off', async () => {
    const { round, admitted } = start({ delayMs: false })
    for (let count = 0; count < 10; count++) round(5_000)
    expect(await admitted()).toBe(100)
  })

  it('refuses more than the requests allowed at once, until one ends', async () => {
    const { overload, begin, ask } = start({ requestsInFlight: 2 })
    const first = begin()
    begin()
    expect(await ask()).toMatchObject({ status: 503 })
    expect(overload.inFlight()).toBe(2)
    first.end()
    expect(await ask()).toMatchObject({ status: 200 })
  })

  it('tells waits from one to three seconds, the header never less than the body', async () => {
    const { ask } = start({ requestsInFlight: 0 })
    const waits = await Promise.all(
      Array.from({ length: 100 }, async () => {
        const answer = await ask()
        const { error } = JSON.parse(String(answer.body))
        expect(error).toMatchObject({ code: -32002, data: { reason: 'OVERLOADED' } })
        expect(Number(answer.headers['retry-after']) * 1_000).toBeGreaterThanOrEqual(error.data.retryAfterMs)
        return error.data.retryAfterMs
      })
    )
    expect(Math.min(...waits)).toBe(1_000)
    expect(Math.max(...waits)).toBe(3_000)
    expect(new Set(waits).size).toBe(16)
  })

  it('refuses everything once it closes, and asks for the connection to be closed', async () => {
    const { overload, ask } = start()
    overload.beginClosing()
    expect(await ask()).toMatchObject({ status: 503, headers: { connection: 'close' } })
  })

  it('counts what it sheds by cause', async () => {
    const { round, overload, onShed, begin, ask, admitted } = start({ requestsInFlight: 1 })
    round(420)
    round(420)
    await admitted()
    round(20)
    round(20)
    begin()
    await ask()
    overload.beginClosing()
    await ask()
    expect(overload.figures()).toEqual({
      shed: { delay: 100, in_flight: 1, closing: 1 },
      queueMs: 0,
      loopDelayMs: 0
    })
    expect(onShed).toHaveBeenCalledTimes(102)
  })
})
