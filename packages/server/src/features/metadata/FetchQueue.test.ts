import { expect, test } from 'vitest'
import { FetchQueue, type FetchQueueLimits, type Line } from './FetchQueue.ts'

const never = new AbortController().signal
const turn = () => new Promise(resolve => setImmediate(resolve))
const busy = { context: { reason: 'BUSY' } }

/** Tasks that run until told to end, with the greatest number seen at once. */
function createWork(limits: Partial<FetchQueueLimits>) {
  const queue = new FetchQueue({ total: 32, perHost: 4, waiting: 1000, patienceMs: 60_000, ...limits })
  const running = new Map<string, number>()
  const started: string[] = []
  const ends: (() => void)[] = []
  const peak = { total: 0, host: 0 }
  const total = () => [...running.values()].reduce((a, b) => a + b, 0)
  const task = (name: string, host: string) => async () => {
    started.push(name)
    running.set(host, (running.get(host) ?? 0) + 1)
    peak.total = Math.max(peak.total, total())
    peak.host = Math.max(peak.host, running.get(host) ?? 0)
    await new Promise<void>(resolve => ends.push(resolve))
    running.set(host, (running.get(host) ?? 0) - 1)
  }
  const run = (line: Line, host: string, name = host, signal = never) =>
    queue.openWork(line).run(host, task(name, host), signal)
  const endAll = async (work: Promise<unknown>) => {
    let done = false
    const finished = work.finally(() => {
      done = true
    })
    while (!done) {
      for (const end of ends.splice(0)) end()
      await turn()
    }
    await finished
  }
  return { queue, run, task, started, ends, peak, endAll }
}

const times = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i))

test('keeps both limits and runs everything', async () => {
  const { queue, run, started, peak, endAll } = createWork({ total: 8, perHost: 2 })
  await endAll(Promise.all(times(100, i => run(queue.openLine(), `host${i % 7}`))))
  expect(started).toHaveLength(100)
  expect(peak).toEqual({ total: 8, host: 2 })
  expect([queue.running(), queue.waiting(), queue.load('host0')]).toEqual([0, 0, 0])
})

test('a host with a long queue holds back nobody else', async () => {
  const { queue, run, started, endAll } = createWork({ total: 16, perHost: 2 })
  const line = queue.openLine()
  const work = [...times(50, () => run(line, 'slow')), run(line, 'other'), run(queue.openLine(), 'third')]
  await turn()
  expect(started).toEqual(['slow', 'slow', 'other', 'third'])
  await endAll(Promise.all(work))
})

test('one line takes three quarters of the places, so that the next one finds some', async () => {
  const { queue, run, started, endAll } = createWork({ total: 32 })
  const [first, second, third] = [queue.openLine(), queue.openLine(), queue.openLine()]
  const work = times(100, i => run(first, `a${i}`, 'first'))
  await turn()
  expect(started).toHaveLength(24)
  work.push(
    ...times(100, i => run(second, `b${i}`, 'second')),
    ...times(100, i => run(third, `c${i}`, 'third'))
  )
  await turn()
  expect(started.filter(name => name === 'second')).toHaveLength(6)
  expect(started.filter(name => name === 'third').length).toBeGreaterThan(0)
  await endAll(Promise.all(work))
})

test('lines take turns, also at one host', async () => {
  const { queue, run, started, endAll } = createWork({ total: 32, perHost: 1 })
  const [large, small] = [queue.openLine(), queue.openLine()]
  const work = times(50, () => run(large, 'one', 'large'))
  await turn()
  work.push(run(small, 'one', 'small'))
  await endAll(Promise.all(work))
  expect(started.indexOf('small')).toBeLessThanOrEqual(2)
})

test('work that a second line wants too starts at the turn of that line', async () => {
  const { queue, run, task, started, endAll } = createWork({ total: 32, perHost: 1 })
  const [large, small] = [queue.openLine(), queue.openLine()]
  const work = times(50, () => run(large, 'one', 'large'))
  const wanted = queue.openWork(large)
  work.push(wanted.run('one', task('wanted', 'one'), never))
  await turn()
  wanted.alsoFor(small)
  await endAll(Promise.all(work))
  expect(started.indexOf('wanted')).toBeLessThanOrEqual(2)
  expect(started.filter(name => name === 'wanted')).toHaveLength(1)
  expect([queue.running(), queue.waiting(), large.waiting, small.waiting]).toEqual([0, 0, 0, 0])
})

test('of one line, refuses what would wait beyond the limit', async () => {
  const { queue, run, endAll } = createWork({ total: 1, perHost: 1, waiting: 2 })
  const line = queue.openLine()
  const accepted = [run(line, 'a'), run(line, 'a'), run(line, 'a')]
  await expect(run(line, 'b')).rejects.toMatchObject(busy)
  await endAll(Promise.all(accepted))
})

test('a full queue takes in a second line at the cost of the longest', async () => {
  const { queue, run, started, endAll } = createWork({ total: 1, perHost: 1, waiting: 10 })
  const [large, small] = [queue.openLine(), queue.openLine()]
  const work = times(11, i =>
    run(large, 'a', `large ${i}`).then(
      () => true,
      () => false
    )
  )
  work.push(run(small, 'b', 'small').then(() => true))
  await endAll(Promise.all(work))
  expect(await Promise.all(work)).toEqual([...times(10, () => true), false, true])
  expect(started.indexOf('small')).toBeLessThanOrEqual(2)
})

test('what is given up while it waits never starts and frees its place', async () => {
  const { queue, run, started, endAll } = createWork({ total: 1, perHost: 1, waiting: 1 })
  const line = queue.openLine()
  const first = run(line, 'a', 'first')
  const leaving = new AbortController()
  const left = run(line, 'a', 'left', leaving.signal)
  leaving.abort(new Error('not wanted'))
  await expect(left).rejects.toThrow('not wanted')
  const last = run(line, 'a', 'last')
  await endAll(Promise.all([first, last]))
  expect(started).toEqual(['first', 'last'])
  await expect(run(line, 'a', 'late', AbortSignal.abort(new Error('too late')))).rejects.toThrow('too late')
})

test('what has waited too long is refused when its turn comes', async () => {
  const { queue, run } = createWork({ total: 1, perHost: 1, patienceMs: -1 })
  const line = queue.openLine()
  await expect(run(line, 'a')).rejects.toMatchObject(busy)
})

test('a failing task frees its place', async () => {
  const { queue } = createWork({ total: 1, perHost: 1 })
  const work = queue.openWork(queue.openLine())
  await expect(work.run('a', () => Promise.reject(new Error('broken')), never)).rejects.toThrow('broken')
  expect(await work.run('a', async () => 'next', never)).toBe('next')
})
