import { setTimeout as sleep } from 'node:timers/promises'
import { allFeatures } from '../../features/all.ts'
import type { ChainState } from '../../model/sync.ts'
import { createPasswordHider, hidingLogger } from '../../platform/createSecretHider.ts'
import { ConfigError } from '../../platform/errors.ts'
import { createLogger, type Logger } from '../../platform/logger.ts'
import { describeChain } from '../config/applyPresets.ts'
import {
  type ConfigInput,
  type Project,
  type ProjectInput,
  parseConfig,
  parseProjects
} from '../config/config.ts'
import type { Feature } from '../feature/Feature.ts'
import type { FetchHandler } from '../http/createFetchHandler.ts'
import type { NodeHandler } from '../http/createNodeHandler.ts'
import { createService } from '../http/createService.ts'
import { createPageHosts } from '../http/pageHosts.ts'
import { requireBasePath } from '../http/requestForm.ts'
import {
  createProjectVerifier,
  type VerifyLimits,
  type VerifyProject
} from '../projects/createProjectVerifier.ts'
import { openProjects } from '../projects/openProjects.ts'
import { requireStrongKeys } from '../projects/requireStrongKeys.ts'
import { type Listeners, openListeners } from './openListeners.ts'
import { openStores } from './openStores.ts'
import { refuseUnreadSettings } from './refuseUnreadSettings.ts'
import { startParts } from './startParts.ts'

/** A running service: it indexes from the moment it is created, whether or not it listens. */
export interface Server {
  /**
   * For hosts that speak Fetch: Hono, Next, Bun, Deno.
   *
   * @example
   * ```ts
   * const server = await createServer(config, { basePath: '/chain-data' })
   * const app = new Hono()
   * app.all('/chain-data/*', context => server.fetch(context.req.raw))
   * ```
   */
  readonly fetch: FetchHandler
  /**
   * For node:http, Express, and what hands on its `req` and `res`, before any body parser: it reads the body itself.
   *
   * @example
   * ```ts
   * const server = await createServer(config)
   * const app = express()
   * app.use('/chain-data', server.nodeHandler) // Express takes `/chain-data` off the path.
   * app.use(express.json()) // Whatever parses bodies comes later.
   * ```
   */
  readonly nodeHandler: NodeHandler
  /**
   * Listens where the configuration says: for calls and, unless `listen.operator` is `"main"`, for the pages of operators.
   *
   * @returns the origin to call, its real port included and `basePath` not.
   * @throws {ConfigError} it would listen outside loopback, and a server key in plain text can be guessed.
   * @throws the socket's error when the address is taken or not ours.
   */
  listen(): Promise<string>
  /** The origin to call; absent while it does not listen. */
  readonly url: string | undefined
  /** The origin of the status page and the metrics where they have a listener of their own, and it listens. */
  readonly operatorUrl: string | undefined
  /** Returns the state of each EVM chain. */
  status(): readonly ChainState[]
  /**
   * Takes these projects in place of those of the configuration and reads `projectsFile` again; the next request is held
   * against them. What `verifyProject` said before is forgotten. All or nothing.
   *
   * @param projects - absent: the configured ones stay, and only the file is read again.
   * @throws {ConfigError} what is wrong; the keys in force stay as they are.
   */
  reloadProjects(projects?: readonly ProjectInput[]): Promise<void>
  /**
   * Says "not ready", goes on answering for `listen.drainMs`, then refuses what is new and finishes the requests under way,
   * at most some 9 seconds; ends indexing meanwhile.
   */
  close(): Promise<void>
}

/** Parts that a program may replace; the rest is configuration. */
export interface ServerOptions {
  /** Receives the log lines; absent: standard output at the configured level. */
  readonly logger?: Logger
  /** The process has no other purpose: `/metrics` shows its memory, event loop and garbage collection too. */
  readonly ownsProcess?: boolean
  /**
   * Path below which every path of the service is, such as `/api/chain-data`: for hosts that hand on requests with
   * the path as it was sent (node:http, Fastify, Hono, Next). Default `''`, also for hosts that take the path off
   * (`use` of Express, `mount` of Hono) and for reverse proxies that do.
   */
  readonly basePath?: string
  /**
   * Whose key it is, for hosts with projects in a database of their own; asked for projects that the configuration does
   * not have, which may then be all of them.
   *
   * @example
   * ```ts
   * const server = await createServer(config, {
   *   async verifyProject({ projectId, key, signal }) {
   *     const project = await database.findProject(projectId, sha256(key), { signal })
   *     return project && { projectId, origins: project.origins }
   *   }
   * })
   * ```
   */
  readonly verifyProject?: VerifyProject
  /**
   * What the server does beside the three methods of the service document, and the status of a chain. Default: `allFeatures`;
   * `[]` leaves a server with those four methods and `/health`.
   */
  readonly features?: readonly Feature[]
  /** Bounds on asking `verifyProject`: time, number at once, and how long a right answer is good. */
  readonly verifyLimits?: VerifyLimits
}

/** Closing: so long for answers under way, and so long for what is left of their connections. */
const finishMs = 6_000
const cutMs = 1_000

/**
 * Builds a server from the same object that a configuration file holds, and starts indexing.
 *
 * @throws {ConfigError} the configuration or `basePath` is wrong, it sets a key of a feature that is not in the list, or its
 *   store folder cannot be written.
 * @throws {StoreError} the store cannot be used.
 */
export async function createServer(input: ConfigInput, options: ServerOptions = {}): Promise<Server> {
  const { basePath = '', verifyProject, verifyLimits = {}, features = allFeatures } = options
  const config = parseConfig(input, { mayLackProjects: verifyProject !== undefined })
  refuseUnreadSettings(input, features, allFeatures)
  requireBasePath(basePath)
  const ownStores = config.chains.evm.flatMap(({ store }) => store ?? [])
  const hide = createPasswordHider([config.store, ...config.storeReplicas, ...ownStores])
  const plainLogger = options.logger ?? createLogger({ level: config.log.level })
  const logger = hide === undefined ? plainLogger : hidingLogger(plainLogger, hide)
  const verifier = verifyProject && createProjectVerifier(verifyProject, { limits: verifyLimits, logger })
  const projects = await openProjects({
    configured: config.projects,
    file: config.projectsFile ?? undefined,
    logger,
    onReload: () => verifier?.forget()
  })
  const stores = await openStores(config).catch((error: unknown) => {
    projects.close()
    throw error
  })
  const parts = await startParts({
    ...{ config, features, stores, logger, hide: hide ?? (text => text) },
    ownsProcess: options.ownsProcess ?? false
  }).catch(async (error: unknown) => {
    projects.close()
    await stores.close()
    throw error
  })
  for (const chain of config.chains.evm) logger.info('a chain is served', describeChain(chain))
  const { operator, drainMs } = config.listen
  const service = createService({
    methods: parts.methods,
    chainIds: {
      '/evm-chain': ascending(config.chains.evm.map(({ chainId }) => chainId)),
      '/solana': ascending(config.chains.solana.map(({ chainId }) => chainId))
    },
    figures: parts.figures,
    onDamage: parts.reportDamage,
    keyRing: projects.keyRing,
    verifier,
    methodPrefix: config.methodPrefix,
    rateLimit: config.rateLimit,
    login: config.login,
    overload: config.overload,
    trustedProxies: config.listen.trustedProxies,
    limits: config.limits,
    answersAtOnce: stores.answersAtOnce,
    openPages: parts.features.flatMap(({ openPages = [] }) => openPages),
    addMetrics: parts.features.flatMap(({ addMetrics = [] }) => addMetrics),
    guards: parts.features.flatMap(({ guards = [] }) => guards),
    isPageHost: createPageHosts(operator === 'main' ? config.listen.host : operator.host, config.pages.hosts),
    health: config.health,
    basePath,
    logger
  })
  const hasPages =
    parts.features.some(({ openPages }) => openPages) && (config.pages.status || config.pages.metrics)
  let configured: readonly Project[] = config.projects
  let listening: Promise<Listeners> | undefined
  let listener: Listeners | undefined
  let closing: Promise<void> | undefined

  const close = async () => {
    if (drainMs > 0) {
      service.beginDraining()
      await sleep(drainMs)
    }
    service.beginClosing()
    projects.close()
    // Queries never wait for the indexers, so these may end while the last answers are written.
    const indexersStopped = parts.stopIndexing()
    // The socket stays open meanwhile, so that health checks read "not ready" instead of nothing.
    const lastMoment = Date.now() + finishMs
    while (service.inFlight() > 0 && Date.now() < lastMoment) await sleep(20)
    // Also when `listen` was called a moment ago and does not yet.
    const opened = await listening?.catch(() => undefined)
    await Promise.all([opened?.main.close(cutMs), opened?.operator?.close(cutMs)])
    listener = undefined
    await indexersStopped
    await service.close()
    await parts.close()
    await stores.close()
  }

  return {
    fetch: service.fetch,
    nodeHandler: service.nodeHandler,
    async listen() {
      if (closing !== undefined) throw new ConfigError('the server is closed; create another one')
      requireStrongKeys(config.listen, configured)
      listening ??= openListeners(config, service, hasPages).catch((error: unknown) => {
        // The address may be free at the next try.
        listening = undefined
        throw error
      })
      const opened = await listening
      if (closing === undefined) listener = opened
      return opened.main.url
    },
    get url() {
      return listener?.main.url
    },
    get operatorUrl() {
      return listener?.operator?.url
    },
    status: parts.figures.chainStates,
    async reloadProjects(replacing) {
      const next = replacing === undefined ? configured : parseProjects(replacing)
      if (listening !== undefined) requireStrongKeys(config.listen, next)
      await projects.reload(replacing === undefined ? undefined : next)
      configured = next
    },
    close() {
      closing ??= close()
      return closing
    }
  }
}

function ascending(ids: readonly number[]): readonly number[] {
  return [...ids].sort((a, b) => a - b)
}
