import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { Readable } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { createSecretHider } from '../../platform/createSecretHider.ts'
import { lacksDescriptors } from '../../platform/describeCause.ts'
import { ConfigError } from '../../platform/errors.ts'
import { UpstreamError } from './upstreamError.ts'

/** A whole HTTP answer that is not a 429; what it says is the caller's business. */
export interface UpstreamAnswer {
  readonly status: number
  /** The body, decoded of its content encoding, in the pieces in which it came. */
  readonly body: readonly Uint8Array[]
  /** Its size. */
  readonly byteLength: number
  /** The pause that the node asked for in `Retry-After`. */
  readonly retryAfterMs?: number
}

/** Sends bodies to one node's HTTP address and returns its answers, without retries. */
export interface HttpUpstream {
  /** `upstream 1`, the position in `rpcUrls`, or the configured name; never the URL, any part of which may hold a key. */
  readonly name: string
  /** Takes out of the node's own words whatever may be a key in its URL, before they go into a message. */
  hide(text: string): string
  /**
   * POSTs one JSON body and reads the whole answer.
   * @param signal - ends the exchange at any point, also in the middle of the body.
   * @throws {UpstreamError} no answer, too large a one, or 429.
   */
  post(body: string, signal: AbortSignal): Promise<UpstreamAnswer>
}

export interface HttpUpstreamOptions {
  /** http or https; credentials in it are sent as Basic authorization. */
  readonly url: string
  /** Counted from 1. */
  readonly position: number
  /** Stands for the upstream in messages; by default its position. */
  readonly name?: string
  /** Sent with every request; they win over the user information of the URL. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /** Bound on the decoded body. */
  readonly maxResponseBytes: number
}

/**
 * @throws {ConfigError} when the URL cannot be used; the message names its position, never its text.
 * @remarks node:http and not `fetch`, whose parser is WebAssembly: when two threads of one process compile the same
 *   wrapper of it at the same time, V8 may end the whole process. Redirects are not followed: they would carry the
 *   credentials to wherever they point.
 */
export function createHttpUpstream(options: HttpUpstreamOptions): HttpUpstream {
  const { url, position, maxResponseBytes } = options
  const { name = `upstream ${position}` } = options
  const { target, authorization } = readUrl(url, position)
  const headers: Record<string, string> = {
    'content-type': 'application/json',
    accept: 'application/json',
    'accept-encoding': 'gzip, deflate, br'
  }
  if (authorization !== undefined) headers.authorization = authorization
  for (const [header, value] of Object.entries(options.headers ?? {})) headers[header.toLowerCase()] = value
  const isHttps = target.startsWith('https:')
  const agent = isHttps ? new HttpsAgent({ keepAlive: true }) : new HttpAgent({ keepAlive: true })
  const request = isHttps ? requestHttps : requestHttp

  function send(body: string, signal: AbortSignal): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const length = Buffer.byteLength(body)
      const options = { method: 'POST', agent, signal, headers: { ...headers, 'content-length': length } }
      const outgoing = request(target, options, resolve).on('error', reject)
      // After a change of the protocol the request tells nothing but this, not even that it was aborted.
      outgoing.on('close', () => reject(new Error('no answer')))
      outgoing.end(body)
    })
  }

  return {
    name,
    hide: createSecretHider(url, Object.values(options.headers ?? {})),
    async post(body, signal) {
      let response: IncomingMessage
      try {
        response = await send(body, signal)
      } catch (error) {
        signal.throwIfAborted()
        const systemCode = failureCode(error)
        // Without a file descriptor nothing was sent, which is not held against the node.
        const fault = lacksDescriptors(error) ? 'busy' : 'unreachable'
        throw new UpstreamError(`${name} cannot be reached (${systemCode})`, fault, { systemCode })
      }
      const answered = await readBody(response, name, maxResponseBytes, signal)
      const status = response.statusCode ?? 0
      const retryAfterMs = readRetryAfter(response.headers['retry-after'])
      const retryAfter = retryAfterMs === undefined ? {} : { retryAfterMs }
      if (status === 429) {
        throw new UpstreamError(`${name} limits the rate of calls (HTTP 429)`, 'throttled', {
          httpStatus: status,
          ...retryAfter
        })
      }
      return { status, ...answered, ...retryAfter }
    }
  }
}

function readUrl(url: string, position: number): { target: string; authorization: string | undefined } {
  let parsed: URL
  let pair: string
  try {
    parsed = new URL(url)
    pair = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`
  } catch {
    throw new ConfigError(`rpcUrls[${position - 1}] is not a URL; expected http://... or https://...`)
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new ConfigError(
      `rpcUrls[${position - 1}] has scheme "${parsed.protocol}"; expected http: or https:`
    )
  }
  if (pair === ':') return { target: parsed.href, authorization: undefined }
  parsed.username = ''
  parsed.password = ''
  return { target: parsed.href, authorization: `Basic ${Buffer.from(pair, 'utf8').toString('base64')}` }
}

/** Reads at most `maxBytes`: the declared length is only a hint, and a compressed body grows. */
async function readBody(
  response: IncomingMessage,
  name: string,
  maxBytes: number,
  signal: AbortSignal
): Promise<Pick<UpstreamAnswer, 'body' | 'byteLength'>> {
  const tooLarge = () => new UpstreamError(`${name} answered more than ${maxBytes} bytes`, 'tooLarge')
  const body: Buffer[] = []
  let byteLength = 0
  try {
    if (Number(response.headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
    for await (const chunk of decoded(response)) {
      byteLength += chunk.length
      if (byteLength > maxBytes) throw tooLarge()
      body.push(chunk)
    }
  } catch (error) {
    response.destroy()
    if (error instanceof UpstreamError) throw error
    signal.throwIfAborted()
    throw new UpstreamError(`${name} broke off its answer (${failureCode(error)})`, 'unreachable')
  }
  return { body, byteLength }
}

const decoders = { gzip: createGunzip, deflate: createInflate, br: createBrotliDecompress }

/** The body without its content encoding; one that is not known is left to fail as no JSON. */
function decoded(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.toLowerCase()
  const create = Object.entries(decoders).find(([known]) => known === encoding)?.[1]
  if (create === undefined) return response
  const decoder = create()
  // A connection that breaks must end the decoder too, which `pipe` alone does not do.
  response.once('error', error => decoder.destroy(error))
  return response.pipe(decoder)
}

/** A message may repeat the URL, a code never does. */
function failureCode(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  for (const candidate of [cause, error]) {
    if (typeof candidate === 'object' && candidate !== null && 'code' in candidate) {
      const code = candidate.code
      if (typeof code === 'string') return code
    }
  }
  return 'no answer'
}

/**
 * Reads how long a `Retry-After` header asks to wait.
 *
 * @returns milliseconds from now, 0 for a date that has passed; absent without a header, or for one that is neither seconds
 *   nor a date.
 * @see RFC 9110, 10.2.3
 */
export function readRetryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined
  if (/^\d+$/.test(header.trim())) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now())
}
