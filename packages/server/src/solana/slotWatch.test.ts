import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { NodeUnavailableError } from '../platform/errors.ts'
import { createSlotWatch, type SlotWatch } from './slotWatch.ts'

let watch: SlotWatch
beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }))
afterEach(() => {
  watch.close()
  vi.useRealTimers()
})

let changes: (string | undefined)[] = []
function watchOver(answers: (() => Promise<number>)[]): () => number {
  changes = []
  let asked = 0
  const currentSlot = () => (answers[asked++] ?? (() => new Promise<number>(() => {})))()
  const onChange = (problem: string | undefined) => void changes.push(problem)
  watch = createSlotWatch({ chainId: 103, currentSlot, clock: { now: Date.now }, onChange })
  return () => asked
}
const silent = () => Promise.reject(new NodeUnavailableError('no answer from http://host/key'))

it('the state of a cluster is known without anybody asking, and is checked every ten seconds', async () => {
  const asked = watchOver([async () => 7, async () => 7, async () => 9])
  expect(watch.state()).toEqual({ chainId: 103, phase: 'starting', ready: false, degraded: false })
  await vi.advanceTimersByTimeAsync(0)
  expect(watch.state()).toEqual({
    ...{ chainId: 103, phase: 'following', ready: true, degraded: false },
    ...{ head: 7, headAgeSeconds: 0, answeredSecondsAgo: 0 }
  })
  await vi.advanceTimersByTimeAsync(12_000)
  expect(watch.state()).toMatchObject({ head: 7, headAgeSeconds: 12, answeredSecondsAgo: 2 })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(watch.state()).toMatchObject({ head: 9, headAgeSeconds: 2 })
  expect(asked()).toBe(3)
})

it('a node that fails is stalled since its first failure, and its last slot stays known', async () => {
  watchOver([async () => 7, silent, silent, async () => 8])
  await vi.advanceTimersByTimeAsync(25_000)
  expect(watch.state()).toEqual({
    ...{ chainId: 103, phase: 'stalled', ready: false, degraded: true },
    ...{ head: 7, headAgeSeconds: 25, answeredSecondsAgo: 25, stalledSeconds: 15 },
    problem: 'no answer from http://host'
  })
  await vi.advanceTimersByTimeAsync(5_000)
  expect(watch.state()).toMatchObject({ phase: 'following', ready: true, head: 8 })
  expect(watch.state()).not.toHaveProperty('problem')
  expect(watch.state()).not.toHaveProperty('stalledSeconds')
})

it('a stall is reported once when it begins, and once when it ends', async () => {
  watchOver([async () => 7, silent, silent, async () => 8, silent])
  await vi.advanceTimersByTimeAsync(45_000)
  expect(changes).toEqual(['no answer from http://host', undefined, 'no answer from http://host'])
})

it('a cluster that makes no slots is stalled after a minute, though its node answers', async () => {
  watchOver([...Array(8).fill(async () => 7), async () => 8])
  await vi.advanceTimersByTimeAsync(55_000)
  expect(watch.state()).toMatchObject({ phase: 'following' })
  await vi.advanceTimersByTimeAsync(10_000)
  expect(watch.state()).toMatchObject({
    ...{ phase: 'stalled', ready: true, degraded: true, stalledSeconds: 65, answeredSecondsAgo: 5 },
    problem: 'the node names slot 7 and no newer one'
  })
  await vi.advanceTimersByTimeAsync(20_000)
  expect(watch.state()).toMatchObject({ phase: 'following', head: 8, headAgeSeconds: 5 })
  expect(changes).toEqual(['the node names slot 7 and no newer one', undefined])
})

it('a call that failed leads to a check at once, and to no second one beside it', async () => {
  const asked = watchOver([async () => 7, silent])
  await vi.advanceTimersByTimeAsync(1_000)
  watch.check()
  watch.check()
  await vi.advanceTimersByTimeAsync(0)
  expect(asked()).toBe(2)
  expect(watch.state()).toMatchObject({ phase: 'stalled' })
})

it('a mistake of the server itself is told without its words', async () => {
  watchOver([() => Promise.reject(new TypeError('x of undefined'))])
  await vi.advanceTimersByTimeAsync(0)
  expect(watch.state()).toMatchObject({ phase: 'stalled', problem: 'internal error' })
})
