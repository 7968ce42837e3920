import { type BodyStream, bodyTooLarge, callerGone, type HttpHandler, type HttpRequest } from './exchange.ts'

/**
 * The service as a Fetch handler, for hosts that speak `Request` and `Response`.
 *
 * @param streamIdleMs - a streamed answer that nobody reads for so long is ended with an error.
 */
export function createFetchHandler(
  handle: HttpHandler,
  streamIdleMs: number
): (request: Request) => Promise<Response> {
  return async request => {
    const { status, headers, body } = await handle(toHttpRequest(request))
    const hasBody = status !== 204 && request.method !== 'HEAD'
    const payload = typeof body === 'string' ? body : toReadableStream(body, streamIdleMs)
    // `connection` belongs to the host's HTTP, not to a Response.
    const { connection: _, ...kept } = headers
    return new Response(hasBody ? payload : null, { status, headers: kept })
  }
}

function toHttpRequest(request: Request): HttpRequest {
  const url = new URL(request.url)
  return {
    method: request.method,
    path: url.pathname,
    query: url.searchParams,
    header: name => request.headers.get(name) ?? undefined,
    readBody: largestBytes =>
      readBody(request, largestBytes).catch((error: unknown) => {
        throw request.signal.aborted ? callerGone() : error
      }),
    signal: request.signal
  }
}

async function readBody(request: Request, largestBytes: number): Promise<Uint8Array | typeof bodyTooLarge> {
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
        controller.enqueue(encoder.encode(next.value))
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
