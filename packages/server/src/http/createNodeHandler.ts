import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type BodyStream, bodyTooLarge, callerGone, type HttpHandler, type HttpRequest } from './exchange.ts'
import { splitTarget } from './requestTarget.ts'

/** The service as a listener of node:http, and of every framework that hands on its `req` and `res`. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** After an answer to a request that is still being sent, so long until it is cut: time enough to read the answer. */
const unreadBodyMs = 2_000

/**
 * @param streamIdleMs - a caller that takes nothing of its answer for so long is cut off.
 * @remarks Written against node:http directly rather than through a Fetch adapter: body limits, back-pressure and
 *   the cut of a failed stream are then the same few lines that are tested here, and no objects stand between.
 */
export function createNodeHandler(handle: HttpHandler, streamIdleMs: number): NodeHandler {
  return (request, response) => {
    answer(request, response).catch(() => {
      // The caller is gone, or the answer failed after it began: no correct ending exists.
      response.destroy()
    })
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const gone = new AbortController()
    response.once('close', () => {
      if (!response.writableFinished) gone.abort()
    })
    const { status, headers, body } = await handle(toHttpRequest(request, gone.signal))
    if (response.destroyed) {
      if (typeof body !== 'string') await body.return()
      return
    }
    if (typeof body === 'string') {
      const length = status === 204 ? {} : { 'content-length': Buffer.byteLength(body) }
      response.writeHead(status, { ...headers, ...length })
      // Refused without reading its body: what still comes is thrown away by node:http, though not for ever.
      if (!request.complete) response.once('finish', () => cutWhenStillSending(request))
      response.end(body)
      return
    }
    response.writeHead(status, headers)
    response.setTimeout(streamIdleMs, () => response.destroy())
    await pipeline(Readable.from(iterate(body), { highWaterMark: 1 }), response)
  }
}

function iterate(body: BodyStream): AsyncIterable<string> {
  return { [Symbol.asyncIterator]: () => body }
}

function toHttpRequest(request: IncomingMessage, signal: AbortSignal): HttpRequest {
  const { path, query } = splitTarget(request.url ?? '/')
  return {
    method: request.method ?? '',
    path,
    query,
    peerAddress: request.socket.remoteAddress,
    // Node keeps only the first of some repeated headers; all of them must be seen, or two readers may differ.
    header: name => request.headersDistinct[name]?.join(', '),
    readBody: largestBytes => readBody(request, largestBytes),
    signal
  }
}

function cutWhenStillSending(request: IncomingMessage): void {
  const cut = setTimeout(() => {
    if (!request.complete) request.socket.destroy()
  }, unreadBodyMs)
  cut.unref()
}

function readBody(request: IncomingMessage, largestBytes: number): Promise<Uint8Array | typeof bodyTooLarge> {
  if (Number(request.headers['content-length'] ?? 0) > largestBytes) return Promise.resolve(bodyTooLarge)
  // A request read to its end is destroyed too.
  const readByHost = request.readableDidRead && (request.complete || !request.destroyed)
  if (request.destroyed && !readByHost) return Promise.reject(callerGone())
  // Nothing more would ever come, so waiting for it would be for ever.
  if (readByHost) {
    return Promise.reject(
      new Error('the host has read the body already: give nodeHandler its requests before any body parser')
    )
  }
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
