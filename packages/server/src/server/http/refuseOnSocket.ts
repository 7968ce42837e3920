import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { createErrorObject, type RpcErrorObject, transport } from '@chain-data/protocol'
import { failureText } from '../rpc/envelope.ts'
import { headerOf } from './createNodeHandler.ts'

/** An answer to broken HTTP. It ends its connection. */
interface SocketRefusal {
  readonly status: number
  readonly phrase: string
  readonly error: RpcErrorObject
  readonly headers?: Readonly<Record<string, string>>
}

/** Refusals by their cause. */
const socketRefusals = {
  notHttp: invalid(400, 'Bad Request', 'The bytes are not an HTTP request.'),
  host: invalid(400, 'Bad Request', 'An HTTP request has one Host header, which names a host.'),
  target: invalid(400, 'Bad Request', 'The request target is a path, without fragment or credentials.'),
  framing: invalid(400, 'Bad Request', 'HTTP/1.0 has no Transfer-Encoding.'),
  coding: invalid(501, 'Not Implemented', 'The only Transfer-Encoding known is chunked.'),
  version: invalid(505, 'HTTP Version Not Supported', 'Send the request with HTTP/1.1.'),
  expectation: invalid(417, 'Expectation Failed', 'The only Expect header known is 100-continue.'),
  headTooLarge: invalid(431, 'Request Header Fields Too Large', 'The request head is too large.'),
  tooSlow: invalid(408, 'Request Timeout', 'The request did not come in time.'),
  chunkExtensions: {
    status: 413,
    phrase: 'Payload Too Large',
    error: createErrorObject('BODY_TOO_LARGE', { extraMessage: 'The chunk extensions are too large.' })
  },
  descriptors: {
    status: 503,
    phrase: 'Service Unavailable',
    error: createErrorObject('OVERLOADED', {
      extraMessage:
        'The server has as many connections as its limit of open files (ulimit -n) leaves room for. Try again, or have it raised.',
      retryAfterMs: 1_000
    }),
    headers: { 'retry-after': '1' }
  },
  tunnel: {
    status: 405,
    phrase: 'Method Not Allowed',
    error: createErrorObject('METHOD_NOT_ALLOWED', { extraMessage: 'Send the request with POST.' }),
    headers: { allow: transport.allow }
  }
} as const satisfies Record<string, SocketRefusal>

function invalid(status: number, phrase: string, extraMessage: string): SocketRefusal {
  return { status, phrase, error: createErrorObject('INVALID_REQUEST', { extraMessage }) }
}

const refusalOfCode = new Map<unknown, SocketRefusal>([
  ['HPE_HEADER_OVERFLOW', socketRefusals.headTooLarge],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', socketRefusals.chunkExtensions],
  ['ERR_HTTP_REQUEST_TIMEOUT', socketRefusals.tooSlow]
])

/**
 * Answers broken HTTP with a JSON-RPC error, where node:http would end the connection without a word or let it pass: bytes that are no
 * HTTP, a head too large, too slow or that may be read in two ways, an unknown expectation, CONNECT. Each of them ends
 * its connection.
 *
 * @param headerFields - maximum of header lines of a request.
 * @param maxConnections - requests of connections beyond so many are refused, so that file descriptors are left for the
 *   store and for nodes.
 * @param onRefusal - called with the reason of each refusal.
 * @returns a listener for the server's requests, to be put before any other.
 */
export function refuseOnSocket(
  server: Server,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  headerFields: number,
  maxConnections: number,
  onRefusal: (reason: string) => void
): (request: IncomingMessage, response: ServerResponse) => void {
  const answers = new WeakMap<Duplex, Answers>()
  const refused = new WeakSet<Duplex>()
  /** Connections whose last request has come: a request after it is not begun (RFC 9112, 9.6). */
  const ended = new WeakSet<Duplex>()

  const crowded = new WeakSet<Duplex>()
  let connections = 0

  server.maxHeadersCount = headerFields + 1
  server.on('connection', socket => {
    if (++connections > maxConnections) crowded.add(socket)
    socket.once('close', () => connections--)
  })
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    if (!socket.writable || error.code === 'ECONNRESET') {
      socket.destroy(error)
      return
    }
    // Every further piece that comes is an error again.
    if (refused.has(socket)) return
    refused.add(socket)
    socket.pause()
    endInTurn(socket, refusalOfCode.get(error.code) ?? socketRefusals.notHttp)
  })
  server.on('connect', (_request, socket) => {
    socket.on('error', () => {})
    endWith(socket, socketRefusals.tunnel, onRefusal)
  })
  server.on('checkExpectation', (_request, response) =>
    refuse(response, socketRefusals.expectation, onRefusal)
  )
  server.on('checkContinue', (request, response) => {
    // The body is asked for when it is read: one that is refused by its head is never sent.
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue()
    })
    // Whether the body follows after a refusal is up to the caller, so the next request could not be distinguished from it.
    response.setHeader('connection', 'close')
    listener(request, response)
    ended.add(request.socket)
  })
  return listener

  function listener(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    if (ended.has(socket)) return
    if (!response.shouldKeepAlive) ended.add(socket)
    const known: Answers = answers.get(socket) ?? { open: new Set(), latest: response }
    answers.set(socket, known)
    const { open } = known
    known.latest = response
    open.add(response)
    response.once('close', () => {
      open.delete(response)
      known.refuse?.()
    })
    // Health pages are read by GET: an overload is no reason to restart a server.
    const isCrowded = crowded.has(socket) && request.method === 'POST'
    const fault = isCrowded ? socketRefusals.descriptors : headFault(request, headerFields)
    if (fault !== undefined) {
      ended.add(socket)
      refuse(response, fault, onRefusal)
    } else handler(request, response)
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
    const isWaiting = [...(known?.open ?? [])].some(response => response !== broken)
    if (known !== undefined && isWaiting) known.refuse = () => endInTurn(socket, refusal)
    else endWith(socket, refusal, onRefusal)
  }
}

/** Answers of one connection. */
interface Answers {
  readonly open: Set<ServerResponse>
  latest: ServerResponse
  /** Called after each answer: refuses once all of them are given. */
  refuse?: () => void
}

function endWith(socket: Duplex, refusal: SocketRefusal, onRefusal: (reason: string) => void): void {
  if (!socket.writable) return
  onRefusal(refusal.error.data.reason)
  // The other side may never end its half.
  socket.once('finish', () => socket.destroy())
  const { headers, body } = writeRefusal(refusal)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  socket.end([`HTTP/1.1 ${refusal.status} ${refusal.phrase}`, ...lines, '', body].join('\r\n'))
}

function refuse(response: ServerResponse, refusal: SocketRefusal, onRefusal: (reason: string) => void): void {
  onRefusal(refusal.error.data.reason)
  const { headers, body } = writeRefusal(refusal)
  response.writeHead(refusal.status, { ...headers })
  response.end(body)
}

/** Headers and body of a refusal, under a request id of its own. */
function writeRefusal({ error, headers }: SocketRefusal) {
  const body = failureText({ idText: undefined }, error)
  return {
    headers: {
      'content-type': transport.responseContentType,
      ...transport.answerHeaders,
      'x-request-id': randomUUID(),
      connection: 'close',
      'content-length': String(Buffer.byteLength(body)),
      ...headers
    },
    body
  }
}

/** A name or an address, with or without a port; neither a list nor credentials. */
const hostPattern = /^(?:[\w.~%-]*|\[[\da-f:.]+\])(?::\d{0,5})?$/i

/** Targets with a fragment, and absolute ones without host or with credentials (RFC 9110, 4.2). */
const faultyTarget = /#|^https?:\/\/(?:[/?]|$|[^/?]*@)/i

/**
 * Finds a fault in a request's head that node:http lets pass, and that a proxy in front may read otherwise (RFC 9112).
 *
 * @param headerFields - maximum of header lines. node:http must keep one more: it silently drops further ones on some
 *   versions, and a dropped line is not checked.
 * @returns why the request is refused; `undefined` when nothing is wrong.
 */
function headFault(request: IncomingMessage, headerFields: number): SocketRefusal | undefined {
  const { httpVersion, rawHeaders, url = '' } = request
  const isOld = httpVersion === '1.0'
  if (rawHeaders.length / 2 > headerFields) return socketRefusals.headTooLarge
  if (!isOld && httpVersion !== '1.1') return socketRefusals.version

  // Of a header given twice both values are in the text, which then is neither a host nor one of the words below.
  const host = headerOf(request, 'host')
  if (host === undefined ? !isOld : !hostPattern.test(host)) return socketRefusals.host
  if (faultyTarget.test(url)) return socketRefusals.target

  const coding = headerOf(request, 'transfer-encoding')
  if (coding !== undefined && isOld) return socketRefusals.framing
  if (coding !== undefined && coding.toLowerCase() !== 'chunked') return socketRefusals.coding

  // HTTP/1.0 knows no expectations, so there they mean nothing.
  const expect = headerOf(request, 'expect')
  if (expect !== undefined && !isOld && expect.toLowerCase() !== '100-continue')
    return socketRefusals.expectation
  return undefined
}
