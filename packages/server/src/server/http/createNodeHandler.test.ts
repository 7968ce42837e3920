import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { eventually } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { createNodeHandler } from './createNodeHandler.ts'

let server: Server | undefined
afterEach(() => server?.closeAllConnections())

/** Opens a connection and sends so many requests on it, none of which is answered. */
async function pipeline(requests: number) {
  const signals: AbortSignal[] = []
  const closeListeners: number[] = []
  const handler = createNodeHandler(({ signal }) => {
    signals.push(signal)
    return new Promise(() => {})
  }, 60_000)
  server = createServer((request, response) => {
    handler(request, response)
    closeListeners.push(request.socket.listenerCount('close'))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {}).write('GET / HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(requests))
  await eventually('all have come', () => signals.length === requests)
  return { socket, signals, closeListeners }
}

it('tells every request of a connection when that closes, also those whose answers wait behind another', async () => {
  const { socket, signals } = await pipeline(3)
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false])
  socket.destroy()
  await eventually('all are told', () => signals.every(({ aborted }) => aborted))
})

it('listens once to a connection, however many requests it carries', async () => {
  const { closeListeners } = await pipeline(50)
  expect(new Set(closeListeners.slice(1)).size).toBe(1)
})
