import { endpoints, limits } from '@chain-data/protocol'
import { HttpResponse, http, type RequestHandler } from 'msw'
import { answerEntry, type EntryContext, failEntry } from './answerEntry.ts'
import { type Fault, rpcFault } from './Fault.ts'
import type { MockOptions } from './MockOptions.ts'
import { respond, respondFault } from './respond.ts'
import { wait } from './wait.ts'

const jsonType = /^application\/json[ \t]*(;[ \t]*(charset="?utf-8"?[ \t]*(;[ \t]*)?)?)?$/i

/**
 * The service for tests and previews: one msw handler per endpoint, for `setupServer`, `setupWorker` and
 * `server.use` of msw 2.15 and 3.
 *
 * Each handler takes single requests and batches, checks them as the service does, and answers with the
 * document's examples unless `methods` says otherwise. An exception of a resolver is left to msw, which prints it
 * and answers with 500.
 *
 * @returns The handlers of `/evm-chain` and `/solana`.
 * @throws {TypeError} `baseUrl` is no http or https URL.
 * @example
 * const server = setupServer(...createHandlers({
 *   baseUrl: 'https://rpc.example.com',
 *   methods: { svc_getTransactionsByAddress: ({ params: [address] }) => historyOf(address) }
 * }))
 */
export function createHandlers(options: MockOptions): RequestHandler[] {
  const base = readBaseUrl(options.baseUrl)
  let count = 0

  return Object.values(endpoints).map(({ path: endpoint }) =>
    http.all(exactly(base + endpoint), async ({ request }) => {
      count += 1
      if (request.method === 'OPTIONS') {
        return new HttpResponse(null, { status: 204, headers: { Allow: 'POST, OPTIONS' } })
      }
      const urlChainId = new URL(request.url).searchParams.get('chainId')
      return answer(request, { options, endpoint, urlChainId }, count)
    })
  )
}

async function answer(
  request: Request,
  place: Omit<EntryContext, 'isBatch' | 'takesEvents'>,
  count: number
): Promise<Response> {
  const { fault: chosen } = place.options
  const fault = await reached(
    typeof chosen === 'function' ? chosen({ endpoint: place.endpoint, count }) : chosen
  )
  const refusal = fault ?? refusalOf(request, place.options)
  if (refusal?.kind === 'http' || refusal?.kind === 'network') return respondFault(refusal, [], false)
  const { isBatch, requests, broken } = readBody(await request.text())
  const takesEvents = /\btext\/event-stream\b/i.test(request.headers.get('Accept') ?? '')
  const context = { ...place, isBatch, takesEvents }
  const failing = refusal?.kind === 'rpc' ? refusal : broken
  const entries = await Promise.all(
    requests.map(value =>
      failing === undefined ? answerEntry(value, context) : failEntry(value, failing, context)
    )
  )
  return refusal?.kind === 'malformed' ? respondFault(refusal, entries, isBatch) : respond(entries, isBatch)
}

/** What comes after the delays of a fault. */
async function reached(
  fault: Fault | undefined
): Promise<Exclude<Fault, { readonly kind: 'delay' }> | undefined> {
  let current = fault
  while (current?.kind === 'delay') {
    await wait(current.delayMs)
    current = current.then
  }
  return current
}

/** The refusals that come before the body is read, in the service's order. */
function refusalOf(request: Request, { credentials }: MockOptions) {
  if (request.method !== 'POST') return rpcFault('METHOD_NOT_ALLOWED')
  if (credentials && request.headers.get('Authorization') !== basic(credentials)) {
    return rpcFault('UNAUTHENTICATED')
  }
  if (!jsonType.test(request.headers.get('Content-Type') ?? '')) return rpcFault('UNSUPPORTED_MEDIA_TYPE')
  return undefined
}

function basic({ projectId, key }: NonNullable<MockOptions['credentials']>): string {
  const bytes = new TextEncoder().encode(`${projectId}:${key}`)
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

interface Body {
  readonly isBatch: boolean
  readonly requests: readonly unknown[]
  /** Why no request of this body is answered. */
  readonly broken?: Fault
}

function readBody(text: string): Body {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return { isBatch: false, requests: [undefined], broken: rpcFault('PARSE_ERROR') }
  }
  if (!Array.isArray(body)) return { isBatch: false, requests: [body] }
  if (body.length >= 1 && body.length <= limits.batchRequests) return { isBatch: true, requests: body }
  const extraMessage = `A batch has 1 to ${limits.batchRequests} requests.`
  const broken = rpcFault('INVALID_REQUEST', { extraMessage, path: '' })
  return { isBatch: false, requests: [undefined], broken }
}

function readBaseUrl(baseUrl: string): string {
  if (typeof baseUrl !== 'string' || !/^https?:\/\/[^/?#]+[^?#]*$/.test(baseUrl)) {
    throw new TypeError('createHandlers: baseUrl must be an http or https URL without query and fragment')
  }
  const { origin, pathname } = new URL(baseUrl)
  return origin + pathname.replace(/\/+$/, '')
}

/** A pattern of exactly this URL; msw leaves query and fragment out before it compares. */
function exactly(url: string): RegExp {
  return new RegExp(`^${url.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}/?(?:[?#].*)?$`)
}
