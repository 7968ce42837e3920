import { ConfigError, NodeUnavailableError } from '../../platform/errors.ts'

/**
 * One exchange with one node failed in a way that another node, or a later moment, may mend. Stays inside
 * `chains/solana`; the last one becomes the cause-free message of what the caller gets.
 */
export class ExchangeError extends NodeUnavailableError {
  /** The node asked for this much patience; absent when it named none. */
  readonly retryAfterMs: number | undefined

  constructor(message: string, retryAfterMs?: number) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}

export interface NodeExchange {
  /** `upstream 1`: the place in `rpcUrls`. Any part of the URL itself may be a key, so it is never shown. */
  readonly name: string
  /**
   * POSTs one JSON-RPC request and reads the whole answer.
   *
   * @param signal - ends the exchange at any point, also in the middle of the body.
   * @returns text that looks like a JSON object, under whatever status but 429 it came.
   * @throws {ExchangeError}
   */
  post(body: string, signal: AbortSignal): Promise<string>
}

export interface NodeExchangeOptions {
  /** http or https; credentials in it are sent as Basic authorization. */
  readonly url: string
  /** Counted from 1. */
  readonly position: number
  /** Bound on the decoded body. */
  readonly maxResponseBytes: number
}

/** @throws {ConfigError} when the URL cannot be used; the message names its position, never its text. */
export function createNodeExchange({ url, position, maxResponseBytes }: NodeExchangeOptions): NodeExchange {
  const name = `upstream ${position}`
  const { target, headers } = readUrl(url, position)

  async function post(body: string, signal: AbortSignal): Promise<string> {
    // A redirect would carry the credentials to wherever it points.
    const response = await fetch(target, { method: 'POST', headers, body, redirect: 'manual', signal })
    if (response.status === 429) {
      await response.body?.cancel()
      const retryAfterMs = readRetryAfterMs(response.headers.get('retry-after'))
      throw new ExchangeError(`${name} limits the rate of calls (HTTP 429)`, retryAfterMs)
    }
    const text = await readBody(response)
    if (/^\s*\{/.test(text)) return text
    throw new ExchangeError(`${name} answered no JSON-RPC (HTTP ${response.status})`)
  }

  /** The declared length is only a hint, and a compressed body grows: the bytes themselves are counted. */
  async function readBody(response: Response): Promise<string> {
    if (response.body === null) return ''
    const chunks: Uint8Array[] = []
    let size = 0
    for await (const chunk of response.body) {
      size += chunk.byteLength
      if (size > maxResponseBytes)
        throw new ExchangeError(`${name} answered more than ${maxResponseBytes} bytes`)
      chunks.push(chunk)
    }
    return Buffer.concat(chunks, size).toString('utf8')
  }

  return {
    name,
    async post(body, signal) {
      try {
        return await post(body, signal)
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof ExchangeError) throw error
        throw new ExchangeError(`${name} cannot be reached (${failureCode(error)})`)
      }
    }
  }
}

function readUrl(url: string, position: number): { target: string; headers: Record<string, string> } {
  const key = `rpcUrls[${position - 1}]`
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'application/json' }
  let parsed: URL
  let pair: string
  try {
    parsed = new URL(url)
    pair = `${decodeURIComponent(parsed.username)}:${decodeURIComponent(parsed.password)}`
  } catch {
    throw new ConfigError(`${key} is not a URL; expected http://... or https://...`)
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new ConfigError(`${key} has scheme "${parsed.protocol}"; expected http: or https:`)
  }
  if (pair !== ':') headers.authorization = `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`
  // `fetch` refuses URLs that still carry credentials.
  parsed.username = ''
  parsed.password = ''
  return { target: parsed.href, headers }
}

/** Seconds or a date (RFC 9110). */
function readRetryAfterMs(header: string | null): number | undefined {
  if (header === null) return undefined
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** `ECONNREFUSED` and the like: names the trouble without the address that the message would carry. */
function failureCode(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return typeof code === 'string' ? code : 'transport failure'
}
