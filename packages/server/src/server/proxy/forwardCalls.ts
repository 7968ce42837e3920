import { Agent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import { type EndpointPath, transport } from '@chain-data/protocol'
import { codeOf } from '../../platform/errors.ts'
import { Refusal } from '../../platform/refusal.ts'
import { streamHeaders } from '../http/answers.ts'
import { callerGone, type HttpAnswer } from '../http/exchange.ts'
import { isJsonMediaType } from '../http/requestForm.ts'
import type { PieceStream } from '../rpc/answerBody.ts'
import { gather } from '../rpc/resultPieces.ts'
import type { ProxySettings } from './readProxyOptions.ts'

/** A request to the service. */
export interface ForwardedCalls {
  readonly endpoint: EndpointPath
  /** Chain id of the URL; the service checks it. */
  readonly urlChainId: string | undefined
  readonly body: string
  /** Address of the caller; absent where it is not known. */
  readonly address: string | undefined
  /** Origin of the page, where the service is to know it. */
  readonly origin: string | undefined
  /** The caller takes a stream of events. */
  readonly acceptsEvents: boolean
  /** The id of the last event that the caller has. */
  readonly lastEventId: string | undefined
  /** Aborts when the caller is gone. */
  readonly signal: AbortSignal
}

/** Statuses that mean the caller what they say. Others, such as a refused key, are between host and service. */
const passedOn = new Set([200, 413, 429, 503])
/** Answers up to this many characters are sent whole, with their length; longer ones as they come. */
const wholeAnswerChars = 65_536
const answerHeaders = ['retry-after', 'x-request-id', 'x-chain-data-coverage', 'x-chain-data-cursor'] as const

/**
 * Sends calls to the service with the host's key, and nothing else of what the caller sent.
 *
 * @returns a function that gives the answer, its body as a stream where it is long.
 * @throws {Refusal} OVERLOADED, by that function: no usable answer came, and `onProblem` got the reason.
 */
export function createForward(
  settings: ProxySettings,
  onProblem: (message: string) => void
): (calls: ForwardedCalls) => Promise<HttpAnswer> {
  const { target, authorization, connectTimeoutMs, answerTimeoutMs, idleTimeoutMs } = settings
  const isHttps = target.startsWith('https:')
  const agent = isHttps ? new HttpsAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
  const request = isHttps ? requestHttps : requestHttp

  return async calls => {
    const answer = await open(calls, true).catch((error: unknown) => {
      if (calls.signal.aborted) throw callerGone()
      throw unavailable(`the service cannot be reached (${problemOf(error)})`)
    })
    const { statusCode = 0, headers } = answer
    const kept = Object.fromEntries(
      answerHeaders.map(name => [name, headers[name]]).filter(([, value]) => typeof value === 'string')
    )
    if (calls.acceptsEvents && statusCode === 200 && isStreamOfEvents(headers)) {
      const body = piecesOf(answer, idleTimeoutMs)
      return { status: 200, headers: { ...streamHeaders, ...kept }, body, isEvents: true }
    }
    if (!passedOn.has(statusCode) || !isJsonMediaType(headers['content-type'], headers['content-encoding'])) {
      answer.destroy()
      throw unavailable(`the service answered what is not for callers (HTTP ${statusCode})`)
    }
    let body: string | PieceStream
    try {
      body = await gather(piecesOf(answer, idleTimeoutMs), wholeAnswerChars)
    } catch (error) {
      if (calls.signal.aborted) throw callerGone()
      throw unavailable(`the service broke off its answer (${problemOf(error)})`)
    }
    const contentType = { 'content-type': transport.responseContentType }
    return { status: statusCode, headers: { ...contentType, ...kept }, body }
  }

  function open(calls: ForwardedCalls, mayRepeat: boolean): Promise<IncomingMessage> {
    const { endpoint, urlChainId, body, address, origin, acceptsEvents, lastEventId, signal } = calls
    const query = urlChainId === undefined ? '' : `?chainId=${encodeURIComponent(urlChainId)}`
    return new Promise((resolve, reject) => {
      if (signal.aborted) throw callerGone()
      const outgoing = request(`${target}${endpoint}${query}`, {
        method: 'POST',
        agent,
        headers: {
          authorization,
          accept: acceptsEvents
            ? `${transport.streamContentType}, ${transport.responseContentType}`
            : transport.responseContentType,
          ...(acceptsEvents && lastEventId !== undefined ? { 'last-event-id': lastEventId } : {}),
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          ...(origin === undefined ? {} : { origin }),
          ...(address !== undefined && isIP(address) !== 0 ? { 'x-forwarded-for': address } : {})
        }
      })
      const leave = () => outgoing.destroy(callerGone())
      const answerTimer = setTimeout(() => outgoing.destroy(new Overdue('answer')), answerTimeoutMs)
      signal.addEventListener('abort', leave, { once: true })
      outgoing.once('close', () => {
        clearTimeout(answerTimer)
        signal.removeEventListener('abort', leave)
        // Without an error, as after a change of the protocol; of an answered request this is not heard.
        reject(new NoAnswer())
      })
      outgoing.once('socket', socket => {
        if (!socket.connecting) return
        const timer = setTimeout(() => outgoing.destroy(new Overdue('connect')), connectTimeoutMs)
        socket.once(isHttps ? 'secureConnect' : 'connect', () => clearTimeout(timer))
        socket.once('close', () => clearTimeout(timer))
      })
      outgoing.once('response', answer => {
        clearTimeout(answerTimer)
        resolve(answer)
      })
      outgoing.on('error', error => {
        // The service may end a connection that rested at the moment it is used. Nothing was asked then.
        const wasIdle = outgoing.reusedSocket && codeOf(error) === 'ECONNRESET'
        if (wasIdle && mayRepeat && !signal.aborted) resolve(open(calls, false))
        else reject(error)
      })
      outgoing.end(body)
    })
  }

  function unavailable(problem: string): Refusal {
    onProblem(problem)
    return new Refusal('OVERLOADED', 'The service behind this host is not available.', {
      retryAfterMs: 1_000
    })
  }
}

function isStreamOfEvents(headers: IncomingMessage['headers']): boolean {
  const [type = ''] = (headers['content-type'] ?? '').toLowerCase().split(';')
  return type.trim() === transport.streamContentType && headers['content-encoding'] === undefined
}

/** A message may name the address, a code never does. */
function problemOf(error: unknown): string {
  return codeOf(error) ?? 'no connection'
}

class NoAnswer extends Error {
  readonly code = 'NO_ANSWER'
}

class Overdue extends Error {
  readonly code: string

  constructor(what: 'connect' | 'answer') {
    super(`no ${what} in time`)
    this.code = `${what.toUpperCase()}_TIMEOUT`
  }
}

/**
 * The body of an answer, read from the service only as fast as its pieces are asked for.
 *
 * @param idleMs - longest time until the next piece, once it is asked for.
 */
function piecesOf(answer: IncomingMessage, idleMs: number): PieceStream {
  const chunks: AsyncIterator<string, undefined> = answer.setEncoding('utf8')[Symbol.asyncIterator]()
  return {
    async next() {
      const idle = setTimeout(() => {
        answer.destroy(Object.assign(new Error('no further piece in time'), { code: 'IDLE_TIMEOUT' }))
      }, idleMs)
      try {
        return await chunks.next()
      } finally {
        clearTimeout(idle)
      }
    },
    async return() {
      answer.destroy()
      return { done: true, value: undefined }
    }
  }
}
