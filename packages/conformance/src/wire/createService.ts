import {
  defaultMethodPrefix,
  type EndpointPath,
  errors,
  type MethodName,
  transport,
  wireName
} from '@chain-data/protocol'
import type { Wire } from './createWire.ts'
import type { Exchange, SentRequest } from './Exchange.ts'
import { parseExact } from './parseExact.ts'

/** One call, as the document writes it: the method without the host's prefix. */
export interface Call {
  readonly endpoint: EndpointPath
  readonly method: MethodName
  readonly chainId: number
  readonly params: readonly unknown[]
  /** Default 1. */
  readonly id?: number | string
}

/** What came of a call. */
export interface Answer {
  readonly exchange: Exchange
  /** The body by `JSON.parse`; `undefined` where it is no JSON. */
  readonly body: unknown
  /** The same with every digit: see {@link parseExact}. */
  readonly exact: unknown
}

/** The service that is examined, as a caller with credentials sees it. */
export interface Service {
  /** What the host writes where the document has `svc_`. */
  readonly methodPrefix: string
  /** Sends what is given; credentials and media type unless other headers say otherwise (`''` leaves one out). */
  exchange(request: Partial<SentRequest>): Promise<Exchange>
  call(call: Call): Promise<Answer>
  /** Calls of one endpoint in one request. */
  batch(endpoint: EndpointPath, calls: readonly Omit<Call, 'endpoint'>[]): Promise<Answer>
  /** Headers of credentials other than those of the caller. */
  credentials(projectId: string, key: string): Readonly<Record<string, string>>
  readonly projectId: string
  /** A key of the same length and alphabet that is not that of the caller. */
  readonly wrongKey: string
}

export interface ServiceOptions {
  readonly send: Wire['send']
  readonly projectId: string
  readonly key: string
  /** Default: that of the document. */
  readonly methodPrefix?: string | undefined
}

/** A host that wants to be left alone is asked so often, and waited for so long each time. */
const attempts = 6
const longestWaitMs = 20_000

/** The calls of a service, with credentials. The key stays in here. */
export function createService(options: ServiceOptions): Service {
  const { send, projectId, key, methodPrefix = defaultMethodPrefix } = options
  const credentials = (user: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`
  })
  /** While what was refused is sent again, nothing else is: else that would take the quota it waits for. */
  let repeating: Promise<unknown> = Promise.resolve()
  const usual = { ...credentials(projectId, key), 'content-type': transport.requestContentType }

  async function exchange(request: Partial<SentRequest>): Promise<Exchange> {
    const { verb = transport.method, target = '/evm-chain', headers = {}, body } = request
    const all = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== '')
    const sent = { verb, target, headers: Object.fromEntries(all), ...(body === undefined ? {} : { body }) }
    let awaited: unknown
    while (awaited !== repeating) {
      awaited = repeating
      await repeating
    }
    const made = await send(sent)
    const until = refusedUntil(made)
    if (until === undefined) return made
    const repeated = repeating.then(() => repeat(sent, made, until))
    repeating = repeated.catch(() => {})
    return repeated
  }

  /** Sends a refused request again, once the host wants that. */
  async function repeat(sent: SentRequest, refused: Exchange, firstUntil: number): Promise<Exchange> {
    let [made, until]: [Exchange, number | undefined] = [refused, firstUntil]
    for (let attempt = 1; until !== undefined && attempt < attempts; attempt++) {
      const waitMs = until - performance.now()
      if (!(waitMs <= longestWaitMs)) break
      await new Promise(resolve => setTimeout(resolve, Math.max(0, waitMs)))
      made = await send(sent)
      until = refusedUntil(made)
    }
    return made
  }

  function write({ method, chainId, params, id = 1 }: Omit<Call, 'endpoint'>): unknown {
    return { jsonrpc: '2.0', id, method: wireName(method, methodPrefix), chainId, params }
  }

  async function post(endpoint: EndpointPath, body: unknown): Promise<Answer> {
    const made = await exchange({ target: endpoint, body: JSON.stringify(body) })
    const { text } = made.received
    return { exchange: made, body: attempt(() => JSON.parse(text)), exact: attempt(() => parseExact(text)) }
  }

  return {
    methodPrefix,
    projectId,
    wrongKey: [...key].reverse().join('') === key ? `${key}x` : [...key].reverse().join(''),
    credentials,
    exchange,
    call: call => post(call.endpoint, write(call)),
    batch: (endpoint, calls) => post(endpoint, calls.map(write))
  }
}

function attempt(read: () => unknown): unknown {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** What a host says that has no quota left for this caller, or no room for anybody. */
const waiting = [errors.RATE_LIMITED, errors.OVERLOADED]

/** When a refused request may come again, by `performance.now()`; `undefined` where nothing was refused for now. */
function refusedUntil({ received }: Exchange): number | undefined {
  const isWhole = waiting.some(({ httpStatus }) => httpStatus === received.status)
  if (!isWhole && !received.text.startsWith('[')) return undefined
  const body = attempt(() => JSON.parse(received.text)) as Part | readonly Part[] | undefined
  const parts = [body].flat() as readonly (Part | undefined)[]
  const refused = parts.flatMap(part => {
    const { reason, retryAfterMs } = part?.error?.data ?? {}
    return waiting.some(known => known.reason === reason) ? [retryAfterMs ?? 1000] : []
  })
  if (isWhole)
    return performance.now() + (refused[0] ?? Number(received.headers['retry-after'] ?? '1') * 1000)
  if (refused.length === 0) return undefined
  // The parts that were taken used quota up as well, and will again; a few refused ones tell the pace only roughly.
  return performance.now() + (2 * Math.max(...refused) * parts.length) / refused.length
}

/** What a body, or an entry of a batch, may be. */
type Part = { error?: { data?: { reason?: unknown; retryAfterMs?: number } } } | null
