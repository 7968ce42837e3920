import { expect, test } from 'vitest'
import { createFetchQueue } from './fetchQueue.ts'

/** Tasks that run until told to end, with the greatest number seen at once. */
function createWork(queue: ReturnType<typeof createFetchQueue>) {
  const running = new Map<string, number>()
  const started: string[] = []
  const ends: (() => void)[] = []
  const peak = { total: 0, host: 0 }
  const total = () => [...running.values()].reduce((a, b) => a + b, 0)
  const run = (host: string) =>
    queue(host, async () => {
      started.push(host)
      running.set(host, (running.get(host) ?? 0) + 1)
      peak.total = Math.max(peak.total, total())
      peak.host = Math.max(peak.host, running.get(host) ?? 0)
      await new Promise<void>(resolve => ends.push(resolve))
      running.set(host, (running.get(host) ?? 0) - 1)
    })
  const endAll = async (work: Promise<unknown>) => {
    let done = false
    const finished = work.finally(() => {
      done = true
    })
    while (!done) {
      for (const end of ends.splice(0)) end()
      await new Promise(resolve => setImmediate(resolve))
    }
    await finished
  }
  return { run, started, peak, endAll }
}

test('keeps both limits and runs everything', async () => {
  const { run, started, peak, endAll } = createWork(createFetchQueue({ total: 5, perHost: 2, waiting: 1000 }))
  await endAll(Promise.all(Array.from({ length: 100 }, (_, i) => run(`host${i % 7}`))))
  expect(started).toHaveLength(100)
  expect(peak).toEqual({ total: 5, host: 2 })
})

test('a host with a long queue holds back nobody else', async () => {
  const { run, started, endAll } = createWork(createFetchQueue({ total: 4, perHost: 2, waiting: 1000 }))
  const work = [...Array.from({ length: 50 }, () => run('slow')), run('other'), run('third')]
  await new Promise(resolve => setImmediate(resolve))
  expect(started).toEqual(['slow', 'slow', 'other', 'third'])
  await endAll(Promise.all(work))
})

test('refuses what would wait beyond the limit', async () => {
  const { run, endAll } = createWork(createFetchQueue({ total: 1, perHost: 1, waiting: 2 }))
  const accepted = [run('a'), run('a'), run('a')]
  await expect(run('b')).rejects.toMatchObject({ context: { reason: 'BUSY' } })
  await endAll(Promise.all(accepted))
})

test('a failing task frees its place', async () => {
  const queue = createFetchQueue({ total: 1, perHost: 1, waiting: 10 })
  await expect(queue('a', () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(await queue('a', async () => 'next')).toBe('next')
})
