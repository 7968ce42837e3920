import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import type { Socket } from 'node:net'
import { readRetryAfter } from '../../nodes/upstreams/httpUpstream.ts'
import { openAbortScope, unlessAborted } from '../../platform/concurrency/deadline.ts'
import { MetadataError } from '../../platform/errors.ts'
import {
  createResolvePublicHost,
  type Dial,
  dialAddress,
  type ResolveHost,
  resolveLocalHost
} from '../../platform/network/dialAddress.ts'
import { isOwnNetwork, isPublicAddress, type ReadInterfaces } from '../../platform/network/publicAddress.ts'
import { type CheckedUrl, checkUrl, readAllowHosts } from './checkUrl.ts'
import { metadataFailure } from './metadataFailure.ts'
import { readBody } from './readBody.ts'

interface GuardedFetchLimits {
  /** Over everything: name look-up, dialling, redirects, the last byte of the body. */
  readonly timeoutMs: number
  /** Body bytes as they arrive. What is around them (heads, frames) may be an eighth of that and 256 KiB. */
  readonly wireBytes: number
  /** Body bytes after Content-Encoding is undone. */
  readonly decodedBytes: number
  readonly redirects: number
  readonly headerBytes: number
}

/** spec/openrpc.json, x-limits. */
const defaultLimits: GuardedFetchLimits = {
  timeoutMs: 10_000,
  wireBytes: 1024 * 1024,
  decodedBytes: 2 * 1024 * 1024,
  redirects: 3,
  headerBytes: 16 * 1024
}

export interface GuardedFetchOptions {
  /** Exact `host:port` that may be private, or on an unusual port. For development only. */
  readonly allowHosts?: readonly string[]
  readonly limits?: Partial<GuardedFetchLimits>
  /** Name look-up for everyone else's hosts, and for those of `allowHosts`. Replaced in tests. */
  readonly resolvePublic?: ResolveHost
  readonly resolveLocal?: ResolveHost
  /** Replaced in tests. */
  readonly dial?: Dial
  readonly readInterfaces?: ReadInterfaces
}

interface GuardedResponse {
  /** After redirects. */
  readonly url: string
  /** Content-Type as sent, lower case; "" when absent. Not to be believed. */
  readonly contentType: string
  /** Content-Encoding undone. */
  readonly body: Uint8Array
}

/**
 * Fetches a URL that a stranger wrote.
 *
 * @param options.limits - replace those of the fetcher for this one fetch.
 * @throws {MetadataError} for everything that is not a complete 200 answer; `context.reason` is one of
 *   MetadataFailureReason.
 */
export type GuardedFetch = (
  url: string,
  options?: { readonly signal?: AbortSignal; readonly limits?: Partial<GuardedFetchLimits> }
) => Promise<GuardedResponse>

const redirectStatuses = new Set([301, 302, 303, 307, 308])
/** A name with more addresses than this is not tried to its end. */
const maxDials = 4
/** Interim (1xx) answers come without limit in HTTP; nobody needs more. */
const maxInterimAnswers = 8

/**
 * The only way in which the server contacts a host that it was not configured for.
 *
 * For each hop: the URL is parsed once and checked; the name is looked up once; ALL its addresses must be public and
 * outside the machine's own subnets; one of exactly these addresses is dialled, so a name that changes its answer gains
 * nothing. A redirect from https to http is not followed. No proxy, no cookie, no credential, no connection reuse.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const allowHosts = readAllowHosts(options.allowHosts ?? [])
  const fetcherLimits = { ...defaultLimits, ...options.limits }
  const resolvePublic = options.resolvePublic ?? createResolvePublicHost()
  const resolveLocal = options.resolveLocal ?? resolveLocalHost
  const dial = options.dial ?? dialAddress
  const { readInterfaces } = options

  async function follow(
    text: string,
    limits: GuardedFetchLimits,
    signal: AbortSignal
  ): Promise<GuardedResponse> {
    let target = checkUrl(text, allowHosts)
    for (let redirects = 0; ; redirects++) {
      const socket = await open(target, signal)
      const cut = () => socket.destroy()
      signal.addEventListener('abort', cut, { once: true })
      try {
        const response = await exchange(target, socket, limits, signal)
        const status = response.statusCode ?? 0
        if (!redirectStatuses.has(status)) {
          if (status !== 200)
            throw metadataFailure('STATUS', `HTTP status ${status}`, target.url.href, {
              status,
              retryAfterMs: readRetryAfter(response.headers['retry-after'])
            })
          const body = await readBody(response, limits)
          return {
            url: target.url.href,
            contentType: (response.headers['content-type'] ?? '').toLowerCase(),
            body
          }
        }
        if (redirects >= limits.redirects) throw metadataFailure('REDIRECT', 'Too many redirects', text)
        target = followRedirect(response, target, allowHosts)
      } catch (error) {
        if (socket.bytesRead <= mostRead(limits)) throw error
        throw metadataFailure('TOO_LARGE', `Over ${mostRead(limits)} bytes around a body`, target.url.href)
      } finally {
        // Also where the body was not wanted: it is never read on.
        socket.destroy()
        signal.removeEventListener('abort', cut)
      }
    }
  }

  async function open(target: CheckedUrl, signal: AbortSignal): Promise<Socket> {
    const resolve = target.allowed ? resolveLocal : resolvePublic
    const addresses = await unlessAborted(resolve(target.hostname, signal), signal).catch(cause => {
      throw metadataFailure('DNS', 'Name not found', target.hostname, { cause })
    })
    const refused = (address: string) => !isPublicAddress(address) || isOwnNetwork(address, readInterfaces)
    if (!target.allowed && addresses.some(refused)) {
      throw metadataFailure('PRIVATE_ADDRESS', 'Name leads to an address that is not public', target.hostname)
    }
    const secure = target.url.protocol === 'https:'
    let cause: unknown
    for (const address of addresses.slice(0, maxDials)) {
      try {
        return await dial({ address, port: target.port, hostname: target.hostname, secure }, signal)
      } catch (error) {
        signal.throwIfAborted()
        cause = error
      }
    }
    throw metadataFailure('CONNECT', 'No connection', target.hostname, { cause })
  }

  return async (url, { signal: callerSignal, limits: callLimits } = {}) => {
    const limits = { ...fetcherLimits, ...callLimits }
    const scope = openAbortScope([callerSignal])
    scope.setDeadline(limits.timeoutMs, () =>
      metadataFailure('TIMEOUT', `Not done in ${limits.timeoutMs} ms`, url)
    )
    try {
      scope.signal.throwIfAborted()
      // Whatever a broken peer may leave pending, the deadline ends the wait.
      return await unlessAborted(follow(url, limits, scope.signal), scope.signal)
    } catch (error) {
      // Whatever broke because of the abort, the abort is the reason.
      if (scope.signal.aborted) {
        const { reason } = scope.signal
        throw reason === callerSignal?.reason
          ? metadataFailure('ABORTED', 'Given up by the caller', url)
          : reason
      }
      if (error instanceof MetadataError) throw error
      throw metadataFailure('PROTOCOL', 'Answer broken', url, { cause: error })
    } finally {
      scope.release()
    }
  }
}

/** Everything that one connection may bring. */
function mostRead({ wireBytes }: GuardedFetchLimits): number {
  return wireBytes + Math.floor(wireBytes / 8) + 256 * 1024
}

/** Sends one GET over an open socket; resolves with the final answer's head. The signal cuts the body too. */
function exchange(
  target: CheckedUrl,
  socket: Socket,
  limits: GuardedFetchLimits,
  signal: AbortSignal
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const { url } = target
    const outgoing: ClientRequest = request({
      // No agent: no pool, no proxy from the environment; and TLS, where wanted, is already inside the socket.
      createConnection: () => socket,
      method: 'GET',
      path: url.pathname + url.search,
      headers: {
        host: url.host,
        accept: 'application/json, */*;q=0.5',
        'accept-encoding': 'gzip, deflate',
        'user-agent': 'chain-data',
        connection: 'close'
      },
      setHost: false,
      insecureHTTPParser: false,
      maxHeaderSize: limits.headerBytes,
      signal
    })
    let interimAnswers = 0
    outgoing.on('information', () => {
      if (++interimAnswers > maxInterimAnswers) outgoing.destroy(new Error('too many interim answers'))
    })
    // After this event the request reports nothing more, not even its own end.
    outgoing.on('upgrade', () => reject(new Error('unexpected protocol upgrade')))
    outgoing.on('error', reject)
    outgoing.on('response', resolve)
    // The parser has limits for heads only: chunks of one byte, or a chunk size of endless zeros, pass them.
    outgoing.on('socket', () => {
      socket.on('data', () => {
        if (socket.bytesRead > mostRead(limits)) socket.destroy(new Error('too many bytes'))
      })
    })
    outgoing.end()
  })
}

function followRedirect(
  response: IncomingMessage,
  from: CheckedUrl,
  allowHosts: ReadonlySet<string>
): CheckedUrl {
  const location = response.headers.location ?? ''
  if (location === '' || !URL.canParse(location, from.url.href)) {
    throw metadataFailure('REDIRECT', 'Redirect without a usable Location', location)
  }
  const isAbsolute = /^[a-z][a-z0-9+.-]*:/i.test(location)
  // Not merely joined: the rules on control characters must see what the server wrote.
  if (!isAbsolute && /\\/.test(location)) throw metadataFailure('URL', 'URL with a backslash', location)
  const to = checkUrl(isAbsolute ? location : new URL(location, from.url.href).href, allowHosts)
  // Who wrote https was promised that nobody on the way can change the answer.
  if (from.url.protocol === 'https:' && to.url.protocol === 'http:') {
    throw metadataFailure('REDIRECT', 'Redirect from https to http', location)
  }
  return to
}
