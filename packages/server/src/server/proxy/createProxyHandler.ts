import { randomUUID } from 'node:crypto'
import {
  createErrorObject,
  type EndpointPath,
  type ErrorReason,
  endpoints,
  errors,
  limits
} from '@chain-data/protocol'
import { Refusal } from '../../platform/refusal.ts'
import { atBasePath } from '../http/atBasePath.ts'
import { createFetchHandler, type FetchHandler } from '../http/createFetchHandler.ts'
import { createNodeHandler, type NodeHandler } from '../http/createNodeHandler.ts'
import { decodeUtf8 } from '../http/decodeUtf8.ts'
import { BodyReadByHostError, bodyTooLarge, type HttpAnswer, type HttpRequest } from '../http/exchange.ts'
import { isJsonMediaType } from '../http/isJsonMediaType.ts'
import { onceEnded } from '../http/onceEnded.ts'
import { answerHead, failureText } from '../rpc/envelope.ts'
import { readBody } from '../rpc/readBody.ts'
import { createForward, type ForwardedCalls } from './forwardCalls.ts'
import { isOwnHost, isOwnPage } from './isOwnPage.ts'
import type { HostRequest, ProxyOptions } from './ProxyOptions.ts'
import { isOrigin, readProxyOptions } from './readProxyOptions.ts'
import { isRefused, writeCalls } from './writeCalls.ts'

/** A service seen through a host: the same two forms as of a server. */
export interface ProxyHandler {
  /** For hosts that speak Fetch, on Node. */
  readonly fetch: FetchHandler
  /** For node:http and what hands on its `req` and `res`, before any body parser. */
  readonly nodeHandler: NodeHandler
}

const endpointPaths = new Map<string, EndpointPath>(Object.values(endpoints).map(({ path }) => [path, path]))
/** Of a refusal for now. */
const retryHeaders = { 'retry-after': '1' }

/**
 * Lets the pages of a host call a service with the host's key, which the pages never see: the page asks its own
 * origin, the host adds the key and asks the service.
 *
 * Only calls that pages of the host itself make are passed on, only of the methods allowed, and nothing of what the
 * browser sent but the calls: no cookie, no `Authorization`, no other header. Answers are streamed with back-pressure.
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
  const { basePath, methods, sendsOrigin, origins, hosts, bodyBytes, requestsInFlight, idleTimeoutMs } =
    settings
  const onProblem = (problem: string) => {
    try {
      options.onProblem?.(problem)
    } catch {
      // An answer is owed whatever becomes of the report.
    }
  }
  const forward = createForward(settings, onProblem)
  let inFlight = 0

  const handlerFor = (source: HostRequest) => atBasePath(request => answerAlways(request, source), basePath)
  return {
    fetch: (request, origin) => createFetchHandler(handlerFor(request), idleTimeoutMs)(request, origin),
    nodeHandler: (request, response) =>
      createNodeHandler(handlerFor(request), idleTimeoutMs)(request, response)
  }

  async function answerAlways(request: HttpRequest, source: HostRequest): Promise<HttpAnswer> {
    const requestId = randomUUID()
    const answer = await route(request, source, requestId).catch((failure: unknown) =>
      refuseFor(failure, requestId)
    )
    const headers = {
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': requestId,
      'content-type': 'application/json',
      ...answer.headers
    }
    return { ...answer, headers }
  }

  async function route(request: HttpRequest, source: HostRequest, requestId: string): Promise<HttpAnswer> {
    const endpoint = endpointPaths.get(request.path.replace(/(?<=.)\/$/, ''))
    if (endpoint === undefined) {
      throw new Refusal('NOT_FOUND', `The endpoints are ${[...endpointPaths.keys()].join(' and ')}.`, {})
    }
    if (request.method !== 'POST') throw new Refusal('METHOD_NOT_ALLOWED', 'Send the request with POST.', {})
    return answerCalls(endpoint, request, source, requestId)
  }

  async function answerCalls(
    endpoint: EndpointPath,
    request: HttpRequest,
    source: HostRequest,
    requestId: string
  ): Promise<HttpAnswer> {
    if (!isOwnHost(request.header, hosts) || !isOwnPage(request.header, origins)) {
      throw new Refusal('FORBIDDEN_ORIGIN', 'Only pages of this host may ask here.', {})
    }
    const decision = options.authorize === undefined ? true : await options.authorize(source)
    if (decision instanceof Response) return toHttpAnswer(decision)
    if (decision !== true) throw new Refusal('UNAUTHENTICATED', 'Sign in to this host first.', {})
    if (!isJsonMediaType(request.header('content-type'), request.header('content-encoding'))) {
      throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.', {})
    }
    const bytes = await request.readBody(bodyBytes)
    if (bytes === bodyTooLarge) {
      throw new Refusal('BODY_TOO_LARGE', `The body may have ${bodyBytes} bytes.`, {})
    }
    // What is not UTF-8 is not JSON; the empty text is not JSON either.
    const body = readBody(decodeUtf8(bytes) ?? '', {
      jsonDepth: limits.jsonDepth,
      batchEntries: limits.batchRequests
    })
    const chainIds = request.query.getAll('chainId')
    const urlChainId = chainIds.length === 0 ? undefined : chainIds.join(',')
    const [first] = body.requests
    if (!body.isBatch && first !== undefined && isRefused(first, methods)) {
      const error = createErrorObject('METHOD_NOT_FOUND', {
        extraMessage: 'This host does not pass this method on.'
      })
      const head = answerHead(first, {
        endpoint,
        urlChainId,
        requestId,
        projectId: options.projectId,
        signal: request.signal
      })
      return { status: errors.METHOD_NOT_FOUND.httpStatus, headers: {}, body: failureText(head, error) }
    }
    const origin = request.header('origin')
    return forwardBounded({
      endpoint,
      urlChainId,
      body: writeCalls(body, methods),
      address: options.clientAddress === undefined ? request.peerAddress : options.clientAddress(source),
      origin: sendsOrigin && origin !== undefined && isOrigin(origin) ? origin : undefined,
      signal: request.signal
    })
  }

  /** Counts a request until its answer is read: slow senders keep no place that others could use. */
  async function forwardBounded(calls: ForwardedCalls): Promise<HttpAnswer> {
    if (inFlight >= requestsInFlight) {
      throw new Refusal('OVERLOADED', 'The host has too many requests at once.', { retryAfterMs: 1_000 })
    }
    inFlight++
    try {
      const answer = await forward(calls)
      if (typeof answer.body === 'string') return answer
      inFlight++
      return { ...answer, body: onceEnded(answer.body, () => inFlight--) }
    } finally {
      inFlight--
    }
  }

  function refuseFor(failure: unknown, requestId: string): HttpAnswer {
    if (failure instanceof Refusal) {
      const { reason, message, data } = failure
      return refusal(reason, createErrorObject(reason, { ...data, extraMessage: message }))
    }
    const name = failure instanceof Error ? failure.name : typeof failure
    onProblem(
      failure instanceof BodyReadByHostError
        ? failure.message
        : `the proxy failed (${name}), request ${requestId}`
    )
    const extraMessage = 'The host failed to answer this request.'
    return refusal('INTERNAL', createErrorObject('INTERNAL', { extraMessage, requestId }))
  }
}

function refusal(reason: ErrorReason, error: ReturnType<typeof createErrorObject>): HttpAnswer {
  const headers: Record<string, string> =
    reason === 'METHOD_NOT_ALLOWED' ? { allow: 'POST' } : reason === 'OVERLOADED' ? retryHeaders : {}
  return { status: errors[reason].httpStatus, headers, body: failureText({ idText: undefined }, error) }
}

/** Of how a body travelled, which `text` has undone. */
const transferHeaders = new Set(['connection', 'content-encoding', 'content-length', 'transfer-encoding'])

async function toHttpAnswer(response: Response): Promise<HttpAnswer> {
  const headers = [...response.headers].filter(([name]) => !transferHeaders.has(name))
  return { status: response.status, headers: Object.fromEntries(headers), body: await response.text() }
}
