import { PassThrough } from 'node:stream'
import { expect, it, vi } from 'vitest'
import { whenGone } from './whenGone.ts'

const closed = (connection: PassThrough) => new Promise(resolve => connection.once('close', resolve))

it('tells every listener once when the connection closes, except those taken off', async () => {
  const connection = new PassThrough()
  const [first, second, off] = [vi.fn(), vi.fn(), vi.fn()]
  whenGone(connection, first)
  whenGone(connection, off)()
  whenGone(connection, second)
  expect(first).not.toHaveBeenCalled()
  connection.destroy()
  await closed(connection)
  expect([first, second, off].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 0])
})

it('tells at once of a connection that is closed already', () => {
  const connection = new PassThrough()
  connection.destroy()
  const listener = vi.fn()
  whenGone(connection, listener)
  expect(listener).toHaveBeenCalledOnce()
})

it('listens once to a connection, however many requests it carries', () => {
  const connection = new PassThrough()
  const before = connection.listenerCount('close')
  for (let count = 0; count < 100; count++) whenGone(connection, () => {})
  expect(connection.listenerCount('close')).toBe(before + 1)
})
