import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  BodyReadByHostError,
  bodyTooLarge,
  callerGone,
  type HttpHandler,
  type HttpRequest
} from './exchange.ts'
import { type CallerWatch, writeAnswer } from './writeAnswer.ts'

/** The service as a listener of node:http, and of every framework that hands on its `req` and `res`. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/**
 * Makes a listener of node:http out of a handler.
 *
 * @param streamIdleMs - a caller that takes nothing of its answer for so long is cut off.
 * @remarks Written against node:http directly rather than through a Fetch adapter: body limits, back-pressure and
 *   the cut of a failed stream are then the same few lines that are tested here, and no objects stand between.
 */
export function createNodeHandler(handle: HttpHandler, streamIdleMs: number): NodeHandler {
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const caller = watchCaller(request, response)
    const answered = await handle(toHttpRequest(request, caller))
    await writeAnswer(request, response, answered, { streamIdleMs, caller })
  }

  return (request, response) => {
    answer(request, response).catch(() => {
      // The caller is gone, or the answer failed after it began: no correct ending exists.
      response.destroy()
    })
  }
}

/** Watches for the end of the connection that an answer is for. */
function watchCaller(request: IncomingMessage, response: ServerResponse): CallerWatch {
  // Most answers are written before anything asks for the signal.
  let gone: AbortController | undefined
  let isGone = false
  const end = () => {
    isGone = true
    gone?.abort()
  }
  const forget = whenGone(request.socket, end)
  response.once('finish', forget).once('close', () => {
    forget()
    if (!response.writableFinished) end()
  })
  return {
    isGone: () => isGone,
    get signal() {
      gone ??= new AbortController()
      if (isGone) gone.abort()
      return gone.signal
    }
  }
}

const listenersOf = new WeakMap<Duplex, Set<() => void>>()

/**
 * Calls `listener` once when a connection closes; at once when it is closed already.
 *
 * @returns takes the listener off again.
 * @remarks An answer that waits behind another on its connection is not informed by node:http of Node 20 when that
 *   ends, so the connection itself is watched; by one listener, however many requests it carries.
 */
function whenGone(connection: Duplex, listener: () => void): () => void {
  if (connection.destroyed) {
    listener()
    return () => {}
  }
  let listeners = listenersOf.get(connection)
  if (listeners === undefined) {
    const all = new Set<() => void>()
    listeners = all
    listenersOf.set(connection, all)
    connection.once('close', () => {
      for (const gone of all) gone()
    })
  }
  const known = listeners.add(listener)
  return () => known.delete(listener)
}

/** Nobody changes the query of a request. */
const noQuery = new URLSearchParams()

const targetPattern = /^(?:https?:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i

/**
 * Reduces a request to its path and query: of `/path?query`, or of a proxy's absolute form, which names the host as well.
 *
 * @remarks The path is not resolved the way a browser does (`..`, `//host`, `\`), or a gateway in front, which judges the
 *   text, and this server would see two different paths.
 */
function toHttpRequest(request: IncomingMessage, caller: CallerWatch): HttpRequest {
  const [, path = '', query = ''] = targetPattern.exec(request.url ?? '/') ?? []
  return {
    method: request.method ?? '',
    path: path === '' ? '/' : path,
    query: query === '' ? noQuery : new URLSearchParams(query),
    peerAddress: request.socket.remoteAddress,
    header: name => headerOf(request, name),
    readBody: largestBytes => readBody(request, largestBytes),
    get signal() {
      return caller.signal
    },
    source: request
  }
}

/**
 * Reads a header as it was sent: Node keeps only the first of some repeated headers; all of them must be seen, or two
 * readers may differ. (HTTP/2 has no `headersDistinct`.)
 */
function headerOf({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let value: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.toLowerCase() !== name) continue
    const next = rawHeaders[index + 1] ?? ''
    value = value === undefined ? next : `${value}, ${next}`
  }
  return value
}

function readBody(request: IncomingMessage, largestBytes: number): Promise<Uint8Array | typeof bodyTooLarge> {
  if (Number(request.headers['content-length'] ?? 0) > largestBytes) return Promise.resolve(bodyTooLarge)
  // A request read to its end is destroyed too.
  const readByHost = request.readableDidRead && (request.complete || !request.destroyed)
  if (request.destroyed && !readByHost) return Promise.reject(callerGone())
  // Nothing more would ever come, so waiting for it would be for ever.
  if (readByHost) return Promise.reject(new BodyReadByHostError())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = (settled: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      settled()
    }
    // Text when the host has set an encoding.
    const onData = (data: Buffer | string) => {
      const chunk = typeof data === 'string' ? Buffer.from(data, request.readableEncoding ?? 'utf8') : data
      length += chunk.length
      if (length <= largestBytes) chunks.push(chunk)
      else settle(() => resolve(bodyTooLarge))
    }
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, length)))
    const onGone = () => settle(() => reject(callerGone()))
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}
