import { randomUUID } from 'node:crypto'
import {
  createErrorObject,
  type EndpointPath,
  type ErrorDataOf,
  type ErrorReason,
  endpoints,
  errors,
  transport
} from '@chain-data/protocol'
import type { SolanaStatus, SyncStatus } from '../../model/sync.ts'
import type { Logger } from '../../platform/logger.ts'
import { Refusal } from '../../platform/refusal.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Caller } from '../projects/Caller.ts'
import type { Rpc, RpcAnswer, TakeQuota } from '../rpc/createRpc.ts'
import { failureText } from '../rpc/envelope.ts'
import { toWireError } from '../rpc/toWireError.ts'
import type { ReadClientAddress } from './clientAddress.ts'
import { coverageHeader } from './coverageHeader.ts'
import type { Admission } from './createAdmission.ts'
import type { Authenticate } from './createAuthenticator.ts'
import type { Cors } from './createCors.ts'
import type { LongAnswers } from './createLongAnswers.ts'
import type { Places } from './createPlaces.ts'
import { decodeUtf8 } from './decodeUtf8.ts'
import {
  type BodyStream,
  bodyTooLarge,
  type HttpAnswer,
  type HttpHandler,
  type HttpRequest
} from './exchange.ts'
import { readiness } from './healthAnswers.ts'
import { isJsonMediaType } from './isJsonMediaType.ts'
import type { LoginThrottle } from './loginThrottle.ts'
import { onceEnded } from './onceEnded.ts'
import { readBasicCredentials } from './readBasicCredentials.ts'

export interface AppOptions {
  readonly rpc: Rpc
  readonly authenticate: Authenticate
  readonly clientAddress: ReadClientAddress
  readonly quotaOf: (caller: Caller, address: string | undefined) => TakeQuota
  readonly cors: Cors
  readonly admission: Admission
  readonly places: Places
  readonly longAnswers: LongAnswers
  readonly loginThrottle: LoginThrottle
  readonly limits: { readonly bodyBytes: number }
  readonly syncStatuses: () => readonly SyncStatus[]
  readonly solanaStatuses: () => readonly SolanaStatus[]
  readonly metrics: Metrics
  /** What is read with GET and without credentials beside the health pages, by path. */
  readonly pages?: ReadonlyMap<string, () => Promise<HttpAnswer>> | undefined
  readonly logger: Logger
}

/** The whole service over HTTP, independent of how requests arrive. */
export interface App {
  readonly handle: HttpHandler
  /** RPC requests whose answer is not complete. */
  inFlight(): number
  /** From now on `/health/ready` says 503 and connections are not kept; RPC requests are still answered. */
  beginDraining(): void
  /** From now on new RPC requests are refused too. */
  beginClosing(): void
}

/** Nobody knows when a place will be free. */
const placeWaitMs = 1_000
const endpointPaths = new Map<string, EndpointPath>(Object.values(endpoints).map(({ path }) => [path, path]))

/** Routes, guards and answers; what a request asks for is the business of `rpc`. */
export function createApp(options: AppOptions): App {
  const {
    rpc,
    clientAddress,
    authenticate,
    admission,
    places,
    longAnswers,
    loginThrottle,
    quotaOf,
    cors,
    limits,
    syncStatuses,
    solanaStatuses,
    metrics,
    logger
  } = options
  let isClosing = false
  const pages = new Map<string, () => Promise<HttpAnswer>>([
    ['/health/live', async () => json(200, '{"live":true}')],
    [
      '/health/ready',
      async () => {
        const { status, body } = readiness(syncStatuses(), isClosing, solanaStatuses())
        return json(status, body)
      }
    ],
    ...(options.pages ?? [])
  ])

  return {
    inFlight: admission.inFlight,
    beginDraining() {
      isClosing = true
    },
    beginClosing() {
      isClosing = true
      admission.beginClosing()
    },
    async handle(request) {
      const requestId = randomUUID()
      const startedMs = performance.now()
      let answer: HttpAnswer
      try {
        answer = await route(request, requestId)
      } catch (failure) {
        const { reason, error } = toWireError(failure, { requestId, logger })
        metrics.countRefusal(reason)
        const retryAfterMs = failure instanceof Refusal ? retryAfterMsOf(failure) : undefined
        answer = json(
          errors[reason].httpStatus,
          failureText({ idText: undefined }, error),
          retryAfter(retryAfterMs)
        )
      }
      const headers = {
        ...transport.answerHeaders,
        'x-request-id': requestId,
        // Whoever keeps connections open would go on calling here.
        ...(isClosing ? { connection: 'close' } : {}),
        // The pages for operators are not for strangers' web pages.
        ...(endpointOf(request) === undefined ? {} : cors.headers(request.header('origin'))),
        ...answer.headers
      }
      // Neither path nor query: whoever calls writes what he likes into them, a key among other things.
      logger.debug('request answered', {
        requestId,
        method: request.method,
        status: answer.status,
        durationMs: Math.round(performance.now() - startedMs)
      })
      return { ...answer, headers }
    }
  }

  async function route(request: HttpRequest, requestId: string): Promise<HttpAnswer> {
    const endpoint = endpointOf(request)
    if (endpoint !== undefined) return answerEndpoint(endpoint, request, requestId)
    const page = pages.get(withoutSlash(request.path))
    if (page === undefined) {
      return refuse('NOT_FOUND', {
        extraMessage: `The endpoints are ${[...endpointPaths.keys()].join(' and ')}.`
      })
    }
    if (request.method === 'GET' || request.method === 'HEAD') return page()
    return refuse('METHOD_NOT_ALLOWED', { extraMessage: 'Read this page with GET.' }, { allow: 'GET, HEAD' })
  }

  async function answerEndpoint(
    endpoint: EndpointPath,
    request: HttpRequest,
    requestId: string
  ): Promise<HttpAnswer> {
    if (request.method === 'OPTIONS') {
      const headers = { allow: transport.allow, ...cors.preflightHeaders(request.header('origin')) }
      return { status: 204, headers, body: '' }
    }
    if (request.method !== transport.method) {
      return refuse(
        'METHOD_NOT_ALLOWED',
        { extraMessage: 'Send the request with POST.' },
        { allow: transport.allow }
      )
    }
    const refusal = await admission.begin()
    if (refusal !== undefined) {
      metrics.countRefusal('OVERLOADED')
      return refusal
    }
    const atEnd = [admission.end]
    const end = () => {
      for (const one of atEnd) one()
    }
    let isStreamed = false
    try {
      const answer = await answerCall(endpoint, request, requestId, one => atEnd.push(one))
      if (typeof answer.body === 'string') return answer
      isStreamed = true
      return { ...answer, body: onceEnded(answer.body, end) }
    } finally {
      if (!isStreamed) end()
    }
  }

  /** @param whenEnded - told what has to run once the answer is written, or is not to be. */
  async function answerCall(
    endpoint: EndpointPath,
    request: HttpRequest,
    requestId: string,
    whenEnded: (end: () => void) => void
  ): Promise<HttpAnswer> {
    const origin = request.header('origin')
    const authorization = request.header('authorization')
    const credentials = readBasicCredentials(authorization)
    const address = clientAddress(request)
    const login =
      authorization === undefined
        ? undefined
        : await loginThrottle.attempt(
            address,
            credentials?.projectId,
            async () => credentials && authenticate({ ...credentials, origin, address })
          )
    if (login === undefined) {
      const extraMessage = 'Send HTTP Basic credentials: project id and project server key.'
      return refuse('UNAUTHENTICATED', { extraMessage }, { 'www-authenticate': transport.challenge })
    }
    if ('retryAfterMs' in login) {
      const { retryAfterMs } = login
      const extraMessage = 'Too many wrong credentials came from this address.'
      return refuse('RATE_LIMITED', { extraMessage, retryAfterMs }, retryAfter(retryAfterMs))
    }
    const { caller } = login
    if (caller.origins && (origin === undefined || !caller.origins.includes(origin))) {
      return refuse('FORBIDDEN_ORIGIN', { extraMessage: 'This key may not be used from this origin.' })
    }
    if (!isJsonMediaType(request.header('content-type'), request.header('content-encoding'))) {
      return refuse('UNSUPPORTED_MEDIA_TYPE', { extraMessage: 'Send the body as application/json.' })
    }
    const giveBack = places.take(caller, address)
    if (giveBack === undefined) return tooMany('Too many requests of this caller are under way.')
    whenEnded(giveBack)
    const bytes = await request.readBody(limits.bodyBytes)
    if (bytes === bodyTooLarge) {
      return refuse('BODY_TOO_LARGE', { extraMessage: `The body may have ${limits.bodyBytes} bytes.` })
    }
    const text = decodeUtf8(bytes)
    const answer = await rpc(
      // What is not UTF-8 is not JSON; the empty text is not JSON either.
      text ?? '',
      {
        endpoint,
        urlChainId: chainIdOf(request.query),
        requestId,
        projectId: caller.projectId,
        signal: request.signal
      },
      quotaOf(caller, address)
    )
    if (typeof answer.body === 'string') return toHttpAnswer(answer)
    const body = longAnswers.bound(answer.body, caller, address)
    if (body !== undefined) return toHttpAnswer({ ...answer, body })
    await answer.body.return()
    return tooMany('Too many long answers to this caller are being written.')
  }

  function tooMany(extraMessage: string): HttpAnswer {
    return refuse('RATE_LIMITED', { extraMessage, retryAfterMs: placeWaitMs }, retryAfter(placeWaitMs))
  }

  function refuse<R extends ErrorReason>(
    reason: R,
    data: Omit<ErrorDataOf[R], 'reason'> & { extraMessage: string },
    headers: Record<string, string> = {}
  ): HttpAnswer {
    metrics.countRefusal(reason)
    const text = failureText({ idText: undefined }, createErrorObject(reason, data))
    return json(errors[reason].httpStatus, text, headers)
  }
}

function endpointOf(request: HttpRequest): EndpointPath | undefined {
  return endpointPaths.get(withoutSlash(request.path))
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** All of them when it is repeated, which is no chain id: two readers of such a URL would pick different ones. */
function chainIdOf(query: URLSearchParams): string | undefined {
  const chainIds = query.getAll('chainId')
  return chainIds.length === 0 ? undefined : chainIds.join(',')
}

function toHttpAnswer({ status, body, retryAfterMs, coverage }: RpcAnswer): HttpAnswer {
  return json(status, body, { ...retryAfter(retryAfterMs), ...coverageHeader(coverage) })
}

function retryAfterMsOf({ data }: Refusal): number | undefined {
  return 'retryAfterMs' in data ? Number(data.retryAfterMs) : undefined
}

function retryAfter(retryAfterMs: number | undefined): Record<string, string> {
  return retryAfterMs === undefined ? {} : { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) }
}

function json(status: number, body: string | BodyStream, headers: Record<string, string> = {}): HttpAnswer {
  return { status, headers: { 'content-type': transport.responseContentType, ...headers }, body }
}
