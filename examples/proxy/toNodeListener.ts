import type { IncomingMessage, RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream as NodeStream } from 'node:stream/web'

/**
 * Makes a listener for node:http and Express of a handler that speaks Fetch, such as `createRoute` returns. Mount it before
 * body parsers.
 */
export function toNodeListener(handle: (request: Request) => Promise<Response>): RequestListener {
  return async (incoming, outgoing) => {
    const left = new AbortController()
    outgoing.once('close', () => left.abort())
    // Not destroyed with the request's body: a refusal is still to be sent.
    const chunks = incoming.iterator({ destroyOnReturn: false })
    let request: Request
    try {
      request = toRequest(incoming, chunks, left.signal)
    } catch {
      outgoing.writeHead(400).end() // A header or a method that Fetch does not know.
      return
    }
    try {
      const { status, headers, body } = await handle(request)
      outgoing.writeHead(status, Object.fromEntries(headers)).flushHeaders()
      await pipeline(body === null ? Readable.from([]) : Readable.fromWeb(body as NodeStream), outgoing)
    } catch {
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(500).end()
    }
    // An answer may come before the whole body: the rest is received and dropped.
    await chunks.return?.()
    incoming.resume()
  }
}

function toRequest(
  incoming: IncomingMessage,
  chunks: AsyncIterableIterator<Uint8Array>,
  signal: AbortSignal
): Request {
  const { method = 'GET', headers, rawHeaders, url = '' } = incoming
  // Of an absolute request line the path counts, and a path that is not in normal form names nothing.
  const path = url.replace(/^https?:\/\/[^/?#]*/i, '')
  const root = new URL(`http://${headers.host}/`)
  const parsed = path.startsWith('/') ? new URL(root.origin + path) : root
  const isNormal = parsed.pathname + parsed.search === path
  const copied = new Headers()
  // Each as it came: Node drops the second of some.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    copied.append(`${rawHeaders[index]}`, `${rawHeaders[index + 1]}`)
  }
  const body = new ReadableStream({
    async pull(controller) {
      const { value, done } = await chunks.next()
      if (done) controller.close()
      else controller.enqueue(value)
    }
  })
  const hasBody = method !== 'GET' && method !== 'HEAD'
  return new Request(isNormal ? parsed : root, {
    method,
    headers: copied,
    signal,
    ...(hasBody && { body, duplex: 'half' })
  })
}
