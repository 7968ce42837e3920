import { once } from 'node:events'
import { createServer, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Listener } from '../../src/server/http/listen.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import {
  address,
  authorization,
  request,
  type ServiceChanges,
  type StartedService,
  startService,
  statusHandlers,
  statusOf
} from './startService.ts'

const good = request('svc_getSyncStatus', [])

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
})

async function start(
  changes: ServiceChanges = { handlers: statusHandlers },
  options: Parameters<StartedService['listen']>[0] = {}
) {
  const service = startService(changes)
  const listener: Listener = await service.listen(options)
  cleanUps.push(() => listener.close(0))
  return { service, port: Number(new URL(listener.url).port) }
}

function head(lines: readonly string[], target = '/evm-chain', host = 'Host: x'): string {
  const first = [`POST ${target} HTTP/1.1`, ...(host === '' ? [] : [host]), 'Content-Type: application/json']
  return [...first, ...lines, '', ''].join('\r\n')
}

function whole(target: string): string {
  const lines = [`Authorization: ${authorization}`, 'Connection: close', `Content-Length: ${good.length}`]
  return head(lines, target) + good
}

/** Closed in whatever way: `once` of node:events would reject at a reset. */
function closed(socket: Socket): Promise<unknown> {
  return new Promise(resolve => socket.once('close', resolve))
}

interface Conversation {
  readonly socket: Socket
  received(): string
  readonly closed: Promise<unknown>
}

function converse(port: number, text: string): Conversation {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('utf8').on('data', data => {
    received += data
  })
  socket.on('error', () => {})
  socket.write(text)
  return { socket, received: () => received, closed: closed(socket) }
}

async function exchange(port: number, text: string): Promise<string> {
  const { received, closed } = converse(port, text)
  await closed
  return received()
}

describe('what never becomes a request', () => {
  const long = 'x'.repeat(17_000)
  it.each([
    ['bytes that are no HTTP', 'hello\r\n\r\n', 400, 'INVALID_REQUEST'],
    ['a head beyond its limit', head([`X-Long: ${long}`]), 431, 'INVALID_REQUEST'],
    ['a request without Host', head(['Content-Length: 0'], '/evm-chain', ''), 400, 'INVALID_REQUEST'],
    ['a request with two hosts', head(['Host: y', 'Content-Length: 0']), 400, 'INVALID_REQUEST'],
    ['an unknown expectation', head(['Expect: miracles', 'Content-Length: 0']), 417, 'INVALID_REQUEST'],
    [
      'a tunnel',
      head([`Authorization: ${authorization}`], 'x:1').replace('POST', 'CONNECT'),
      405,
      'METHOD_NOT_ALLOWED'
    ],
    [
      'chunk extensions beyond measure',
      `${head([`Authorization: ${authorization}`, 'Transfer-Encoding: chunked'])}1;${long}\r\n1\r\n0\r\n\r\n`,
      413,
      'BODY_TOO_LARGE'
    ]
  ])('%s is refused with a JSON-RPC error, and the connection ends', async (_name, bytes, status, reason) => {
    const { port } = await start()
    const [answerHead = '', body = ''] = (await exchange(port, bytes)).split('\r\n\r\n')
    expect(answerHead).toMatch(new RegExp(`^HTTP/1.1 ${status} `))
    expect(answerHead.toLowerCase()).toContain('content-type: application/json')
    expect(answerHead.toLowerCase()).toContain(`content-length: ${Buffer.byteLength(body)}`)
    expect(JSON.parse(body)).toMatchObject({ jsonrpc: '2.0', id: null, error: { data: { reason } } })
  })

  it('is counted', async () => {
    const { port, service } = await start()
    await exchange(port, 'hello\r\n\r\n')
    await exchange(port, head(['Content-Length: 0'], '/evm-chain', ''))
    const metrics = await (await service.fetch(new Request('http://service/metrics'))).text()
    expect(metrics).toContain('chain_data_http_refusals_total{reason="INVALID_REQUEST"} 2\n')
  })

  it('is refused after the answers to the requests before it', async () => {
    let finish: (() => void) | undefined
    const { port } = await start({
      handlers: {
        svc_getSyncStatus: () =>
          new Promise(resolve => {
            finish = () => resolve(statusOf(1))
          })
      }
    })
    const lines = [`Authorization: ${authorization}`, `Content-Length: ${good.length}`]
    const { socket, received, closed } = converse(port, head(lines) + good)
    await expect.poll(() => finish).toBeDefined()
    socket.write('hello\r\n\r\n')
    // A request to another connection comes and goes: the refusal had its time.
    await exchange(port, 'hello\r\n\r\n')
    expect(received()).toBe('')
    finish?.()
    await closed
    expect(received()).toMatch(/^HTTP\/1.1 200 .*"result".*HTTP\/1.1 400 .*INVALID_REQUEST/s)
  })

  it('is refused after its own beginning was answered, when the length of a body was wrong', async () => {
    const { port } = await start()
    const lines = [`Authorization: ${authorization}`, 'Content-Length: 10']
    expect(await exchange(port, head(lines) + good)).toMatch(/^HTTP\/1.1 200 .*PARSE_ERROR.*HTTP\/1.1 400 /s)
  })

  it('cannot hold a connection open by never ending its own half', async () => {
    const { port } = await start()
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.on('error', () => {}).resume()
    socket.write('hello\r\n\r\n')
    await once(socket, 'end')
    const writing = setInterval(() => socket.write('x'), 20)
    await closed(socket)
    clearInterval(writing)
  })
})

describe('a target', () => {
  it.each([
    '/x/../evm-chain',
    '/x/%2e%2e/evm-chain',
    '/./evm-chain',
    '/evm-chain/.',
    '//x/evm-chain',
    '//evm-chain',
    '/evm-chain//',
    'ftp://x/evm-chain'
  ])('%s is no other name of an endpoint', async target => {
    const { port } = await start()
    expect(await exchange(port, whole(target))).toMatch(/^HTTP\/1.1 404 .*NOT_FOUND/s)
  })

  it.each(['/evm-chain', '/evm-chain/', '/evm-chain?chainId=1', 'http://x:1/evm-chain?a'])(
    '%s is one of an endpoint',
    async target => {
      const { port } = await start()
      expect(await exchange(port, whole(target))).toContain('"result"')
    }
  )
})

describe('a body', () => {
  it('announced with Expect is asked for only when it is wanted', async () => {
    const { port } = await start()
    const announced = ['Expect: 100-continue', `Content-Length: ${good.length}`]
    expect(await exchange(port, head(announced))).toMatch(/^HTTP\/1.1 401 /)
    const { socket, received, closed } = converse(
      port,
      head([`Authorization: ${authorization}`, ...announced])
    )
    await expect.poll(received).toBe('HTTP/1.1 100 Continue\r\n\r\n')
    socket.write(good)
    await closed
    expect(received()).toMatch(/HTTP\/1.1 200 .*"result"/s)
  })

  it('that goes on after its refusal is cut, without a second answer', async () => {
    // Longer than any test, so that it is not what ends the connection.
    const { port } = await start({ handlers: statusHandlers }, { receiveRequestMs: 600_000 })
    const { socket, received, closed } = converse(port, head(['Content-Length: 99999999']))
    const sending = setInterval(() => socket.write('x'), 50)
    await closed
    clearInterval(sending)
    expect(received().match(/HTTP\/1.1 /g)).toHaveLength(1)
    expect(received()).toContain('UNAUTHENTICATED')
  })

  it('that breaks off is no failure in the log', async () => {
    const { port, service } = await start()
    const { socket } = converse(port, head([`Authorization: ${authorization}`, 'Content-Length: 100']))
    await expect.poll(() => service.inFlight()).toBe(1)
    socket.resetAndDestroy()
    await expect.poll(() => service.inFlight()).toBe(0)
    expect(service.logLines.filter(line => JSON.parse(line).level > 20)).toEqual([])
  })
})

describe('behind a host that', () => {
  async function host(prepare: (request: import('node:http').IncomingMessage) => Promise<unknown>) {
    const service = startService({ handlers: statusHandlers })
    const server: Server = createServer((incoming, outgoing) => {
      prepare(incoming).then(
        () => service.nodeHandler(incoming, outgoing),
        () => outgoing.destroy()
      )
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUps.push(() => new Promise(resolve => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    const answer = await fetch(`http://127.0.0.1:${port}/evm-chain`, {
      method: 'POST',
      body: good,
      headers: { authorization, 'content-type': 'application/json', connection: 'close' }
    })
    return { service, answer: await answer.json() }
  }

  it('has read the body itself, a call is answered with an error, and the log says what to do', async () => {
    const { service, answer } = await host(async incoming => {
      for await (const _ of incoming);
    })
    expect(answer).toMatchObject({ id: null, error: { data: { reason: 'INTERNAL' } } })
    expect(service.logLines.join()).toContain('before any body parser')
  })

  it('has begun an answer of its own meanwhile, that one goes on, and a history is let go', async () => {
    let open = 0
    async function* history() {
      for (;;) yield `"${'x'.repeat(100_000)}"`
    }
    let outgoing: ServerResponse | undefined
    const service = startService({
      handlers: {
        svc_getTransactionsByAddress: async () => {
          open++
          outgoing?.writeHead(503).write('the answer ')
          return new ResultStream(history(), async () => void open--)
        }
      }
    })
    const server = createServer((incoming, response) => {
      outgoing = response
      service.nodeHandler(incoming, response)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    cleanUps.push(() => new Promise(resolve => server.close(resolve)))
    const { port } = server.address() as AddressInfo
    const body = request('svc_getTransactionsByAddress', [address])
    const answering = exchange(
      port,
      whole('/evm-chain').replace(good, body).replace(`${good.length}`, `${body.length}`)
    )
    await expect.poll(() => outgoing?.headersSent).toBe(true)
    await expect.poll(() => [open, service.inFlight()]).toEqual([0, 0])
    outgoing?.end('of the host')
    const answer = await answering
    expect(answer).toMatch(/^HTTP\/1.1 503 .*the answer .*of the host/s)
  })

  it('made the body a stream of text, a call is answered', async () => {
    const { answer } = await host(async incoming => incoming.setEncoding('utf8'))
    expect(answer).toHaveProperty('result')
  })
})
