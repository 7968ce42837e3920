/**
 * A route that lets the pages of a host call a service with the host's server key, which the pages never see.
 *
 * @packageDocumentation
 */
import { createErrorObject, type ErrorReason, errors, limits, transport } from '@chain-data/protocol'
import { readText } from './fetchTransport.ts'
import { readOptions } from './readOptions.ts'
import { redact } from './redact.ts'

/** Options of {@link createRoute}. */
export interface RouteOptions {
  /** Address of the service, without `/evm-chain` or `/solana`. https, except on loopback or with `allowInsecureHttp`. */
  readonly baseUrl: string
  /** User name of HTTP Basic that the service knows this host by. */
  readonly projectId: string
  /** Password of HTTP Basic. A secret: it stays on the host. */
  readonly serverKey: string
  /** Wire names of the methods that pages may call, such as `svc_getTokensAndNFTs`. */
  readonly allow: readonly string[]
  /** Permits plain http to a host that is not loopback, where anyone on the way can read the key. Default false. */
  readonly allowInsecureHttp?: boolean | undefined
}

/** Headers of an answer that a page gets. */
const passedBack = /^(content-type|cache-control|retry-after|x-accel-buffering|x-request-id|x-chain-data-.*)$/
const jsonType = /^application\/json[ \t]*(;[ \t]*charset=("?)utf-8\2[ \t]*)?$/i
/** No method has this name, so the service answers METHOD_NOT_FOUND in the call's position of its batch. */
const refusedName = '(not allowed here)'

/**
 * Creates a handler that answers the host's own pages: it adds the server key and asks the service.
 *
 * Mount it below any path, such as `/api/chain-data`, before body parsers. The client of the page has that path as `baseUrl`
 * and `auth: false`. Answers and streams of events are passed on as they come.
 *
 * @returns A handler for Next, Hono, Workers and every other host that speaks Fetch.
 * @throws {ConfigurationError} An option cannot work.
 */
export function createRoute({ allow, ...access }: RouteOptions): (request: Request) => Promise<Response> {
  const { baseUrl, sign } = readOptions(access)
  const allowed = new Set(allow)
  return async request => {
    const { pathname, searchParams } = new URL(request.url)
    const [, endpoint] = /(\/evm-chain|\/solana)\/?$/.exec(pathname) ?? []
    if (!endpoint) return refuse('NOT_FOUND', 'The endpoints are /evm-chain and /solana.')
    const body = checkHead(request) ?? (await readCalls(request, allowed))
    if (typeof body !== 'string') return body
    const chainId = searchParams.getAll('chainId').join()
    const after = request.headers.get('last-event-id')
    const { headers, secrets } = await sign('createRoute')
    const answer = await fetch(baseUrl + endpoint + (chainId && `?chainId=${encodeURIComponent(chainId)}`), {
      method: 'POST',
      headers: {
        ...headers,
        accept: request.headers.get('accept') ?? 'application/json',
        'content-type': 'application/json',
        ...(after && { 'last-event-id': after })
      },
      body,
      signal: request.signal,
      redirect: 'manual' // The key goes to nobody but the service.
    }).catch(() => undefined)
    if (!answer || answer.status < 200 || (answer.status >= 300 && answer.status < 400)) {
      return refuse('OVERLOADED', 'The service behind this host is not available.')
    }
    const passed = Object.fromEntries([...answer.headers].filter(([name]) => passedBack.test(name)))
    const init = { status: answer.status, headers: { ...transport.answerHeaders, ...passed } }
    if (answer.ok) return new Response(answer.body, init)
    // The error page of a gateway may repeat the request.
    const text = await readText(answer, limits.bodyBytes).catch(() => '')
    return new Response(`${redact(text ?? '', secrets)}`, init)
  }
}

/** Returns the refusal of a request whose head is not that of a call of the host's own page. */
function checkHead(request: Request): Response | undefined {
  const { method, headers } = request
  if (method !== 'POST') return refuse('METHOD_NOT_ALLOWED', 'Send the request with POST.')
  if (!isOwnPage(request)) return refuse('FORBIDDEN_ORIGIN', 'Only pages of this host may ask here.')
  if (jsonType.test(`${headers.get('content-type')}`) && !headers.has('content-encoding')) return undefined
  return refuse('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.')
}

/** Checks whether a page of this host asks: by `Sec-Fetch-Site` or, in old browsers and over plain http, by `Origin`. */
function isOwnPage({ headers, url }: Request): boolean {
  const site = headers.get('sec-fetch-site')
  if (site !== null) return site === 'same-origin'
  const origin = `${headers.get('origin')}`
  if (!/^https?:\/\//.test(origin) || !URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  // The scheme is not compared: TLS may end in front of the host. Next has a URL of its own, so `Host` counts first.
  const named = headers.get('host') ?? new URL(url).host
  return host === named.toLowerCase().replace(protocol === 'https:' ? /:443$/ : /:80$/, '')
}

/** Reads the calls and writes them anew, so that the service gets what was checked; or returns the refusal. */
async function readCalls({ body }: Request, allowed: ReadonlySet<string>): Promise<string | Response> {
  const reader = body?.getReader()
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let calls: unknown
  try {
    let text = ''
    for (let bytes = 0, chunk = await reader?.read(); chunk?.value; chunk = await reader?.read()) {
      bytes += chunk.value.length
      // Not cancelled: a host over node:http would cut the connection before the refusal is sent.
      if (bytes > limits.bodyBytes) return refuse('BODY_TOO_LARGE', `At most ${limits.bodyBytes} bytes.`)
      text += decoder.decode(chunk.value, { stream: true })
    }
    calls = JSON.parse(text + decoder.decode())
  } catch {
    return refuse('PARSE_ERROR', 'The body must be JSON in UTF-8.')
  } finally {
    reader?.releaseLock()
  }
  const isBatch = Array.isArray(calls)
  const sent = (isBatch ? (calls as unknown[]) : [calls]).map(call => rewrite(call, allowed))
  if (sent.length === 0 || sent.length > limits.batchRequests || isDeeper(calls, limits.jsonDepth)) {
    return refuse('INVALID_REQUEST', 'The batch is empty or too long, or the nesting too deep.')
  }
  if (isBatch || sent[0]?.method !== refusedName) return JSON.stringify(isBatch ? sent : sent[0])
  const { id = 1 } = sent[0]
  return refuse('METHOD_NOT_FOUND', 'This host does not pass this method on.', id)
}

/** Checks whether a JSON value has more levels of lists and objects than allowed. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some(member => isDeeper(member, levels - 1))
}

/** Writes a call without unknown members; an id that JavaScript would round becomes `null`, which the service refuses. */
function rewrite(call: unknown, allowed: ReadonlySet<string>) {
  if (typeof call !== 'object' || call === null || Array.isArray(call)) return null
  const { jsonrpc, id, method, chainId, params } = call as Readonly<Record<string, unknown>>
  const exact = (value: unknown) => (value === undefined || Number.isSafeInteger(value) ? value : null)
  const head = { jsonrpc, id: typeof id === 'string' ? id : exact(id), chainId: exact(chainId) }
  if (typeof method !== 'string') return { ...head, method: undefined, params }
  return allowed.has(method) ? { ...head, method, params } : { ...head, method: refusedName, params: [] }
}

/** Returns an error as the service answers it. */
function refuse(reason: ErrorReason, extraMessage: string, id: unknown = null): Response {
  const error = createErrorObject(reason, { extraMessage } as never)
  const headers = new Headers(transport.answerHeaders)
  if (reason === 'METHOD_NOT_ALLOWED') headers.set('allow', 'POST')
  if (reason === 'OVERLOADED') headers.set('retry-after', '1')
  return Response.json({ jsonrpc: '2.0', id, error }, { status: errors[reason].httpStatus, headers })
}
