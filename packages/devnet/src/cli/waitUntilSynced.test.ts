import { expect, test } from 'vitest'
import type { Progress } from './createProgress.ts'
import { waitUntilSynced } from './waitUntilSynced.ts'

function recorder() {
  const updates: [number, number][] = []
  let stopped = 0
  const progress: Progress = {
    update: (done, total) => updates.push([done, total]),
    stop: () => {
      stopped++
    }
  }
  return { progress, updates, stopped: () => stopped }
}

test('shows blocks done of all chains together until everything is ready, and ends full', async () => {
  const { progress, updates, stopped } = recorder()
  let indexedTo = 9
  await waitUntilSynced({
    isReady: async () => indexedTo >= 29,
    read: async () => {
      indexedTo += 10
      return [{ head: 29, indexedFrom: 10, indexedTo }, { head: 4, indexedTo: 4 }, {}]
    },
    ...{ progress, pollMs: 1 }
  })
  expect(updates).toEqual([
    [15, 25],
    [25, 25],
    [25, 25]
  ])
  expect(stopped()).toBe(1)
})

test('a status that cannot be read is not an error as long as it becomes ready', async () => {
  const { progress, updates } = recorder()
  let asked = 0
  await waitUntilSynced({
    isReady: async () => ++asked > 2,
    read: () => Promise.reject(new Error('not yet')),
    ...{ progress, pollMs: 1 }
  })
  expect(updates).toEqual([])
})

test('an index that does not move is given up with what was reached', async () => {
  const { progress, stopped } = recorder()
  const waiting = waitUntilSynced({
    isReady: async () => false,
    read: async () => [{ head: 9, indexedTo: 3 }],
    ...{ progress, pollMs: 1, patienceMs: 20 }
  })
  await expect(waiting).rejects.toThrow('4 of 10 blocks')
  expect(stopped()).toBe(1)
})

test('waiting ends when it is called off', async () => {
  const { progress, stopped } = recorder()
  const controller = new AbortController()
  const waiting = waitUntilSynced({
    isReady: async () => false,
    read: async () => [{ head: 9, indexedTo: 3 }],
    ...{ progress, pollMs: 1, signal: controller.signal }
  })
  controller.abort(new Error('called off'))
  await expect(waiting).rejects.toThrow('called off')
  expect(stopped()).toBe(1)
})
