import { describe, expect, it } from 'vitest'
import { RequestQueue } from './requestQueue.ts'

/** A queue in a process in which every request keeps the thread busy for `workMs`. */
function start(workMs: number) {
  const clock = { ms: 0, now: () => clock.ms }
  let next: (() => void) | undefined
  const queue = new RequestQueue(clock.now, run => {
    next = run
  })
  const begun: number[] = []
  const enter = async (id: number, caller = 'a', had = 0) => {
    await queue.enter(caller, had)
    begun.push(id)
    clock.ms += workMs
  }
  return {
    queue,
    clock,
    begun,
    enter,
    /** Runs the next round; false when the queue wants none. */
    async round() {
      const run = next
      next = undefined
      run?.()
      await new Promise(resolve => setImmediate(resolve))
      return run !== undefined
    }
  }
}

describe('the queue of requests', () => {
  it('begins requests at once while their round is young', () => {
    const { queue } = start(0.3)
    expect([queue.enter('a'), queue.enter('a'), queue.enter('b')]).toEqual([undefined, undefined, undefined])
    expect(queue.expectedWaitMs()).toBe(0)
  })

  it('lets the others wait, and begins about a millisecond of them in every round, in their order', async () => {
    const { enter, begun, round } = start(0.25)
    const ids = Array.from({ length: 60 }, (_, id) => id)
    const all: Promise<void>[] = []
    for (const id of ids) {
      all.push(enter(id))
      await Promise.resolve()
    }
    expect(begun).toEqual([0, 1, 2, 3])
    const perRound: number[] = []
    while (begun.length < 60) {
      const before = begun.length
      await round()
      perRound.push(begun.length - before)
    }
    await Promise.all(all)
    expect(begun).toEqual(ids)
    expect(perRound).toEqual(Array(14).fill(4))
  })

  it('begins one request in a round where each takes long', async () => {
    const { enter, begun, round, clock } = start(5)
    await enter(0)
    const others = [1, 2, 3, 4, 5].map(id => enter(id))
    expect(begun).toEqual([0])
    await round()
    const counts: number[] = []
    for (let count = 0; count < 4; count++) {
      counts.push(begun.length)
      await round()
    }
    await Promise.all(others)
    expect(counts.every((length, index) => index === 0 || length - (counts[index - 1] ?? 0) <= 1)).toBe(true)
    expect(clock.ms).toBe(30)
  })

  it('tells how long the last one will wait, whatever else takes the time', async () => {
    const { queue, enter, round, clock } = start(0.4)
    await enter(0)
    clock.ms += 1
    for (let id = 1; id <= 500; id++) enter(id).catch(() => {})
    for (let count = 0; count < 60; count++) {
      clock.ms += 1
      await round()
    }
    const expected = queue.expectedWaitMs()
    const last = enter(501)
    const from = clock.ms
    let done = false
    last.then(
      () => {
        done = true
      },
      () => {}
    )
    while (!done) {
      clock.ms += 1
      await round()
    }
    expect(expected).toBeGreaterThan((clock.ms - from) * 0.8)
    expect(expected).toBeLessThan((clock.ms - from) * 1.2)
  })

  it('hears what comes before it begins more while the queue is long, for a millisecond at most', async () => {
    const { queue, enter, begun, round, clock } = start(5)
    await enter(0)
    const all = Array.from({ length: 50 }, (_, id) => enter(id + 1))
    expect(queue.expectedWaitMs()).toBeGreaterThan(20)
    for (let count = 0; count < 4; count++) {
      queue.arrived()
      await round()
      clock.ms += 0.3
      expect(begun).toHaveLength(1)
    }
    queue.arrived()
    await round()
    expect(begun).toHaveLength(2)
    // Nothing came: no reason to wait.
    await round()
    expect(begun).toHaveLength(3)
    while (begun.length < 51) await round()
    await Promise.all(all)
  })

  it('tells at once when turns take longer than before', async () => {
    const { queue, enter, clock } = start(0.4)
    await enter(0)
    clock.ms += 1
    enter(1).catch(() => {})
    expect(queue.expectedWaitMs()).toBeLessThan(1)
    clock.ms += 300
    expect(queue.expectedWaitMs()).toBe(300)
  })

  it('rests once everything has begun', async () => {
    const { queue, enter, round } = start(2)
    await Promise.all([enter(0), enter(1), round(), round()])
    await round()
    expect(await round()).toBe(false)
    expect(queue.enter('a')).toBeUndefined()
  })

  it('begins requests of callers in turn, so that few of one do not wait for many of another', async () => {
    const { queue, enter, begun, round } = start(5)
    await enter(0)
    const greedy = Array.from({ length: 100 }, (_, id) => enter(id + 1, 'greedy'))
    const modest = [enter(1_001, 'b'), enter(1_002, 'b'), enter(1_003, 'c')]
    // Behind the two of its own and as many of each other caller; the first turns are measured as half a millisecond.
    expect(queue.expectedWaitMs('b')).toBe(0.5 * (2 + 3 + 1))
    expect(queue.expectedWaitMs('d')).toBe(0.5 * 3)
    expect(queue.expectedWaitMs('greedy')).toBe(0.5 * (100 + 2 + 1))
    expect(queue.expectedWaitMs()).toBe(0.5 * 103)
    while (begun.length < 7) await round()
    expect(begun).toEqual([0, 1, 1_001, 1_003, 2, 1_002, 3])
    while (begun.length < 104) await round()
    await Promise.all([...greedy, ...modest])
    expect(queue.expectedWaitMs('greedy')).toBe(0)
  })

  it('finishes what a caller has begun before it begins more of the same, for a few turns', async () => {
    const { enter, begun, round } = start(5)
    await enter(0)
    const goOn = async (id: number) => {
      for (let had = 0; had < 6; had++) await enter(10 * id + had, 'a', had)
    }
    const all = [goOn(1), goOn(2), enter(100, 'b')]
    while (begun.length < 14) await round()
    await Promise.all(all)
    expect(begun).toEqual([0, 10, 100, 11, 12, 13, 20, 21, 22, 23, 14, 24, 15, 25])
  })

  it('knows who began more than others lately', () => {
    const { queue, clock } = start(0)
    const enter = (caller: string, times: number) => {
      for (let time = 0; time < times; time++) void queue.enter(caller)
    }
    const areHeavy = () => ['greedy', 'b', 'c', 'nobody'].map(caller => queue.isHeavy(caller))
    enter('greedy', 30)
    expect(areHeavy()).toEqual([true, false, false, false])
    enter('b', 3)
    enter('c', 3)
    expect(areHeavy()).toEqual([true, false, false, false])
    clock.ms += 1_500
    enter('b', 1)
    expect(areHeavy()).toEqual([true, false, false, false])
    clock.ms += 1_500
    enter('b', 1)
    expect(areHeavy()).toEqual([false, true, false, false])
  })
})
