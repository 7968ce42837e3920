import { limits, type SyncStatus } from '@chain-data/protocol'
import {
  type OperatorPagesOptions,
  openOperatorPages
} from '../../src/features/operatorPages/openOperatorPages.ts'
import type { ServerFigures } from '../../src/platform/figures.ts'
import { createLogger } from '../../src/platform/logger.ts'
import type { ProjectInput } from '../../src/server/config/projectsSchema.ts'
import { createService, type Service, type ServiceOptions } from '../../src/server/http/createService.ts'
import { type Listener, type ListenOptions, listen } from '../../src/server/http/listen.ts'
import { specMethods } from '../../src/server/methods/Method.ts'
import type { Handlers } from '../../src/server/methods/MethodContext.ts'
import { createKeyRing } from '../../src/server/projects/createKeyRing.ts'

export const projects: readonly ProjectInput[] = [
  {
    projectId: 'demo',
    serverKey: 'demo-server-key',
    clientKeys: [{ key: 'demo-client-key', origins: ['https://dapp.example'] }]
  }
]

export const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
export const address = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
export const solanaAddress = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA'

/** Makes the status of a chain of which nothing is indexed. */
export function statusOf(chainId: number): SyncStatus {
  return {
    ...{ chainId, ready: true, phase: 'following', degraded: false },
    covers: { transfers: false, internal: false, operations: false, pool: false }
  }
}

/** One method, the cheapest. */
export const statusHandlers = {
  svc_getSyncStatus: async (_params: unknown, { chainId = 0 }: { readonly chainId?: number | undefined }) =>
    statusOf(chainId)
}

/** A method nobody should call. */
async function notCalled(): Promise<never> {
  throw new Error('this method was not to be called')
}

export interface StartedService extends Service {
  /** Every line of the log so far. */
  readonly logLines: string[]
  /** Sends a body as a caller with credentials; `init` overrides. */
  post(path: string, body: NonNullable<RequestInit['body']>, init?: RequestInit): Promise<Response>
  listen(options?: Partial<Omit<ListenOptions, 'handler'>>): Promise<Listener>
}

/** What a test changes of the service. */
export type ServiceChanges = Omit<Partial<ServiceOptions>, 'methods' | 'limits'> &
  Partial<ServerFigures> & {
    readonly handlers?: Partial<Handlers>
    /** The pages for operators that are served; absent: all of them. */
    readonly pages?: OperatorPagesOptions['served']
    readonly statusTimes?: OperatorPagesOptions['times']
    readonly ownsProcess?: boolean
    /** Who may call, in place of `projects`; `keyRing` wins over it. */
    readonly projects?: readonly ProjectInput[]
    readonly limits?: Partial<ServiceOptions['limits']>
  }

/** The HTTP and JSON-RPC layers around the methods that a test brings; everything else is as by default. */
export function startService(changes: ServiceChanges = {}): StartedService {
  const logLines: string[] = []
  const { projects: mayCall = projects, chainStates = () => [], solanaStates = () => [], ...rest } = changes
  const keyRing = createKeyRing(mayCall)
  const figures: ServerFigures = {
    chainStates,
    solanaStates,
    nodeFigures: () => [],
    cacheDamages: () => new Map(),
    chainLabel: chainId => `Chain ${chainId}`,
    nodeHosts: () => []
  }
  const { pages: served = { status: true, metrics: true }, statusTimes: times = {} } = changes
  const service = createService({
    chainIds: { '/evm-chain': [1, 31337], '/solana': [101, 103] },
    figures,
    openPages: [openOperatorPages({ figures, served, times, ownsProcess: changes.ownsProcess ?? false })],
    keyRing,
    methodPrefix: 'svc_',
    rateLimit: false,
    logger: createLogger({ level: 'debug', write: line => logLines.push(line) }),
    ...rest,
    methods: specMethods(
      {
        svc_getTransactionsByAddress: notCalled,
        svc_getTokensAndNFTs: notCalled,
        enhancedGetTokensAndNFTs: notCalled,
        enhancedGetTransactionsByAddress: notCalled,
        svc_getSyncStatus: notCalled,
        svc_verifyHistory: notCalled,
        svc_verifySolanaHistory: notCalled,
        svc_watchAddresses: notCalled,
        ...changes.handlers
      },
      changes.methodPrefix ?? 'svc_'
    ),
    limits: {
      bodyBytes: limits.bodyBytes,
      jsonDepth: limits.jsonDepth,
      batchEntries: limits.batchRequests,
      requestsInFlight: 1_000,
      streams: 100,
      requestDeadlineMs: limits.requestDeadlineMs,
      streamIdleMs: limits.streamIdleMs,
      responseBytes: null,
      ...changes.limits
    }
  })
  return {
    ...service,
    logLines,
    post(path, body, init = {}) {
      const headers = { authorization, 'content-type': 'application/json', ...init.headers }
      return service.fetch(new Request(`http://service${path}`, { method: 'POST', body, ...init, headers }))
    },
    listen(options = {}) {
      const defaults = { host: '127.0.0.1', port: 0, headerBytes: limits.headerBytes, socketIdleMs: 60_000 }
      return listen({
        ...defaults,
        ...options,
        handler: service.nodeHandler,
        onRefusal: service.countRefusal
      })
    }
  }
}

/** One request as text; `change` replaces members, `undefined` removes them. */
export function request(method: string, params: unknown, change: Record<string, unknown> = {}): string {
  return JSON.stringify({ jsonrpc: '2.0', id: 1, method, chainId: 1, params, ...change })
}
