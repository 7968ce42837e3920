import {
  BodyReadByHostError,
  type BodyStream,
  bodyTooLarge,
  callerGone,
  type HttpHandler,
  type HttpRequest
} from '../guards/exchange.ts'
import { isStream, type WholeBody, writable } from '../rpc/answerBody.ts'

/** Facts about a `Request` that only its host knows. */
export interface FetchOrigin {
  /**
   * IP address of the other end of the connection. Behind a trusted proxy `X-Forwarded-For` is read as on a socket.
   * Absent, or anything but the text of an address: limits per address do not apply to the request.
   */
  readonly address?: string
}

/**
 * The service for hosts that speak `Request` and `Response`. Hosts that give every handler an object of their own as
 * second argument (`env`, `info`) may do so: it names no address.
 */
export type FetchHandler = (request: Request, origin?: FetchOrigin | object) => Promise<Response>

/** Statuses with which a `Response` takes no body, not even an empty one. */
const bodilessStatuses = new Set([204, 205, 304])

/**
 * Makes a Fetch handler of the service. Its answers are never compressed: hosts compress a `Response` themselves, and some send its
 * body without its `content-encoding`, which no caller could read.
 *
 * @param streamIdleMs - a streamed answer that is not read for so long ends with an error.
 */
export function createFetchHandler(handle: HttpHandler, streamIdleMs: number): FetchHandler {
  return async (request, origin) => {
    const { status, headers, body } = await handle(toHttpRequest(request, reportedAddress(origin)))
    const hasBody = !bodilessStatuses.has(status) && request.method !== 'HEAD'
    const payload = isStream(body) ? toReadableStream(body, streamIdleMs) : toPayload(body)
    // `connection` belongs to the host's HTTP, not to a Response.
    const { connection: _, ...kept } = headers
    return new Response(hasBody ? payload : null, { status, headers: kept })
  }
}

function toPayload(body: WholeBody): string | Uint8Array<ArrayBuffer> {
  if (typeof body === 'string') return body
  return Buffer.concat(body.map(part => Buffer.from(writable(part))))
}

function reportedAddress(origin: object | undefined): string | undefined {
  const address: unknown =
    origin === undefined || origin === null ? undefined : Reflect.get(origin, 'address')
  return typeof address === 'string' ? address : undefined
}

function toHttpRequest(request: Request, peerAddress: string | undefined): HttpRequest {
  const url = new URL(request.url)
  return {
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    peerAddress,
    header: name => (name === 'accept-encoding' ? undefined : (request.headers.get(name) ?? undefined)),
    readBody: largestBytes =>
      readBody(request, largestBytes).catch((error: unknown) => {
        throw request.signal.aborted ? callerGone() : error
      }),
    signal: request.signal
  }
}

async function readBody(request: Request, largestBytes: number): Promise<Uint8Array | typeof bodyTooLarge> {
  if (request.bodyUsed || request.body?.locked) throw new BodyReadByHostError()
  if (request.body === null) return new Uint8Array()
  if (Number(request.headers.get('content-length')) > largestBytes) return bodyTooLarge
  const reader = request.body.getReader()
  const chunks: Uint8Array[] = []
  let length = 0
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    length += next.value.byteLength
    if (length > largestBytes) {
      await reader.cancel()
      return bodyTooLarge
    }
    chunks.push(next.value)
  }
  return Buffer.concat(chunks, length)
}

function toReadableStream(body: BodyStream, idleMs: number): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let idle: NodeJS.Timeout | undefined
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        watch(controller)
      },
      async pull(controller) {
        clearTimeout(idle)
        const next = await body.next()
        if (next.done) {
          controller.close()
          return
        }
        controller.enqueue(typeof next.value === 'string' ? encoder.encode(next.value) : next.value)
        watch(controller)
      },
      async cancel() {
        clearTimeout(idle)
        await body.return()
      }
    },
    { highWaterMark: 0 }
  )

  function watch(controller: ReadableStreamDefaultController<Uint8Array>): void {
    idle = setTimeout(() => {
      controller.error(new Error(`nobody read the answer for ${idleMs} ms`))
      body.return().catch(() => {})
    }, idleMs)
    idle.unref()
  }
}
