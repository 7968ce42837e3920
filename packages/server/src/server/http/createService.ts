import type { EndpointPath } from '@chain-data/protocol'
import type { ServerFigures } from '../../platform/figures.ts'
import type { Logger } from '../../platform/logger.ts'
import { Refusal } from '../../platform/refusal.ts'
import { errorAnswer } from '../guards/errorAnswer.ts'
import { type Guard, guardList } from '../guards/guards.ts'
import type { OpenPages, Pages, ServiceFigures } from '../guards/pages.ts'
import { boundStreams } from '../limits/boundStreams.ts'
import { type CallGuard, checkLogin, createLoginThrottle, type LoginRule } from '../limits/login.ts'
import { createOverload } from '../limits/overload.ts'
import { createQuota, type RateLimits, readCalls } from '../limits/quota.ts'
import { shareRequests } from '../limits/share.ts'
import { createCounts } from '../metrics/counts.ts'
import type { KeyRing } from '../projects/createKeyRing.ts'
import type { ProjectVerifier } from '../projects/createProjectVerifier.ts'
import { createDispatch, type DispatchOptions } from '../rpc/createDispatch.ts'
import { toWireError } from '../rpc/toWireError.ts'
import { answerBody, countAnswers } from './answers.ts'
import { findClientAddress } from './clientAddress.ts'
import { compressAnswers } from './compress.ts'
import { createFetchHandler, type FetchHandler } from './createFetchHandler.ts'
import { createNodeHandler, type NodeHandler } from './createNodeHandler.ts'
import { createOperatorPages } from './operatorPages.ts'
import { type IsPageHost, requirePageHost } from './pageHosts.ts'
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

export interface ServiceOptions {
  readonly methods: DispatchOptions['methods']
  /** The chains served on each endpoint, ascending. */
  readonly chainIds: Readonly<Record<EndpointPath, readonly number[]>>
  readonly figures: ServerFigures
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
  /** The pages for operators beside the health pages; absent: none. */
  readonly openPages?: readonly OpenPages[]
  /** Adds the figures of features to a page for Prometheus. */
  readonly addMetrics?: ServiceFigures['addMetrics']
  /** Checks of calls whose credentials are right, beside those of the server; absent: none. */
  readonly guards?: readonly CallGuard[]
  /** The hosts that pages for operators answer to on the server's own listeners; absent: any. */
  readonly isPageHost?: IsPageHost
  /** Absent: a stalled chain leaves the server ready. */
  readonly health?: { readonly notReadyAfterStalledSeconds: number | null }
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
  const counts = createCounts()
  const overload = createOverload({
    requestsInFlight: limits.requestsInFlight,
    delayMs: shedding === false ? false : shedding.eventLoopDelayMs,
    onShed: () => counts.countRefusal('OVERLOADED')
  })
  const notReadyAfterStalledSeconds = options.health?.notReadyAfterStalledSeconds ?? null
  const operator = createOperatorPages({
    sources: { ...figures, isClosing: overload.isDraining, notReadyAfterStalledSeconds },
    service: {
      ...{ counts, notReadyAfterStalledSeconds, addMetrics: options.addMetrics ?? [] },
      inFlight: overload.inFlight,
      openEventStreams: () => streams.open(),
      limitFigures: () => ({ ...overload.figures(), throttledLogins: throttle?.throttled() ?? 0 }),
      isClosing: overload.isDraining
    },
    openPages: options.openPages ?? []
  })
  const quota = createQuota(options.rateLimit)
  const dispatch = createDispatch({
    methods: options.methods,
    chainIds,
    methodPrefix,
    limits,
    logger,
    counts,
    onDamage: options.onDamage
  })
  const { streams: maxStreams, streamIdleMs: idleMs } = limits
  const streams = boundStreams({ streams: maxStreams, idleMs, counts, logger })
  const count = countAnswers(counts, logger)
  const answerFailure = (failure: unknown, requestId: string) => {
    const wireError = toWireError(failure, { requestId, logger })
    counts.countRefusal(wireError.reason)
    return errorAnswer(wireError)
  }
  const share = shareRequests({ requestsInFlight: limits.requestsInFlight, answersAtOnce })
  /** The way of a request, first to last, beside these pages. */
  const handlerWith = (pages: Pages, hostGuard: Guard<Located> = () => undefined) => {
    const ofCallers = guardList(answerFailure)
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
    const own = options.guards ?? []
    return own
      .reduce((all, guard) => all.guard(guard), ofCallers)
      .guard(overload.guard)
      .guard(compressAnswers(overload.isBusy))
      .guard(requireJson)
      .guard(share)
      .guard(streams.guard)
      .guard(readText(limits.bodyBytes))
      .guard(readCalls(quota, limits))
      .answer(answerBody(dispatch, counts, overload.nextTurn))
  }
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
    countRefusal: counts.countRefusal,
    async close() {
      overload.stop()
    }
  }
}
