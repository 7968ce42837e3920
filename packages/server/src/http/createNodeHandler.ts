import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type BodyStream, bodyTooLarge, type HttpHandler, type HttpRequest } from './exchange.ts'

/** The service as a listener of node:http, and of every framework that hands on its `req` and `res`. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

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
  const target = request.url ?? '/'
  // A proxy's absolute form names the host as well; anything that is no URL at all is just an unknown path.
  const url = URL.canParse(target, 'http://host') ? new URL(target, 'http://host') : undefined
  return {
    method: request.method ?? '',
    path: url?.pathname ?? target,
    query: url?.searchParams ?? new URLSearchParams(),
    // Node keeps only the first of some repeated headers; all of them must be seen, or two readers may differ.
    header: name => request.headersDistinct[name]?.join(', '),
    readBody: largestBytes => readBody(request, largestBytes),
    signal
  }
}

function readBody(request: IncomingMessage, largestBytes: number): Promise<Uint8Array | typeof bodyTooLarge> {
  if (Number(request.headers['content-length'] ?? 0) > largestBytes) return Promise.resolve(bodyTooLarge)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    const settle = (settled: () => void) => {
      request.off('data', onData).off('end', onEnd).off('error', onGone).off('close', onGone)
      settled()
    }
    const onData = (chunk: Buffer) => {
      length += chunk.length
      if (length <= largestBytes) chunks.push(chunk)
      else settle(() => resolve(bodyTooLarge))
    }
    const onEnd = () => settle(() => resolve(Buffer.concat(chunks, length)))
    const onGone = () => settle(() => reject(new Error('the caller went away while sending its request')))
    request.on('data', onData).on('end', onEnd).on('error', onGone).on('close', onGone)
  })
}
