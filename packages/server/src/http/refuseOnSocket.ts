import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { createErrorObject, type RpcErrorObject } from '@chain-data/protocol'
import { failureText } from '../rpc/envelope.ts'

interface SocketRefusal {
  readonly statusLine: string
  readonly error: RpcErrorObject
  readonly headers?: readonly string[]
}

const brokenRequest: SocketRefusal = {
  statusLine: '400 Bad Request',
  error: invalid('The bytes are not an HTTP request.')
}
const noHost: SocketRefusal = {
  statusLine: '400 Bad Request',
  error: invalid('An HTTP request has one Host header.')
}
const unmetExpectation: SocketRefusal = {
  statusLine: '417 Expectation Failed',
  error: invalid('The only Expect header known is 100-continue.')
}
const noTunnel: SocketRefusal = {
  statusLine: '405 Method Not Allowed',
  error: createErrorObject('METHOD_NOT_ALLOWED', { extraMessage: 'Send the request with POST.' }),
  headers: ['allow: POST, OPTIONS']
}
const refusalOfCode = new Map<unknown, SocketRefusal>([
  [
    'HPE_HEADER_OVERFLOW',
    {
      statusLine: '431 Request Header Fields Too Large',
      error: invalid('The request head is too large.')
    }
  ],
  [
    'HPE_CHUNK_EXTENSIONS_OVERFLOW',
    {
      statusLine: '413 Payload Too Large',
      error: createErrorObject('BODY_TOO_LARGE', { extraMessage: 'The chunk extensions are too large.' })
    }
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    {
      statusLine: '408 Request Timeout',
      error: invalid('The request did not come in time.')
    }
  ]
])

/**
 * Answers with a JSON-RPC error what node:http would refuse without a word: bytes that are no HTTP, a head too large
 * or too slow, no Host, an unknown expectation, CONNECT. Each of them ends its connection.
 *
 * @returns a listener for the server's requests, to be put before any other.
 */
export function refuseOnSocket(
  server: Server,
  handler: (request: IncomingMessage, response: ServerResponse) => void
): (request: IncomingMessage, response: ServerResponse) => void {
  const answers = new WeakMap<Duplex, { readonly open: Set<ServerResponse>; latest: ServerResponse }>()
  const refused = new WeakSet<Duplex>()

  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy(error)
      return
    }
    // Every further piece that comes is an error again.
    if (refused.has(socket)) return
    refused.add(socket)
    socket.pause()
    endInTurn(socket, refusalOfCode.get(error.code) ?? brokenRequest)
  })
  server.on('connect', (_request, socket) => {
    socket.on('error', () => {})
    endWith(socket, noTunnel)
  })
  server.on('checkExpectation', (_request, response) => refuse(response, unmetExpectation))
  server.on('checkContinue', (request, response) => {
    // Asked for only when somebody reads it: a body that is refused by its head is never sent.
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue()
    })
    // Whether the body follows after a refusal is up to the caller, so the next request could not be told from it.
    response.setHeader('connection', 'close')
    listener(request, response)
  })
  return listener

  function listener(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    const known = answers.get(socket)
    const open = known?.open ?? new Set()
    open.add(response)
    answers.set(socket, { open, latest: response })
    response.once('close', () => open.delete(response))
    const hosts = request.headersDistinct.host?.length ?? 0
    if (hosts === 1 || (hosts === 0 && request.httpVersion === '1.0')) handler(request, response)
    else refuse(response, noHost)
  }

  /** Refuses after the answers to earlier requests, or what is written would be taken for one of them. */
  function endInTurn(socket: Duplex, refusal: SocketRefusal): void {
    const known = answers.get(socket)
    const broken = known !== undefined && !known.latest.req.complete ? known.latest : undefined
    if (broken?.headersSent) {
      // It has its answer.
      socket.destroy()
      return
    }
    const earlier = [...(known?.open ?? [])].find(response => response !== broken)
    if (earlier === undefined) endWith(socket, refusal)
    else earlier.once('close', () => endInTurn(socket, refusal))
  }
}

function invalid(extraMessage: string): RpcErrorObject {
  return createErrorObject('INVALID_REQUEST', { extraMessage })
}

function bodyOf({ error }: SocketRefusal): string {
  return failureText({ idText: undefined }, error)
}

function headOf(refusal: SocketRefusal): readonly string[] {
  return [
    'content-type: application/json',
    'cache-control: no-store',
    'x-content-type-options: nosniff',
    'connection: close',
    `content-length: ${Buffer.byteLength(bodyOf(refusal))}`,
    ...(refusal.headers ?? [])
  ]
}

function endWith(socket: Duplex, refusal: SocketRefusal): void {
  if (!socket.writable) return
  // The other side may never end its half.
  socket.once('finish', () => socket.destroy())
  socket.end([`HTTP/1.1 ${refusal.statusLine}`, ...headOf(refusal), '', bodyOf(refusal)].join('\r\n'))
}

function refuse(response: ServerResponse, refusal: SocketRefusal): void {
  for (const line of headOf(refusal)) {
    const colon = line.indexOf(':')
    response.setHeader(line.slice(0, colon), line.slice(colon + 2))
  }
  response.statusCode = Number.parseInt(refusal.statusLine, 10)
  response.end(bodyOf(refusal))
}
