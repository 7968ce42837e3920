import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { watchTaking } from './watchTaking.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** What of a response is watched; its turn comes with the event `socket`. */
function start(socket: object | null = {}) {
  const response = Object.assign(new EventEmitter(), { socket, destroy: vi.fn() })
  const watch = watchTaking(response as unknown as ServerResponse, 100)
  return { response, watch }
}

it('a caller who takes a part in time, again and again, is not cut', () => {
  const { response, watch } = start()
  for (let part = 0; part < 10; part++) {
    watch.given()
    vi.advanceTimersByTime(99)
    watch.taken()
  }
  vi.advanceTimersByTime(1_000)
  expect(response.destroy).not.toHaveBeenCalled()
})

it('a caller who takes nothing is cut after the time, not after twice of it', () => {
  const { response, watch } = start()
  watch.given()
  vi.advanceTimersByTime(100)
  expect(response.destroy).toHaveBeenCalledOnce()
})

it('the time of an answer begins when its turn comes', () => {
  const { response, watch } = start(null)
  watch.given()
  vi.advanceTimersByTime(1_000)
  expect(response.destroy).not.toHaveBeenCalled()
  response.socket = {}
  response.emit('socket')
  vi.advanceTimersByTime(100)
  expect(response.destroy).toHaveBeenCalledOnce()
})

it.each(['finish', 'close'])('nothing is watched any more after %s', event => {
  const { response, watch } = start()
  watch.given()
  response.emit(event)
  vi.advanceTimersByTime(1_000)
  expect(response.destroy).not.toHaveBeenCalled()
})
