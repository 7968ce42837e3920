import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import {
  BodyReadByHostError,
  bodyTooLarge,
  callerGone,
  type HttpHandler,
  type HttpRequest
} from '../guards/exchange.ts'
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
    const caller = new NodeRequest(request, response)
    await writeAnswer(request, response, await handle(caller), { streamIdleMs, caller })
  }

  return (request, response) => {
    answer(request, response).catch(() => {
      // The caller is gone, or the answer failed after it began: no correct ending exists.
      response.destroy()
    })
  }
}

/** Nobody changes the query of a request. */
const noQuery = new URLSearchParams()

const targetPattern = /^(?:https?:\/\/[^/?#]*)?([^?#]*)(?:\?([^#]*))?/i

/** A request, which also watches for the end of the connection that its answer is for. */
class NodeRequest implements HttpRequest, CallerWatch {
  readonly source: IncomingMessage
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly peerAddress: string | undefined
  /** Guards hand it on without the request. */
  readonly header = (name: string) => headerOf(this.source, name)
  /** Absent until it is asked for: most answers are written before. */
  #gone: AbortController | undefined
  #isGone = false

  /**
   * Takes path and query from `/path?query`, or from a proxy's absolute form, which names the host as well.
   *
   * The path is not resolved the way a browser does (`..`, `//host`, `\`), or a gateway in front, which judges the
   * text, and this server would see two different paths.
   */
  constructor(request: IncomingMessage, response: ServerResponse) {
    const [, path = '', query = ''] = targetPattern.exec(request.url ?? '/') ?? []
    this.source = request
    this.method = request.method ?? ''
    this.path = path === '' ? '/' : path
    this.query = query === '' ? noQuery : new URLSearchParams(query)
    this.peerAddress = request.socket.remoteAddress
    const end = () => {
      this.#isGone = true
      this.#gone?.abort()
    }
    const forget = whenGone(request.socket, end)
    // It follows `finish`, too.
    response.once('close', () => {
      forget()
      if (!response.writableFinished) end()
    })
  }

  readBody(largestBytes: number): Promise<Uint8Array | typeof bodyTooLarge> {
    return readBody(this.source, largestBytes)
  }

  isGone(): boolean {
    return this.#isGone
  }

  get signal(): AbortSignal {
    this.#gone ??= new AbortController()
    if (this.#isGone) this.#gone.abort()
    return this.#gone.signal
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

/**
 * Reads a header as it was sent: Node keeps only the first of some repeated headers; all of them must be seen, or two
 * readers may differ.
 */
export function headerOf({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let value: string | undefined
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const raw = rawHeaders[index]
    if (raw?.length !== name.length || raw.toLowerCase() !== name) continue
    const next = rawHeaders[index + 1] ?? ''
    value = value === undefined ? next : `${value}, ${next}`
  }
  return value
}

async function readBody(
  request: IncomingMessage,
  largestBytes: number
): Promise<Uint8Array | typeof bodyTooLarge> {
  if (Number(request.headers['content-length'] ?? 0) > largestBytes) return bodyTooLarge
  // A short body comes together with its head: node:http hands it on when the listener has returned.
  await undefined
  // A request read to its end is destroyed too.
  const readByHost = request.readableDidRead && (request.complete || !request.destroyed)
  if (request.destroyed && !readByHost) throw callerGone()
  // Nothing more would ever come, so waiting for it would be for ever.
  if (readByHost) throw new BodyReadByHostError()
  // HTTP/2 calls a request complete that was cut off, too.
  if (request.complete && request.httpVersionMajor === 1) {
    const body = toBytes(request, request.read() ?? '')
    return body.length <= largestBytes ? body : bodyTooLarge
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = (settled: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      settled()
    }
    const onData = (data: Buffer | string) => {
      const chunk = toBytes(request, data)
      length += chunk.length
      if (length <= largestBytes) chunks.push(chunk)
      else settle(() => resolve(bodyTooLarge))
    }
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, length)))
    const onGone = () => settle(() => reject(callerGone()))
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}

/** @param data - text when the host has set an encoding. */
function toBytes({ readableEncoding }: IncomingMessage, data: Buffer | string): Buffer {
  return typeof data === 'string' ? Buffer.from(data, readableEncoding ?? 'utf8') : data
}
