import { createErrorObject, transport } from '@chain-data/protocol'
import { Refusal } from '../../platform/refusal.ts'
import { acceptsEvents, errorAnswer } from '../http/answers.ts'
import { createFetchHandler, type FetchHandler } from '../http/createFetchHandler.ts'
import { createNodeHandler, type NodeHandler } from '../http/createNodeHandler.ts'
import { BodyReadByHostError, type HttpAnswer, type HttpRequest } from '../http/exchange.ts'
import { Answered, type Guard, guardList, type Hooks, watchBody } from '../http/guards.ts'
import { findEndpoint, readPath, readText, requireJson, requirePost } from '../http/requestForm.ts'
import { isStream } from '../rpc/answerBody.ts'
import { refusalError, type WireError } from '../rpc/toWireError.ts'
import { createForward } from './forwardCalls.ts'
import type { ProxyOptions } from './ProxyOptions.ts'
import { isOrigin, readProxyOptions } from './readProxyOptions.ts'
import { rewriteCalls } from './rewriteCalls.ts'

/** A service seen through a host: the same two forms as of a server. */
export interface ProxyHandler {
  /** For hosts that speak Fetch, on Node. */
  readonly fetch: FetchHandler
  /** For node:http and what hands on its `req` and `res`, before any body parser. */
  readonly nodeHandler: NodeHandler
}

/**
 * Lets the pages of a host call a service with the host's key, which the pages never see: the page asks its own
 * origin, the host adds the key and asks the service.
 *
 * Only calls that pages of the host itself make are passed on, only of the methods allowed, and nothing of what the
 * browser sent but the calls: no cookie, no `Authorization`, no other header but those of a stream of events. Answers are streamed
 * with back-pressure, and streams of events as they come.
 *
 * @throws {ConfigError} An option cannot work.
 * @example
 * ```ts
 * const proxy = createProxyHandler({
 *   target: 'https://chain-data.example',
 *   projectId: 'my-app',
 *   serverKey: keyFromTheEnvironment,
 *   basePath: '/api/chain-data'
 * })
 * http.createServer(proxy.nodeHandler) // The page: createClient({ baseUrl: '/api/chain-data', auth: false })
 * ```
 */
export function createProxyHandler(options: ProxyOptions): ProxyHandler {
  const settings = readProxyOptions(options)
  const { clientAddress } = options
  const onProblem = (problem: string) => {
    try {
      options.onProblem?.(problem)
    } catch {
      // An answer is owed whatever becomes of the report.
    }
  }
  const forward = createForward(settings, onProblem)

  // The way of a request, first to last: the guards of a server, without its keys and quotas.
  const handle = guardList((failure, requestId) => errorAnswer(toError(failure, requestId, onProblem)))
    .guard(readPath(settings.basePath))
    .guard(findEndpoint)
    .guard(requirePost(transport.method))
    .guard(requireOwnPage(settings.hosts, settings.origins))
    .guard(authorize(options.authorize))
    .guard(requireJson)
    .guard(readText(settings.bodyBytes))
    .guard(rewriteCalls(settings.methods))
    .guard(capRequests(settings.requestsInFlight, settings.streams))
    .answer(({ request, endpoint, urlChainId, body }) => {
      const origin = request.header('origin')
      return forward({
        endpoint,
        urlChainId,
        body,
        address: clientAddress === undefined ? request.peerAddress : clientAddress(request.source),
        origin: settings.sendsOrigin && origin !== undefined && isOrigin(origin) ? origin : undefined,
        acceptsEvents: acceptsEvents(request),
        lastEventId: readEventId(request.header('last-event-id')),
        signal: request.signal
      })
    })
  return {
    fetch: createFetchHandler(handle, settings.idleTimeoutMs),
    nodeHandler: createNodeHandler(handle, settings.idleTimeoutMs)
  }
}

/** Guard: lets pass whom the host says may call. */
function authorize(decide: ProxyOptions['authorize']): Guard {
  return async ({ request }) => {
    const decision = decide === undefined ? true : await decide(request.source)
    if (decision === true) return undefined
    if (decision instanceof Response) return new Answered(await toHttpAnswer(decision))
    throw new Refusal('UNAUTHENTICATED', 'Sign in to this host first.', {})
  }
}

/**
 * Guard: lets only pages of the host itself call.
 *
 * @param hosts - with their port, or without one for every port; absent: the host may be reached by every name.
 * @param origins - of further pages of the host's.
 */
function requireOwnPage(hosts: ReadonlySet<string> | undefined, origins: ReadonlySet<string>): Guard {
  return ({ request }) => {
    if (isOwnHost(request.header, hosts) && isOwnPage(request.header, origins)) return undefined
    throw new Refusal('FORBIDDEN_ORIGIN', 'Only pages of this host may ask here.', {})
  }
}

/**
 * Returns whether a request comes from a page of the host itself. Browsers send `Sec-Fetch-Site`, which no page can set; older
 * ones the `Origin`. A request with neither comes from no page.
 */
function isOwnPage(header: HttpRequest['header'], origins: ReadonlySet<string>): boolean {
  const origin = header('origin')
  if (origin !== undefined && origins.has(origin)) return true
  const site = header('sec-fetch-site')
  // `none`: typed, or opened from a bookmark.
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  if (origin === undefined || !URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  // The scheme that the browser sees is unknown here: TLS may end in front of the host.
  return /^https?:$/.test(protocol) && host === withoutDefaultPort(namedHost(header), protocol)
}

/**
 * Returns whether a request names this host by a name of its own. A stranger who points a name of his at this machine (DNS
 * rebinding) makes his page its own page, by another name.
 */
function isOwnHost(header: HttpRequest['header'], hosts: ReadonlySet<string> | undefined): boolean {
  if (hosts === undefined) return true
  const named = namedHost(header)?.toLowerCase() ?? ''
  return hosts.has(named) || hosts.has(named.replace(/:\d+$/, ''))
}

/** HTTP/2 names it in another place. */
function namedHost(header: HttpRequest['header']): string | undefined {
  return header('host') ?? header(':authority')
}

function withoutDefaultPort(host: string | undefined, protocol: string): string | undefined {
  return host?.toLowerCase().replace(protocol === 'https:' ? /:443$/ : /:80$/, '')
}

/**
 * Guard: counts a request until its answer is read, and a stream of events apart from them until it ends. The body of a request is
 * there by now, so slow senders hold no room.
 */
function capRequests(requestsInFlight: number, streams: number): Hooks {
  let [inFlight, open] = [0, 0]
  const tooMany = (what: string) =>
    new Refusal('OVERLOADED', `The host has too many ${what} at once.`, { retryAfterMs: 1_000 })
  return {
    check() {
      if (inFlight >= requestsInFlight) throw tooMany('requests')
      inFlight++
      return undefined
    },
    async finish(_call, answer) {
      if (!answer.isEvents || !isStream(answer.body)) return answer
      if (open >= streams) {
        await answer.body.return()
        throw tooMany('streams of events')
      }
      open++
      return { ...answer, body: watchBody(answer.body, { ended: () => open-- }) }
    },
    release() {
      inFlight--
    }
  }
}

/** Passes on what may be the id of an event, and nothing else. */
function readEventId(text: string | undefined): string | undefined {
  return text !== undefined && /^[\w.-]{1,200}$/.test(text) ? text : undefined
}

function toError(failure: unknown, requestId: string, onProblem: (problem: string) => void): WireError {
  if (failure instanceof Refusal) return refusalError(failure)
  const name = failure instanceof Error ? failure.name : typeof failure
  onProblem(
    failure instanceof BodyReadByHostError
      ? failure.message
      : `the proxy failed (${name}), request ${requestId}`
  )
  const extraMessage = 'The host failed to answer this request.'
  return { reason: 'INTERNAL', error: createErrorObject('INTERNAL', { extraMessage, requestId }) }
}

/** Headers about the transfer of a body, which `text` has undone. */
const transferHeaders = new Set(['connection', 'content-encoding', 'content-length', 'transfer-encoding'])

async function toHttpAnswer(response: Response): Promise<HttpAnswer> {
  const headers = [...response.headers].filter(([name]) => !transferHeaders.has(name))
  return {
    status: response.status,
    headers: { 'content-type': transport.responseContentType, ...Object.fromEntries(headers) },
    body: await response.text()
  }
}
