import { describe, expect, it } from 'vitest'
import { NodeUnavailableError } from '../../../../platform/errors.ts'
import { createPace } from './createPace.ts'

/** A node that answers so many calls in each second, and a clock that waiting moves. */
function limitedNode(perSecond: number) {
  let nowMs = 1_000_000
  let second = { number: 0, calls: 0 }
  const pace = createPace({ now: () => nowMs }, async ms => {
    nowMs += ms
  })
  async function ask(calls: number): Promise<number> {
    // What the pool of upstreams waits before it gives up.
    nowMs += 10
    const number = Math.floor(nowMs / 1_000)
    if (number !== second.number) second = { number, calls: 0 }
    second.calls += calls
    if (second.calls > perSecond) throw new NodeUnavailableError('limited', { fault: 'throttled' })
    return calls
  }
  return { pace, ask, nowMs: () => nowMs }
}

describe('the pace of calls', () => {
  it('comes close to the rate that a node allows, and loses no work', async () => {
    const { pace, ask, nowMs } = limitedNode(16)
    const beganMs = nowMs()
    let done = 0
    while (done < 1_000) {
      const calls = Math.min(80, pace.maxCalls())
      const refuse = (error: unknown) => {
        expect(calls, String(error)).toBeGreaterThan(pace.maxCalls())
        return 0
      }
      done += await pace.run(calls, undefined, () => ask(calls)).catch(refuse)
    }
    const seconds = (nowMs() - beganMs) / 1_000
    expect(done / seconds).toBeGreaterThan(8)
    expect(done / seconds).toBeLessThanOrEqual(16)
  })

  it('bounds nothing where a node refuses nothing', async () => {
    const { pace, ask, nowMs } = limitedNode(Number.POSITIVE_INFINITY)
    const beganMs = nowMs()
    for (let times = 0; times < 50; times++) await pace.run(100, undefined, () => ask(100))
    expect(nowMs() - beganMs).toBe(500)
  })

  it('gives up where a node refuses for good, and passes other errors on', async () => {
    const { pace, ask } = limitedNode(0)
    await expect(pace.run(1, undefined, () => ask(1))).rejects.toThrow('limited')
    await expect(pace.run(1, undefined, () => Promise.reject(new Error('other')))).rejects.toThrow('other')
  })
})
