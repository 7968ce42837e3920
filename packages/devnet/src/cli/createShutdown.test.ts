import { expect, test } from 'vitest'
import { createShutdown } from './createShutdown.ts'

test('ends in the reverse order, once, and goes on after a failure', async () => {
  const ended: string[] = []
  const shutdown = createShutdown()
  shutdown.add(() => ended.push('first'))
  shutdown.add(async () => {
    throw new Error('stuck')
  })
  shutdown.add(async () => ended.push('last'))
  const [one, two] = await Promise.all([shutdown.run(), shutdown.run()])
  expect(ended).toEqual(['last', 'first'])
  expect(one).toEqual([new Error('stuck')])
  expect(two).toBe(one)
})
