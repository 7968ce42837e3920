import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Listener } from '../../src/server/http/listen.ts'
import {
  authorization,
  request,
  type ServiceChanges,
  startService,
  statusHandlers,
  statusOf
} from './startService.ts'

const good = request('svc_getSyncStatus', [])

const listeners: Listener[] = []
afterEach(async () => {
  for (const listener of listeners.splice(0)) await listener.close(0)
})

async function start(
  changes: ServiceChanges = { handlers: statusHandlers },
  options?: { socketIdleMs?: number }
) {
  const service = startService(changes)
  const listener = await service.listen(options)
  listeners.push(listener)
  return { service, listener, url: listener.url, port: Number(new URL(listener.url).port) }
}

function post(url: string, body: string): Promise<Response> {
  return fetch(`${url}/evm-chain`, {
    method: 'POST',
    body,
    headers: { authorization, 'content-type': 'application/json' }
  })
}

function rawRequest(body: string, extraHeaders: readonly string[] = []): string {
  const head = [
    'POST /evm-chain HTTP/1.1',
    'Host: x',
    'Content-Type: application/json',
    `Authorization: ${authorization}`
  ]
  return [...head, ...extraHeaders, `Content-Length: ${Buffer.byteLength(body)}`, '', body].join('\r\n')
}

/** Everything the server sends until it closes the connection. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', chunk => chunks.push(chunk))
  socket.on('error', () => {})
  socket.write(text)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString()
}

describe('over a socket', () => {
  it('a call is answered with its length, and the connection kept', async () => {
    const { url } = await start()
    const response = await post(url, good)
    expect(response.headers.get('content-length')).toMatch(/^\d+$/)
    expect(await response.json()).toHaveProperty('result')
  })

  it('non-ASCII text arrives whole', async () => {
    const { url } = await start()
    const text = await (await post(url, request('svc_getSyncStatus', [], { id: 'grüße 😀' }))).text()
    expect(JSON.parse(text)).toMatchObject({ id: 'grüße 😀' })
  })

  it('a body too large is refused although most of it is never read', async () => {
    const { url } = await start()
    const response = await post(url, ' '.repeat(5_000_000))
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ id: null, error: { data: { reason: 'BODY_TOO_LARGE' } } })
    expect((await post(url, good)).status).toBe(200)
  })

  it('a chunked body is counted as it comes', async () => {
    const { port } = await start()
    const chunk = `10000\r\n${'x'.repeat(65_536)}\r\n`
    const head = rawRequest('').replace(
      /Content-Length: 0\r\n\r\n$/,
      'Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n'
    )
    expect(await exchange(port, `${head}${chunk.repeat(17)}0\r\n\r\n`)).toContain('BODY_TOO_LARGE')
  })

  it.each([
    ['Authorization', `Authorization: ${authorization}`, 401],
    ['Content-Type', 'Content-Type: text/plain', 415]
  ])('a repeated %s header is not half-read', async (_name, header, status) => {
    const { port } = await start()
    expect(await exchange(port, rawRequest(good, [header, 'Connection: close']))).toMatch(
      new RegExp(`^HTTP/1.1 ${status} `)
    )
  })

  it('a target in absolute form and one that is no URL find their answer', async () => {
    const { port } = await start()
    const raw = rawRequest(good, ['Connection: close'])
    expect(await exchange(port, raw.replace('/evm-chain', 'http://x/evm-chain'))).toContain('"result"')
    expect(await exchange(port, raw.replace('/evm-chain', '//x'))).toContain('NOT_FOUND')
    expect(await exchange(port, raw.replace('POST /evm-chain', 'OPTIONS *'))).toContain('NOT_FOUND')
  })

  it('a head beyond its limit is refused by node:http', async () => {
    const { port } = await start()
    expect(await exchange(port, rawRequest(good, [`X-Long: ${'x'.repeat(17_000)}`]))).toMatch(
      /^HTTP\/1.1 431 /
    )
  })

  it('a caller who goes away stops the method', async () => {
    let signal: AbortSignal | undefined
    const { port } = await start({
      handlers: {
        svc_getSyncStatus: (_params, context) => {
          signal = context.signal
          return new Promise(() => {})
        }
      }
    })
    const socket: Socket = connect(port, '127.0.0.1')
    socket.write(rawRequest(good))
    await expect.poll(() => signal).toBeDefined()
    socket.destroy()
    await expect.poll(() => signal?.aborted).toBe(true)
  })

  it('a connection on which nothing moves is cut', async () => {
    const { port } = await start({ handlers: statusHandlers }, { socketIdleMs: 100 })
    expect(await exchange(port, 'POST /evm-chain HTTP/1.1\r\nHost: x\r\n')).not.toContain('200')
  })

  it('closing waits for the answer under way and ends idle connections', async () => {
    let finish: (() => void) | undefined
    const { url, listener } = await start({
      handlers: {
        svc_getSyncStatus: () =>
          new Promise(resolve => {
            finish = () => resolve(statusOf(1))
          })
      }
    })
    await fetch(`${url}/health/live`)
    const open = post(url, good)
    await expect.poll(() => finish).toBeDefined()
    let isClosed = false
    const closing = listener.close(5_000).then(() => {
      isClosed = true
    })
    expect(isClosed).toBe(false)
    finish?.()
    expect((await open).status).toBe(200)
    await closing
  })
})
