import type { EndpointPath } from '@chain-data/protocol'
import type { ServerFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import { Refusal } from '../../platform/refusal.ts'
import { createMetrics } from '../metrics/metrics.ts'
import type { KeyRing } from '../projects/createKeyRing.ts'
import type { ProjectVerifier } from '../projects/createProjectVerifier.ts'
import { createDispatch, type DispatchOptions } from '../rpc/createDispatch.ts'
import { toWireError } from '../rpc/toWireError.ts'
import { answerBody, countAnswers, errorAnswer } from './answers.ts'
import { boundStreams } from './boundStreams.ts'
import { findClientAddress } from './clientAddress.ts'
import { compressAnswers } from './compress.ts'
import { createFetchHandler, type FetchHandler } from './createFetchHandler.ts'
import { createNodeHandler, type NodeHandler } from './createNodeHandler.ts'
import { type Guard, guardList } from './guards.ts'
import { checkLogin } from './login.ts'
import { createLoginThrottle, type LoginRule } from './loginThrottle.ts'
import { createOperatorPages, type OperatorPages, type StatusTimes } from './operatorPages.ts'
import { createOverload } from './overload.ts'
import { type IsPageHost, requirePageHost } from './pageHosts.ts'
import { createQuota, type RateLimits, readCalls } from './quota.ts'
import {
  allowPages,
  findEndpoint,
  type Located,
  readPath,
  readText,
  requireJson,
  requirePost,
  servePages
} from './requestForm.ts'
import { shareRequests } from './share.ts'

export interface ServiceOptions {
  readonly handlers: DispatchOptions['handlers']
  /** The chains served on each endpoint, ascending. */
  readonly chainIds: Readonly<Record<EndpointPath, readonly number[]>>
  readonly figures: ServerFigures
  /** The metrics report on the process too. */
  readonly ownsProcess?: boolean | undefined
  readonly keyRing: KeyRing
  /** Asked for projects that are not in the key ring; absent: their credentials are wrong. */
  readonly verifier?: ProjectVerifier | undefined
  readonly methodPrefix: string
  readonly rateLimit: RateLimits | false
  /** Absent: wrong credentials are not counted. */
  readonly login?: LoginRule | false
  /** Absent: load is not shed for delay. */
  readonly overload?: { readonly eventLoopDelayMs: number } | false
  /** Proxies whose `X-Forwarded-For` is believed; absent: none. */
  readonly trustedProxies?: readonly string[]
  readonly limits: DispatchOptions['limits'] & {
    readonly bodyBytes: number
    readonly jsonDepth: number
    readonly batchEntries: number
    readonly requestsInFlight: number
    readonly streams: number
  }
  /** Maximum of snapshots of the store open at the same time; absent: 64, the maximum of SQLite. */
  readonly answersAtOnce?: number
  /** Which pages for operators are served beside the health pages; absent: all of them. */
  readonly pages?: { readonly status: boolean; readonly metrics: boolean }
  /** The hosts that pages for operators answer to on the server's own listeners; absent: any. */
  readonly isPageHost?: IsPageHost
  /** Absent: a stalled chain leaves the server ready. */
  readonly health?: { readonly notReadyAfterStalledSeconds: number | null }
  readonly statusTimes?: StatusTimes
  readonly onDamage?: DispatchOptions['onDamage']
  readonly logger: Logger
  /** Path at which a host has put `fetch` and `nodeHandler`; absent: the root, or the host takes the path off. */
  readonly basePath?: string | undefined
}

/** The methods made callable over HTTP. */
export interface Service {
  readonly fetch: FetchHandler
  readonly nodeHandler: NodeHandler
  /** As `nodeHandler`, for a listener of the server's own: pages for operators answer to their hosts only. */
  readonly mainHandler: NodeHandler
  /** As `nodeHandler`, without the pages for operators but the health pages. */
  readonly callsHandler: NodeHandler
  /** The pages for operators alone. */
  readonly pagesHandler: NodeHandler
  /** RPC requests whose answer is not complete. */
  inFlight(): number
  /** From now on `/health/ready` says 503 and connections are not kept; RPC requests are still answered. */
  beginDraining(): void
  /** From now on new RPC requests are refused too, and streams of events end. */
  beginClosing(): void
  /** Counts what a listener refuses before it comes here. */
  readonly countRefusal: (reason: string) => void
  /** Releases what the service holds besides the methods; for when the last answer is written. */
  close(): Promise<void>
}

/** Puts the guards of HTTP and the JSON-RPC layer around a set of methods, whatever stands behind these. */
export function createService(options: ServiceOptions): Service {
  const { chainIds, figures, keyRing, verifier, methodPrefix, limits, logger } = options
  const { overload: shedding = false, answersAtOnce = 64, isPageHost = () => true } = options
  const throttle = options.login ? createLoginThrottle(options.login) : undefined
  const metrics = createMetrics({
    ...figures,
    inFlight: () => overload.inFlight(),
    openEventStreams: () => streams.open(),
    ownsProcess: options.ownsProcess ?? false,
    limitFigures: () => ({ ...overload.figures(), throttledLogins: throttle?.throttled() ?? 0 })
  })
  const overload = createOverload({
    requestsInFlight: limits.requestsInFlight,
    delayMs: shedding === false ? false : shedding.eventLoopDelayMs,
    onShed: () => metrics.countRefusal('OVERLOADED')
  })
  const operator = createOperatorPages({
    served: options.pages ?? { status: true, metrics: true },
    metrics,
    sources: {
      ...figures,
      notReadyAfterStalledSeconds: options.health?.notReadyAfterStalledSeconds ?? null,
      inFlight: overload.inFlight,
      isClosing: overload.isDraining
    },
    times: options.statusTimes
  })
  const quota = createQuota(options.rateLimit)
  const dispatch = createDispatch({
    handlers: options.handlers,
    chainIds,
    methodPrefix,
    limits,
    logger,
    metrics,
    onDamage: options.onDamage
  })
  const { streams: maxStreams, streamIdleMs: idleMs } = limits
  const streams = boundStreams({ streams: maxStreams, idleMs, metrics, logger })
  const count = countAnswers(metrics, logger)
  const answerFailure = (failure: unknown, requestId: string) => {
    const wireError = toWireError(failure, { requestId, logger })
    metrics.countRefusal(wireError.reason)
    return errorAnswer(wireError)
  }
  const share = shareRequests({ requestsInFlight: limits.requestsInFlight, answersAtOnce })
  /** The way of a request, first to last, beside these pages. */
  const handlerWith = (pages: OperatorPages['pages'], hostGuard: Guard<Located> = () => undefined) =>
    guardList(answerFailure)
      .guard(count)
      .guard(overload.endConnections)
      .guard(readPath(options.basePath ?? ''))
      .guard(hostGuard)
      .guard(servePages(pages))
      .guard(findEndpoint)
      .guard(allowPages(keyRing, verifier !== undefined))
      .guard(requirePost)
      .guard(findClientAddress(options.trustedProxies ?? [], logger))
      .guard(checkLogin({ keyRing, verifier, throttle }))
      .guard(overload.guard)
      .guard(compressAnswers(overload.isBusy))
      .guard(requireJson)
      .guard(share)
      .guard(streams.guard)
      .guard(readText(limits.bodyBytes))
      .guard(readCalls(quota, limits))
      .answer(answerBody(dispatch, metrics, overload.nextTurn))
  const handle = handlerWith(operator.pages)
  const isForOperators = (path: string) => operator.pages.has(path) && !operator.health.has(path)
  const handlePages = guardList(answerFailure)
    .guard(count)
    .guard(overload.endConnections)
    .guard(readPath(''))
    .guard(requirePageHost(isPageHost, () => true))
    .guard(servePages(operator.apart))
    .answer(() => Promise.reject(new Refusal('NOT_FOUND', 'Only the pages for operators are here.', {})))

  return {
    inFlight: overload.inFlight,
    beginDraining() {
      overload.beginDraining()
      operator.stop()
    },
    beginClosing() {
      operator.stop()
      overload.beginClosing()
      streams.endAll()
    },
    fetch: createFetchHandler(handle, limits.streamIdleMs),
    nodeHandler: createNodeHandler(handle, limits.streamIdleMs),
    mainHandler: createNodeHandler(
      handlerWith(operator.pages, requirePageHost(isPageHost, isForOperators)),
      limits.streamIdleMs
    ),
    callsHandler: createNodeHandler(handlerWith(operator.health), limits.streamIdleMs),
    pagesHandler: createNodeHandler(handlePages, limits.streamIdleMs),
    countRefusal: metrics.countRefusal,
    async close() {
      overload.stop()
    }
  }
}
