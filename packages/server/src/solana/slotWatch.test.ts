import { expect, it } from 'vitest'
import { NodeUnavailableError } from '../platform/errors.ts'
import { createSlotWatch } from './slotWatch.ts'

function watchOver(answers: (() => Promise<number>)[]) {
  const clock = { ms: 1_000, now: () => clock.ms }
  let asked = 0
  const currentSlot = () => (answers[asked++] ?? (() => new Promise<number>(() => {})))()
  return { clock, asked: () => asked, watch: createSlotWatch({ chainId: 103, currentSlot, clock }) }
}
const turn = () => new Promise(resolve => setImmediate(resolve))

it('a cluster is asked when somebody looks, and again only after a while', async () => {
  const { watch, clock, asked } = watchOver([async () => 7, async () => 9])
  expect(asked()).toBe(0)
  expect(watch.status()).toEqual({ chainId: 103, phase: 'starting' })
  await turn()
  expect(watch.status()).toEqual({ chainId: 103, phase: 'following', head: 7 })
  expect(asked()).toBe(1)
  clock.ms += 5_000
  expect(watch.status()).toMatchObject({ head: 7 })
  await turn()
  expect(watch.status()).toMatchObject({ head: 9 })
})

it('what was found long ago is not told as if it were so now', async () => {
  const { watch, clock } = watchOver([async () => 7])
  watch.status()
  await turn()
  clock.ms += 15_000
  expect(watch.status()).toEqual({ chainId: 103, phase: 'starting' })
})

it('a node that fails is told with its reason, and what the server itself did wrong without', async () => {
  const node = watchOver([() => Promise.reject(new NodeUnavailableError('no answer from http://host/key'))])
  node.watch.status()
  await turn()
  expect(node.watch.status()).toEqual({
    chainId: 103,
    phase: 'stalled',
    problem: 'no answer from http://host'
  })
  const bug = watchOver([() => Promise.reject(new TypeError('x of undefined'))])
  bug.watch.status()
  await turn()
  expect(bug.watch.status()).toMatchObject({ phase: 'stalled', problem: 'internal error' })
})
