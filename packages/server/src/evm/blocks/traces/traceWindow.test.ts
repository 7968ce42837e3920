import { expect, it } from 'vitest'
import { createTraceWindow } from './traceWindow.ts'

/** Asks for so many at once, each of which waits until it is let go. */
async function askFor(count: number, bytes: number, window = createTraceWindow()) {
  const doors: (() => void)[] = []
  const asked = Array.from({ length: count }, () =>
    window.run(async tell => {
      await new Promise<void>(resolve => doors.push(resolve))
      tell(bytes)
    })
  )
  /** Lets one go and waits for what comes of it. */
  const letGo = async () => {
    doors.shift()?.()
    await new Promise(resolve => setImmediate(resolve))
  }
  await new Promise(resolve => setImmediate(resolve))
  return { doors, asked, letGo, window }
}

const mebibyte = 1024 * 1024

it('has few under way until it is known how large they are, then as many as fit', async () => {
  const { doors, asked, letGo } = await askFor(100, 1_000)
  expect(doors).toHaveLength(4)
  await letGo()
  expect(doors).toHaveLength(5)
  while (doors.length > 0) {
    expect(doors.length).toBeLessThanOrEqual(32)
    await letGo()
  }
  await Promise.all(asked)
})

it('has only one under way where two do not fit', async () => {
  const { doors, asked, letGo } = await askFor(10, 60 * mebibyte)
  for (let i = 0; i < 4; i++) await letGo()
  expect(doors).toHaveLength(1)
  while (doors.length > 0) await letGo()
  await Promise.all(asked)
})

it('gives the place of who no longer waits to the next one', async () => {
  const { doors, letGo, window } = await askFor(4, 60 * mebibyte)
  const leaving = new AbortController()
  const left = window.run(async () => 'left', leaving.signal)
  const stayed = window.run(async () => 'stayed')
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  while (doors.length > 0) await letGo()
  expect(await stayed).toBe('stayed')
})

it('goes on after a request that failed', async () => {
  const window = createTraceWindow()
  const failing = Array.from({ length: 8 }, () => window.run(() => Promise.reject(new Error('no'))))
  expect((await Promise.allSettled(failing)).every(({ status }) => status === 'rejected')).toBe(true)
  expect(await window.run(async () => 1)).toBe(1)
})
