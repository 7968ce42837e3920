import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import {
  BodyReadByHostError,
  type BodyStream,
  bodyTooLarge,
  callerGone,
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest
} from './exchange.ts'
import { splitTarget } from './requestTarget.ts'
import { type TakingWatch, watchTaking } from './watchTaking.ts'
import { whenGone } from './whenGone.ts'

/** The service as a listener of node:http, and of every framework that hands on its `req` and `res`. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** After an answer to a request that is still being sent, so long until it is cut: time enough to read the answer. */
const unreadBodyMs = 2_000

/** A caller makes progress when it takes so much of a long answer. */
const stepBytes = 64 * 1024

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
    const forget = whenGone(request.socket, () => gone.abort())
    response.once('finish', forget).once('close', () => {
      forget()
      if (!response.writableFinished) gone.abort()
    })
    const answered = await handle(toHttpRequest(request, gone.signal))
    const { status, body } = answered
    const headers = request.httpVersionMajor > 1 ? withoutConnection(answered.headers) : answered.headers
    // A host may have answered meanwhile, as those do that set a time for every answer.
    if (gone.signal.aborted || response.destroyed || response.headersSent) {
      if (typeof body !== 'string') await body.return()
      return
    }
    const watch = watchTaking(response, streamIdleMs)
    if (typeof body === 'string') {
      const bytes = Buffer.byteLength(body)
      response.writeHead(status, { ...headers, ...(status === 204 ? {} : { 'content-length': bytes }) })
      // Refused without reading its body: what still comes is thrown away by node:http, though not for ever.
      if (!request.complete) response.once('finish', () => cutWhenStillSending(request))
      // Histories are ASCII, which needs no encoding: the fewer passes over them the better.
      response.end(body, bytes === body.length ? 'latin1' : 'utf8')
      watch.given()
      return
    }
    response.writeHead(status, headers)
    const pieces = Readable.from(inSteps(body, watch), { objectMode: true, highWaterMark: 1 })
    await pipeline(pieces, response, { signal: gone.signal })
  }
}

/** HTTP/2 has no `connection`: its host ends connections in its own way. */
function withoutConnection(headers: HttpAnswer['headers']): HttpAnswer['headers'] {
  const { connection: _, ...kept } = headers
  return kept
}

/**
 * The parts of an answer, each handed on when the ones before were taken. The next one is made while the last is on its way,
 * so that neither the server nor a quick caller waits for the other; never more than one.
 */
function inSteps(body: BodyStream, watch: TakingWatch): AsyncIterable<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  let ahead: ReturnType<BodyStream['next']> | undefined
  let isOver = false
  const makeNext = () => {
    ahead ??= body.next()
    return ahead
  }
  const steps: AsyncIterator<Buffer, undefined> = {
    async next() {
      watch.taken()
      if (rest.length === 0) {
        const next = await makeNext()
        ahead = undefined
        if (next.done) {
          isOver = true
          // What was written last has still to be taken; the end of the answer stops the watch.
          watch.given()
          return next
        }
        rest = Buffer.from(next.value)
      }
      const step = rest.subarray(0, stepBytes)
      rest = rest.subarray(stepBytes)
      // Once this one has been written.
      if (rest.length === 0) {
        setImmediate(() => {
          // A failure is told to whoever takes the part, and nobody may be left to do so.
          if (!isOver) makeNext().catch(() => {})
        })
      }
      watch.given()
      return { done: false, value: step }
    },
    async return() {
      isOver = true
      await body.return()
      return { done: true, value: undefined }
    }
  }
  return { [Symbol.asyncIterator]: () => steps }
}

function toHttpRequest(request: IncomingMessage, signal: AbortSignal): HttpRequest {
  const { path, query } = splitTarget(request.url ?? '/')
  return {
    method: request.method ?? '',
    path,
    query,
    peerAddress: request.socket.remoteAddress,
    header: name => headerOf(request, name),
    readBody: largestBytes => readBody(request, largestBytes),
    signal
  }
}

/**
 * As it was sent: Node keeps only the first of some repeated headers; all of them must be seen, or two readers may
 * differ. (HTTP/2 has no `headersDistinct`.)
 */
function headerOf({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  let value: string | undefined
  for (let place = 0; place < rawHeaders.length; place += 2) {
    if (rawHeaders[place]?.toLowerCase() !== name) continue
    const next = rawHeaders[place + 1] ?? ''
    value = value === undefined ? next : `${value}, ${next}`
  }
  return value
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
