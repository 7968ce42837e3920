import { isUtf8 } from 'node:buffer'
import { type EndpointPath, endpoints, transport } from '@chain-data/protocol'
import { ConfigError } from '../../platform/errors.ts'
import { Refusal } from '../../platform/refusal.ts'
import { bodyTooLarge, type HttpAnswer } from '../guards/exchange.ts'
import { Answered, type Arrival, type Guard } from '../guards/guards.ts'
import type { KeyRing } from '../projects/createKeyRing.ts'

/** A path at which there is nothing. */
const nowhere = ''
const endpointPaths = new Map<string, EndpointPath>(Object.values(endpoints).map(({ path }) => [path, path]))

/** A request after `readPath`, with its path below `basePath`, without a slash at its end. */
export interface Located extends Arrival {
  readonly path: string
}

/**
 * Guard: finds the path below `basePath`, for a host that hands requests on with the path as it was sent.
 *
 * @param basePath - checked by `requireBasePath`. What is not below it is not found, the service's own paths included: a
 *   path has one meaning. The path itself without a slash is not below it either: relative links of a page there would
 *   lead elsewhere.
 */
export function readPath(basePath: string): Guard<Arrival, { readonly path: string }> {
  return ({ request }) => {
    const path = request.path.startsWith(`${basePath}/`) ? request.path.slice(basePath.length) : nowhere
    return { path: path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path }
  }
}

/** @throws {ConfigError} `basePath` is neither `''` nor a path without a slash at its end. */
export function requireBasePath(basePath: string): void {
  if (/^(\/[\w.~-]+)*$/.test(basePath)) return
  throw new ConfigError(
    `basePath is ${JSON.stringify(String(basePath).slice(0, 100))}; expected a path such as "/api/chain-data", without a slash at its end`
  )
}

/** Guard: answers the pages that are read with GET and without credentials. */
export function servePages(pages: ReadonlyMap<string, () => Promise<HttpAnswer>>): Guard<Located> {
  return ({ request, path, answerHeaders }) => {
    const page = pages.get(path)
    if (page === undefined) return undefined
    if (request.method === 'GET' || request.method === 'HEAD') return page().then(answered)
    answerHeaders.allow = 'GET, HEAD'
    throw new Refusal('METHOD_NOT_ALLOWED', 'Read this page with GET.', {})
  }
}

function answered(answer: HttpAnswer): Answered {
  return new Answered(answer)
}

/** The endpoint that a request is sent to. */
export interface Target {
  readonly endpoint: EndpointPath
  /** Text of `?chainId=`: of a repeated one all, which is no chain id: two readers of such a URL would pick different ones. */
  readonly urlChainId: string | undefined
}

/** Guard: finds the endpoint; there is nothing else. */
export const findEndpoint: Guard<Located, Target> = ({ request, path }) => {
  const endpoint = endpointPaths.get(path)
  const chainIds = request.query.getAll('chainId')
  if (endpoint !== undefined) {
    return { endpoint, urlChainId: chainIds.length === 0 ? undefined : chainIds.join(',') }
  }
  throw new Refusal('NOT_FOUND', `The endpoints are ${[...endpointPaths.keys()].join(' and ')}.`, {})
}

/**
 * Guard: lets web pages use the endpoints (CORS). Which origins may call depends on the key, and a preflight carries none: so
 * every origin may ask, and the request itself is refused (`FORBIDDEN_ORIGIN`) in an answer that the page can read.
 *
 * @param anyKeyMay - a key that pages may use can exist outside of the key ring.
 * @remarks The Authorization header is set by the page itself, so cookies (`Access-Control-Allow-Credentials`) are
 *   never allowed, and the answer shows a page no more than any program may read.
 */
export function allowPages(keyRing: Pick<KeyRing, 'hasClientKeys'>, anyKeyMay: boolean): Guard {
  return ({ request, answerHeaders }) => {
    const origin = request.header('origin')
    const isPreflight = request.method === 'OPTIONS'
    if (anyKeyMay || keyRing.hasClientKeys()) Object.assign(answerHeaders, pageHeaders(origin, isPreflight))
    if (!isPreflight) return undefined
    return new Answered({ status: 204, headers: { allow: transport.allow }, body: '' })
  }
}

function pageHeaders(origin: string | undefined, isPreflight: boolean): Record<string, string> {
  if (origin === undefined) return { vary: 'Origin' }
  return {
    vary: 'Origin',
    'access-control-allow-origin': origin,
    'access-control-expose-headers': transport.exposedHeaders.join(', '),
    ...(isPreflight
      ? {
          'access-control-allow-methods': transport.method,
          'access-control-allow-headers': transport.requestHeaders.join(', '),
          'access-control-max-age': String(transport.preflightSeconds)
        }
      : {})
  }
}

/** Guard: lets POST pass only. */
export const requirePost: Guard = ({ request, answerHeaders }) => {
  if (request.method === transport.method) return undefined
  answerHeaders.allow = transport.allow
  throw new Refusal('METHOD_NOT_ALLOWED', 'Send the request with POST.', {})
}

/** The parameters that a media type may have: a UTF-8 charset. */
const parametersPattern = /^[ \t]*(;[ \t]*(charset=(utf-8|"utf-8")[ \t]*(;[ \t]*)?)?)?$/i
const jsonType = transport.requestContentType

/** Returns whether a body with these headers is JSON in UTF-8, not compressed. */
function isJsonMediaType(contentType: string | undefined, contentEncoding: string | undefined): boolean {
  const isPlain = contentEncoding === undefined || /^identity$/i.test(contentEncoding)
  if (!isPlain || contentType?.slice(0, jsonType.length).toLowerCase() !== jsonType) return false
  return parametersPattern.test(contentType.slice(jsonType.length))
}

/** Guard: lets only JSON pass, judged by the headers. */
export const requireJson: Guard = ({ request }) => {
  if (isJsonMediaType(request.header('content-type'), request.header('content-encoding'))) return undefined
  throw new Refusal('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.', {})
}

/**
 * Guard: reads the body.
 *
 * @remarks The text is empty, which is not JSON either, where the bytes are not UTF-8: replacement characters would make
 *   different ids alike.
 */
export function readText(largestBytes: number): Guard<Arrival, { readonly text: string }> {
  return async ({ request }) => {
    const bytes = await request.readBody(largestBytes)
    if (bytes === bodyTooLarge) {
      throw new Refusal('BODY_TOO_LARGE', `The body may have ${largestBytes} bytes.`, {})
    }
    const { buffer, byteOffset, byteLength } = bytes
    return { text: isUtf8(bytes) ? Buffer.from(buffer, byteOffset, byteLength).toString() : '' }
  }
}
