import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/** Answers one request, in whatever way. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A real HTTP server on loopback that misbehaves as told, path by path. */
export interface RogueHost {
  readonly url: string
  /** What `allowHosts` must name. */
  readonly hostPort: string
  /** @returns the URL at which `answer` is given from now on. */
  serve(path: string, answer: Answer): string
  /** Requests so far, by path. */
  requests(path: string): number
  /** Open connections, now and at most so far. */
  readonly connections: { now: number; peak: number }
  stop(): Promise<void>
}

export async function startRogueHost(): Promise<RogueHost> {
  const answers = new Map<string, Answer>()
  const requests = new Map<string, number>()
  const connections = { now: 0, peak: 0 }
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    requests.set(path, (requests.get(path) ?? 0) + 1)
    const answer = answers.get(path) ?? ((_request, none) => none.writeHead(404).end('no such document'))
    // Whoever is cut off in the middle of an answer is no concern of the test.
    response.on('error', () => {})
    answer(request, response)
  })
  server.on('connection', (socket: Socket) => {
    connections.now++
    connections.peak = Math.max(connections.peak, connections.now)
    socket.on('error', () => {})
    socket.on('close', () => connections.now--)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const hostPort = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: `http://${hostPort}`,
    hostPort,
    serve(path, answer) {
      answers.set(path, answer)
      return `http://${hostPort}${path}`
    },
    requests: path => requests.get(path) ?? 0,
    connections,
    stop: () =>
      new Promise(resolve => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}

const headers = { 'content-type': 'application/json' }

/** An honest answer. */
export const json =
  (text: string | Buffer, more: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(200, { ...headers, ...more }).end(text)
  }

export const status =
  (code: number, more: Record<string, string> = {}): Answer =>
  (_request, response) => {
    response.writeHead(code, more).end('{"not":"this"}')
  }

export const redirect = (location: string, code = 302): Answer => status(code, { location })

/** Answers after a while. */
export const after =
  (ms: number, answer: Answer): Answer =>
  (request, response) => {
    const timer = setTimeout(() => answer(request, response), ms)
    response.on('close', () => clearTimeout(timer))
  }

/** Takes the request and never answers. */
export const silent: Answer = () => {}

/** Bytes without end. */
export const endless: Answer = (_request, response) => {
  response.writeHead(200, headers)
  const chunk = ' '.repeat(64 * 1024)
  const more = () => {
    while (!response.destroyed && response.write(chunk)) {}
  }
  response.on('drain', more)
  more()
}

/** One byte now and then, for ever. */
export const drip: Answer = (_request, response) => {
  response.writeHead(200, headers)
  const timer = setInterval(() => response.write(' '), 20)
  response.on('close', () => clearInterval(timer))
}

/** A small body that unpacks to 64 MiB of a valid object. */
export const bomb = (encoding: 'gzip' | 'br'): Answer => {
  const text = Buffer.concat([Buffer.from('{"a":"'), Buffer.alloc(64 * 1024 * 1024, 0x61), Buffer.from('"}')])
  const packed = encoding === 'gzip' ? gzipSync(text) : brotliCompressSync(text)
  return json(packed, { 'content-encoding': encoding })
}

/** Raw bytes in place of an HTTP answer, then the end. */
export const raw =
  (text: string): Answer =>
  (request, response) => {
    response.detachSocket(request.socket)
    request.socket.end(text)
  }

export const reset: Answer = request => {
  request.socket.resetAndDestroy()
}

/** One answer after the other; the last one stays. */
export const inTurn = (first: Answer, ...rest: readonly Answer[]): Answer => {
  const left = [first, ...rest]
  return (request, response) => {
    const [answer = first] = left.length > 1 ? left.splice(0, 1) : left
    answer(request, response)
  }
}
