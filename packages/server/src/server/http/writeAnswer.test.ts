import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { writeAnswer } from './writeAnswer.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** A response that is written in whole; its turn on the connection comes with the event `socket`. */
async function write(socket: object | null = {}, writableLength = 10) {
  const response = Object.assign(new EventEmitter(), {
    ...{ socket, writableLength },
    destroy: vi.fn(),
    writeHead: vi.fn(),
    end: vi.fn()
  })
  const request = { httpVersionMajor: 1, complete: true } as unknown as IncomingMessage
  const answer = { status: 200, headers: {}, body: 'the answer' }
  const options = {
    streamIdleMs: 100,
    caller: { isGone: () => false, signal: new AbortController().signal }
  }
  await writeAnswer(request, response as unknown as ServerResponse, answer, options)
  expect(response.end).toHaveBeenCalledWith('the answer', 'latin1')
  return response
}

it('a caller who takes nothing is cut after the time, not after twice of it', async () => {
  const response = await write()
  vi.advanceTimersByTime(99)
  expect(response.destroy).not.toHaveBeenCalled()
  vi.advanceTimersByTime(1)
  expect(response.destroy).toHaveBeenCalledOnce()
})

it('the time of an answer begins when its turn comes', async () => {
  const response = await write(null)
  vi.advanceTimersByTime(1_000)
  expect(response.destroy).not.toHaveBeenCalled()
  response.socket = {}
  response.emit('socket')
  vi.advanceTimersByTime(100)
  expect(response.destroy).toHaveBeenCalledOnce()
})

it('an answer that the system has taken at once is not watched', async () => {
  const response = await write({}, 0)
  expect(vi.getTimerCount()).toBe(0)
  vi.advanceTimersByTime(1_000)
  expect(response.destroy).not.toHaveBeenCalled()
})

it.each(['finish', 'close'])('nothing is watched any more after %s', async event => {
  const response = await write()
  response.emit(event)
  vi.advanceTimersByTime(1_000)
  expect(response.destroy).not.toHaveBeenCalled()
})
