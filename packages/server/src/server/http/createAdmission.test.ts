import { describe, expect, it } from 'vitest'
import { createAdmission } from './createAdmission.ts'
import { watchLoopDelay } from './loopDelay.ts'

function start(options: { requestsInFlight?: number; delayMs?: number | false } = {}) {
  const clock = { ms: 0, now: () => clock.ms }
  let tick = () => {}
  const delay = watchLoopDelay(clock, run => {
    tick = run
    return { stop() {} }
  })
  const queue = { waitMs: 0, arrived() {}, enter: () => undefined, expectedWaitMs: () => queue.waitMs }
  // Every hundredth in turn: exact parts instead of likely ones.
  let turn = 0
  const random = () => (turn++ % 100) / 100
  const admission = createAdmission({
    requestsInFlight: 1_000,
    delayMs: 200,
    ...options,
    delay,
    queue,
    random
  })
  return {
    clock,
    queue,
    admission,
    /** A round of the event loop that took so long. */
    round(ms: number) {
      clock.ms += ms
      tick()
    },
    /** How many of a hundred requests are admitted. */
    admitted() {
      let admitted = 0
      for (let request = 0; request < 100; request++) {
        turn = request
        if (admission.begin() !== undefined) continue
        admitted++
        admission.end()
      }
      return admitted
    }
  }
}

describe('the admission of requests', () => {
  it('admits everything while the event loop is quick', () => {
    const { round, admitted } = start()
    for (let count = 0; count < 10; count++) round(120)
    expect(admitted()).toBe(100)
  })

  it('sheds a growing part between the limit and twice the limit, then everything', () => {
    const parts = [220, 270, 320, 370, 421, 900].map(ms => {
      const { round, admitted } = start()
      round(ms)
      round(ms)
      return admitted()
    })
    expect(parts).toEqual([100, 75, 50, 25, 0, 0])
  })

  it('sheds by what the queue says likewise, and at once', () => {
    const parts = [200, 250, 399, 400].map(waitMs => {
      const { queue, admitted } = start()
      queue.waitMs = waitMs
      return admitted()
    })
    expect(parts).toEqual([100, 75, 0, 0])
  })

  it('takes one long round for a hiccup, and a very long one for what it is', () => {
    const hiccup = start()
    hiccup.round(600)
    expect(hiccup.admitted()).toBe(100)
    const late = start()
    late.clock.ms += 20 + 1_100
    expect(late.admitted()).toBe(0)
  })

  it('sheds within a round that follows a long one', () => {
    const { round, clock, admitted } = start()
    round(520)
    clock.ms += 20 + 300
    expect(admitted()).toBe(50)
  })

  it('admits everything two quick rounds after an overload', () => {
    const { round, admitted } = start()
    for (let count = 0; count < 100; count++) round(2_000)
    expect(admitted()).toBe(0)
    round(20)
    round(20)
    expect(admitted()).toBe(100)
  })

  it('never sheds for delay where that is off', () => {
    const { round, admitted } = start({ delayMs: false })
    for (let count = 0; count < 10; count++) round(5_000)
    expect(admitted()).toBe(100)
  })

  it('refuses more than the requests allowed at once, until one ends', () => {
    const { admission } = start({ requestsInFlight: 2 })
    expect([admission.begin(), admission.begin()]).toEqual([undefined, undefined])
    expect(admission.begin()).toMatchObject({ status: 503 })
    expect(admission.inFlight()).toBe(2)
    admission.end()
    expect(admission.begin()).toBeUndefined()
  })

  it('tells waits from one to three seconds, the header never less than the body', () => {
    const { admission } = start({ requestsInFlight: 0 })
    const waits = Array.from({ length: 100 }, () => {
      const answer = admission.begin()
      if (answer instanceof Promise || typeof answer?.body !== 'string') throw new Error('expected a refusal')
      const { error } = JSON.parse(answer.body)
      expect(error).toMatchObject({ code: -32002, data: { reason: 'OVERLOADED' } })
      expect(Number(answer.headers['retry-after']) * 1_000).toBeGreaterThanOrEqual(error.data.retryAfterMs)
      return error.data.retryAfterMs
    })
    expect(Math.min(...waits)).toBe(1_000)
    expect(Math.max(...waits)).toBe(3_000)
    expect(new Set(waits).size).toBe(16)
  })

  it('refuses everything once it closes, and asks for the connection to be closed', () => {
    const { admission } = start()
    admission.beginClosing()
    expect(admission.begin()).toMatchObject({ status: 503, headers: { connection: 'close' } })
  })

  it('counts what it sheds by cause', async () => {
    const { round, admission, admitted } = start({ requestsInFlight: 1 })
    round(420)
    round(420)
    admitted()
    round(20)
    round(20)
    await admission.begin()
    await admission.begin()
    admission.beginClosing()
    await admission.begin()
    expect(admission.figures()).toEqual({
      shed: { delay: 100, in_flight: 1, closing: 1 },
      queueMs: 0,
      loopDelayMs: 0
    })
  })
})
