import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A real service on loopback that misbehaves as the first part of the path says, and counts requests. */
export interface MatrixServer extends AsyncDisposable {
  /** The service; see `Behaviour`. */
  readonly url: string
  /** Another origin, which nothing may be sent to. */
  readonly otherUrl: string
}

interface Request {
  readonly id: number
  readonly method: string
  readonly params: readonly [unknown, { readonly after?: string }?]
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The JSON-RPC request, one or several. */
  readonly body: Request | Request[]
  /** 1 for the first request to this path. */
  readonly count: number
  /** When the first request to this path came. */
  readonly firstMs: number
  readonly otherUrl: string
}

type Behaviour = (exchange: Exchange) => void | Promise<void>

const json = { 'Content-Type': 'application/json' }

function answer({ response, body }: Exchange): void {
  const ofSolana = { lamports: 0, nfts: [], tokens: [] }
  const one = ({ id, method }: Request) => ({
    jsonrpc: '2.0',
    id,
    result: method.startsWith('enhanced') ? ofSolana : []
  })
  const text = JSON.stringify(Array.isArray(body) ? body.map(one) : one(body))
  response.writeHead(200, { ...json, 'X-Request-Id': 'request-7' }).end(text)
}

function rateLimited({ response }: Exchange, data: object, headers: object): void {
  const error = { code: -32005, message: 'Rate limit exceeded', data: { reason: 'RATE_LIMITED', ...data } }
  response.writeHead(429, { ...json, ...headers }).end(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
}

/** Dates in headers have whole seconds: the next one that is at least a second away. */
const dateAfter = (ms: number) => Math.ceil((ms + 1000) / 1000) * 1000

const behaviours: Record<string, Behaviour> = {
  answers: answer,
  'says-nothing': () => {},
  'stalls-in-the-body': ({ response }) => {
    response.writeHead(200, json).write('{"jsonrpc":"2.0","id":1,')
  },
  'asks-for-a-second': exchange => {
    if (Date.now() - exchange.firstMs >= 990) answer(exchange)
    else exchange.response.writeHead(429, { 'Retry-After': '1' }).end('slow down')
  },
  'asks-for-nine-seconds': ({ response }) => {
    response.writeHead(429, { 'Retry-After': '9' }).end('slow down')
  },
  'asks-until-a-date': exchange => {
    const date = dateAfter(exchange.firstMs)
    if (Date.now() >= date - 10) answer(exchange)
    else
      exchange.response.writeHead(503, { 'Retry-After': new Date(date).toUTCString() }).end('<h1>busy</h1>')
  },
  'limits-with-an-rpc-error': exchange => {
    if (exchange.count > 1) answer(exchange)
    else rateLimited(exchange, { retryAfterMs: 20 }, { 'Retry-After': '1' })
  },
  'asks-for-an-hour': exchange => rateLimited(exchange, {}, { 'Retry-After': '3600' }),
  'fails-twice': exchange => {
    if (exchange.count > 2) answer(exchange)
    else exchange.response.writeHead(503, { 'Content-Type': 'text/html' }).end('<h1>down</h1>')
  },
  redirects: ({ response, otherUrl }) => {
    response.writeHead(307, { Location: `${otherUrl}/evm-chain` }).end()
  },
  'shows-a-page': ({ response }) => {
    response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><h1>Welcome</h1>')
  },
  'sends-64-mb': async ({ response }) => {
    response.writeHead(200, json)
    const piece = Buffer.alloc(2 ** 20, ' ')
    for (let sent = 0; sent < 64 && !response.destroyed; sent++) {
      if (!response.write(piece)) await drainedOrLate(response)
    }
    response.end()
  },
  'streams-in-pieces': async exchange => {
    const bytes = Buffer.from(`\ufeff: hello\r\n\r\n${event('1')}${event('2', { word: 'clé-鍵-🔑' })}`)
    for (let at = 0; at < bytes.length && !exchange.response.destroyed; at += 7) {
      stream(exchange, bytes.subarray(at, at + 7))
      await new Promise(resolve => setImmediate(resolve))
    }
  },
  'breaks-the-stream': exchange => {
    const { response, count } = exchange
    // The second attempt meets a server that is shutting down.
    if (count === 2) return void response.writeHead(503, { 'Retry-After': '0' }).end('closing')
    const after = Number(afterOf(exchange))
    stream(exchange, event(`${after + 1}`), event(`${after + 2}`))
    // What was not read by then is lost with the connection.
    if (count === 1) response.destroy()
    else response.end()
  },
  'streams-and-falls-silent': exchange => {
    stream(exchange, event(`${exchange.count}`, { after: afterOf(exchange) }))
  },
  'has-forgotten-the-cursor': ({ response, body }) => {
    const { id } = body as Request
    const error = { code: -32004, message: 'Cursor expired', data: { reason: 'CURSOR_EXPIRED' } }
    response.writeHead(200, json).end(JSON.stringify({ jsonrpc: '2.0', id, error }))
  },
  'streams-without-end': exchange => {
    stream(exchange, 'data: ')
    const more = setInterval(() => stream(exchange, 'x'.repeat(1000)), 1)
    exchange.response.on('close', () => clearInterval(more))
  },
  'repeats-the-request': ({ request, response }) => {
    const error = { code: -32000, message: `no ${request.headers.authorization}`, data: request.headers }
    response.writeHead(401, json).end(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
  }
}

/** One event, as the service writes it. */
const event = (id: string, more: object = {}) =>
  `id: ${id}\r\ndata: ${JSON.stringify({ kind: 'synced', ...more })}\r\n\r\n`

const afterOf = ({ body }: Exchange) => (body as Request).params[1]?.after

/** Sends parts of a stream of events, the first ones after its headers. */
function stream({ request, response }: Exchange, ...parts: readonly (string | Uint8Array)[]): void {
  if (!request.headers.accept?.includes('text/event-stream')) throw new Error('nobody asked for events')
  if (!response.headersSent) response.writeHead(200, { 'Content-Type': 'text/event-stream' })
  for (const part of parts) response.write(part)
}

/** A reader that has gone never drains: nobody waits for it longer than 20 ms. */
async function drainedOrLate(response: ServerResponse): Promise<void> {
  await once(response, 'drain', { signal: AbortSignal.timeout(20) }).catch(() => undefined)
}

/** Starts both origins. `GET /count/<path>` tells how often that path was asked with POST. */
export async function startMatrixServer(): Promise<MatrixServer> {
  const seen = new Map<string, { count: number; firstMs: number }>()
  let otherCount = 0
  const other = await listen((_request, response) => {
    otherCount += 1
    response.end('{}')
  })
  const main = await listen(async (request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*')
    response.setHeader('Access-Control-Allow-Headers', 'authorization, content-type')
    response.setHeader('Access-Control-Expose-Headers', 'Retry-After, X-Request-Id')
    const path = request.url ?? ''
    if (request.method === 'OPTIONS') return void response.writeHead(204).end()
    if (path === '/count-of-other') return void response.end(String(otherCount))
    if (path.startsWith('/count/')) {
      return void response.end(String(seen.get(path.slice('/count'.length))?.count ?? 0))
    }
    const text = Buffer.concat(await request.toArray()).toString()
    const { count = 0, firstMs = Date.now() } = seen.get(path) ?? {}
    seen.set(path, { count: count + 1, firstMs })
    const behave = behaviours[path.split('/')[1] ?? '']
    if (behave === undefined) throw new Error(`no behaviour for ${path}`)
    await behave({
      request,
      response,
      body: JSON.parse(text),
      count: count + 1,
      firstMs,
      otherUrl: other.url
    })
  })
  return {
    url: main.url,
    otherUrl: other.url,
    async [Symbol.asyncDispose]() {
      await Promise.all([main.close(), other.close()])
    }
  }
}

async function listen(listener: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const server: Server = createServer((request, response) => {
    // A caller that gives up takes its request with it.
    Promise.resolve(listener(request, response)).catch(() => response.destroy())
  })
  // On a busy machine a connection that the server has just given up would be used again, and reset.
  server.keepAliveTimeout = 60_000
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    }
  }
}
