import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http'
import { request as httpsRequest, Agent as TlsAgent } from 'node:https'
import { createTurns } from './createTurns.ts'
import type { Exchange, ReceivedAnswer, SentRequest } from './Exchange.ts'

/** Where and how requests are sent. */
export interface WireOptions {
  /** The service's base address; a path in it is kept. */
  readonly baseUrl: string
  /** Requests under way at the same time. */
  readonly concurrency: number
  /** Of each exchange, from its first byte to the last one of the answer. */
  readonly timeoutMs: number
}

/** Sends requests as they are. */
export interface Wire {
  /** @throws {WireError} No whole answer came in time. */
  send(request: SentRequest): Promise<Exchange>
  /** Closes the connections that are kept. */
  close(): void
}

/** There was no whole answer. */
export class WireError extends Error {
  override readonly name = 'WireError'
  readonly sent: SentRequest

  constructor(message: string, sent: SentRequest) {
    super(message)
    this.sent = sent
  }
}

/** Most bytes of an answer that are read: beyond it the histories of busy addresses are not looked at whole. */
const largestAnswer = 256 * 1024 * 1024

/**
 * A connection pool without anything that would mend an answer: no redirects, no decoding, no retries.
 *
 * @remarks The answer is taken as soon as it is there, also where the other side has not read the whole body: that is how
 *   a body too large is refused.
 */
export function createWire({ baseUrl, concurrency, timeoutMs }: WireOptions): Wire {
  const base = new URL(baseUrl)
  const isTls = base.protocol === 'https:'
  const agent = new (isTls ? TlsAgent : Agent)({ keepAlive: true })
  const inTurn = createTurns(concurrency)
  const begin = isTls ? httpsRequest : httpRequest
  const prefix = base.pathname.replace(/\/+$/, '')

  function exchange(sent: SentRequest): Promise<ReceivedAnswer> {
    const body = sent.body === undefined ? undefined : Buffer.from(sent.body, 'utf8')
    return new Promise((resolve, reject) => {
      const fail = (message: string) => reject(new WireError(message, sent))
      const outgoing: ClientRequest = begin(
        {
          agent,
          protocol: base.protocol,
          hostname: base.hostname.replace(/^\[|\]$/g, ''),
          port: base.port,
          method: sent.verb,
          path: prefix + sent.target,
          headers: {
            ...sent.headers,
            ...(body === undefined ? {} : { 'content-length': String(body.length) })
          }
        },
        incoming => {
          answered = true
          readAnswer(incoming).then(resolve, (error: Error) => fail(error.message))
        }
      )
      let answered = false
      const timer = setTimeout(() => {
        fail(`no whole answer within ${timeoutMs} ms`)
        outgoing.destroy()
      }, timeoutMs)
      outgoing.on('error', error => {
        if (answered) return
        // The other side may close a kept connection at the moment at which it is used again; every request is read-only.
        if (outgoing.reusedSocket && isClosed(error)) exchange(sent).then(resolve, reject)
        else fail(error.message)
      })
      outgoing.on('close', () => clearTimeout(timer))
      outgoing.end(body)
    })
  }

  return {
    async send(sent) {
      const received = await inTurn(() => exchange(sent))
      return { sent, received }
    },
    close: () => agent.destroy()
  }
}

function isClosed(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE'
}

async function readAnswer(incoming: IncomingMessage): Promise<ReceivedAnswer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > largestAnswer) throw new Error(`the answer is longer than ${largestAnswer} bytes`)
    chunks.push(chunk)
  }
  const headers = Object.fromEntries(
    Object.entries(incoming.headersDistinct).map(([name, values]) => [name, (values ?? []).join(', ')])
  )
  return { status: incoming.statusCode ?? 0, headers, text: Buffer.concat(chunks).toString('utf8') }
}
