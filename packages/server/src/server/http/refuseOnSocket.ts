import { randomUUID } from 'node:crypto'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { transport } from '@chain-data/protocol'
import { failureText } from '../rpc/envelope.ts'
import { headFault, type SocketRefusal, socketRefusals } from './headFault.ts'

const refusalOfCode = new Map<unknown, SocketRefusal>([
  ['HPE_HEADER_OVERFLOW', socketRefusals.headTooLarge],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', socketRefusals.chunkExtensions],
  ['ERR_HTTP_REQUEST_TIMEOUT', socketRefusals.tooSlow]
])

/**
 * Answers with a JSON-RPC error what node:http would refuse without a word, and what it should: bytes that are no
 * HTTP, a head too large, too slow or that may be read in two ways, an unknown expectation, CONNECT. Each of them ends
 * its connection.
 *
 * @param headerFields - most header lines of a request.
 * @param onRefusal - told the reason of each refusal.
 * @returns a listener for the server's requests, to be put before any other.
 */
export function refuseOnSocket(
  server: Server,
  handler: (request: IncomingMessage, response: ServerResponse) => void,
  headerFields: number,
  onRefusal: (reason: string) => void
): (request: IncomingMessage, response: ServerResponse) => void {
  const answers = new WeakMap<Duplex, { readonly open: Set<ServerResponse>; latest: ServerResponse }>()
  const refused = new WeakSet<Duplex>()
  /** Their last request has come: what node:http still finds behind it is not begun (RFC 9112, 9.6). */
  const ended = new WeakSet<Duplex>()

  server.maxHeadersCount = headerFields + 1
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
    // Asked for only when somebody reads it: a body that is refused by its head is never sent.
    request.once('resume', () => {
      if (!response.headersSent) response.writeContinue()
    })
    // Whether the body follows after a refusal is up to the caller, so the next request could not be told from it.
    response.setHeader('connection', 'close')
    listener(request, response)
    ended.add(request.socket)
  })
  return listener

  function listener(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request
    if (ended.has(socket)) return
    if (!response.shouldKeepAlive) ended.add(socket)
    const known = answers.get(socket)
    const open = known?.open ?? new Set()
    open.add(response)
    answers.set(socket, { open, latest: response })
    response.once('close', () => open.delete(response))
    const fault = headFault(request, headerFields)
    if (fault === undefined) {
      handler(request, response)
      return
    }
    ended.add(socket)
    refuse(response, fault, onRefusal)
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
    if (earlier === undefined) endWith(socket, refusal, onRefusal)
    else earlier.once('close', () => endInTurn(socket, refusal))
  }
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
function writeRefusal({ error, headers }: SocketRefusal): {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
} {
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
