import type { EndpointPath } from '@chain-data/protocol'
import type { SolanaStatus, SyncStatus } from '../../model/sync.ts'
import { type Clock, systemClock } from '../../platform/clock.ts'
import type { Logger } from '../../platform/logger.ts'
import { createMetrics, type MetricSources } from '../metrics/metrics.ts'
import type { KeyRing } from '../projects/createKeyRing.ts'
import type { ProjectVerifier } from '../projects/createProjectVerifier.ts'
import { createDispatch, type DispatchOptions } from '../rpc/createDispatch.ts'
import { createRpc } from '../rpc/createRpc.ts'
import { atBasePath } from './atBasePath.ts'
import { createClientAddress } from './clientAddress.ts'
import { countAnswers } from './countAnswers.ts'
import { createAdmission } from './createAdmission.ts'
import { type App, createApp } from './createApp.ts'
import { createAuthenticator } from './createAuthenticator.ts'
import { createCors } from './createCors.ts'
import { createFetchHandler, type FetchHandler } from './createFetchHandler.ts'
import { createLongAnswers } from './createLongAnswers.ts'
import { createNodeHandler, type NodeHandler } from './createNodeHandler.ts'
import { createOperatorPages, type StatusTimes } from './createOperatorPages.ts'
import { createPlaces } from './createPlaces.ts'
import { createQuota, type RateLimits } from './createQuota.ts'
import { createLoginThrottle, type LoginRule } from './loginThrottle.ts'
import { watchLoopDelay } from './loopDelay.ts'
import { createRequestQueue } from './requestQueue.ts'

export interface ServiceOptions {
  readonly handlers: DispatchOptions['handlers']
  /** The chains served on each endpoint, ascending. */
  readonly chainIds: Readonly<Record<EndpointPath, readonly number[]>>
  readonly syncStatuses: () => readonly SyncStatus[]
  /** Asked for the health page only. */
  readonly solanaStatuses?: () => readonly SolanaStatus[]
  /** How the upstreams of each chain fare; for the metrics. */
  readonly nodeFigures?: MetricSources['nodeFigures']
  /** How the metadata service fares; for the metrics. */
  readonly metadataFigures?: MetricSources['metadataFigures']
  /** The metrics tell of the process too. */
  readonly ownsProcess?: boolean | undefined
  /** The keys in force; asked anew for every request. */
  readonly keyRing: () => KeyRing
  /** Asked for projects that have no key there; absent: their credentials are wrong. */
  readonly verifier?: ProjectVerifier | undefined
  readonly methodPrefix: string
  readonly rateLimit: RateLimits | false
  /** Absent: wrong credentials are not counted. */
  readonly login?: LoginRule | false
  /** Absent: load is not shed for delay. */
  readonly overload?: { readonly eventLoopDelayMs: number } | false
  /** Whose `X-Forwarded-For` is believed; absent: nobody's. */
  readonly trustedProxies?: readonly string[]
  readonly limits: {
    readonly bodyBytes: number
    readonly jsonDepth: number
    readonly batchEntries: number
    readonly requestsInFlight: number
    readonly requestDeadlineMs: number
    readonly streamIdleMs: number
    readonly responseBytes: number | null
  }
  /** So many views of the store may be open at the same time; absent: 64, those of SQLite. */
  readonly answersAtOnce?: number
  /** Which pages for operators are served beside the health pages; absent: all of them. */
  readonly pages?: { readonly status: boolean; readonly metrics: boolean }
  readonly statusTimes?: StatusTimes
  readonly logger: Logger
  /** For how long answers last; absent: the steady one. */
  readonly clock?: Clock
  /** Where a host has put `fetch` and `nodeHandler`; absent: at the root, or the host takes the path off. */
  readonly basePath?: string | undefined
}

/** The methods made callable over HTTP. */
export interface Service extends Pick<App, 'inFlight' | 'beginDraining' | 'beginClosing'> {
  readonly fetch: FetchHandler
  readonly nodeHandler: NodeHandler
  /** Counts what a listener refuses before it comes here. */
  readonly countRefusal: (reason: string) => void
  /** Lets go of what it holds beside the methods; for when the last answer is written. */
  close(): Promise<void>
}

/** Puts the JSON-RPC layer and the HTTP layer around a set of methods, whatever stands behind these. */
export function createService(options: ServiceOptions): Service {
  const { handlers, chainIds, syncStatuses, nodeFigures, keyRing, methodPrefix, rateLimit, limits, logger } =
    options
  const { login = false, overload = false, answersAtOnce = 64 } = options
  const { verifier } = options
  const solanaStatuses = options.solanaStatuses ?? (() => [])
  const registry = createMetrics({
    syncStatuses,
    inFlight: () => app.inFlight(),
    ownsProcess: options.ownsProcess,
    limitFigures: () => ({ ...admission.figures(), throttledLogins: loginThrottle.throttled() }),
    ...(nodeFigures ? { nodeFigures } : {}),
    ...(options.metadataFigures ? { metadataFigures: options.metadataFigures } : {})
  })
  const { metrics, pages, beginClosing } = createOperatorPages({
    served: options.pages ?? { status: true, metrics: true },
    metrics: registry,
    sources: { syncStatuses, solanaStatuses, nodeFigures, inFlight: () => app.inFlight() },
    chainIds,
    methodPrefix,
    times: options.statusTimes
  })
  const dispatch = createDispatch({
    handlers,
    chainIds,
    methodPrefix,
    limits,
    logger,
    metrics,
    clock: systemClock
  })
  const delay = watchLoopDelay()
  const admission = createAdmission({
    requestsInFlight: limits.requestsInFlight,
    delayMs: overload === false ? false : overload.eventLoopDelayMs,
    delay,
    queue: createRequestQueue()
  })
  const loginThrottle = createLoginThrottle(login)
  const quota = createQuota(rateLimit, { logger })
  const app = createApp({
    rpc: createRpc({ dispatch, limits, logger, metrics }),
    authenticate: createAuthenticator(keyRing, verifier),
    clientAddress: createClientAddress(options.trustedProxies ?? [], () =>
      logger.warn(
        'X-Forwarded-For came from a private address that listen.trustedProxies does not name; all callers behind it count as one'
      )
    ),
    admission,
    places: createPlaces(limits.requestsInFlight),
    longAnswers: createLongAnswers(createPlaces(answersAtOnce), options.clock),
    loginThrottle,
    quotaOf: quota.of,
    cors: createCors(() => verifier !== undefined || keyRing().hasClientKeys),
    limits,
    syncStatuses,
    solanaStatuses,
    metrics,
    pages,
    logger
  })
  const handle = countAnswers(atBasePath(app.handle, options.basePath ?? ''), metrics)
  return {
    inFlight: app.inFlight,
    beginDraining() {
      beginClosing()
      app.beginDraining()
    },
    beginClosing() {
      beginClosing()
      app.beginClosing()
    },
    fetch: createFetchHandler(handle, limits.streamIdleMs),
    nodeHandler: createNodeHandler(handle, limits.streamIdleMs),
    countRefusal: metrics.countRefusal,
    async close() {
      delay.stop()
      await quota.close()
    }
  }
}
