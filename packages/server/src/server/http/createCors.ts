import { transport } from '@chain-data/protocol'

/** Which response headers let web pages use the endpoints. */
export interface Cors {
  /** Added to every answer of an endpoint; empty where no page may call at all. */
  headers(origin: string | undefined): Record<string, string>
  /** Added to the answer to a preflight, which browsers send without credentials. */
  preflightHeaders(origin: string | undefined): Record<string, string>
}

/**
 * Cross-origin rules of the endpoints. Which origins may call hangs on the key, and a preflight carries none: so every
 * origin may ask, and the request itself is refused (`FORBIDDEN_ORIGIN`) in an answer that the page can read.
 *
 * @param mayPagesCall - whether any key exists that pages may use; asked anew for every request.
 * @remarks The Authorization header is set by the page itself, so cookies (`Access-Control-Allow-Credentials`) are
 *   never allowed, and the answer shows a page no more than any program may read.
 */
export function createCors(mayPagesCall: () => boolean): Cors {
  const headers = (origin: string | undefined): Record<string, string> => {
    if (!mayPagesCall()) return {}
    if (origin === undefined) return { vary: 'Origin' }
    return {
      vary: 'Origin',
      'access-control-allow-origin': origin,
      'access-control-expose-headers': transport.exposedHeaders.join(', ')
    }
  }
  return {
    headers,
    preflightHeaders(origin) {
      if (origin === undefined || !mayPagesCall()) return headers(origin)
      return {
        ...headers(origin),
        'access-control-allow-methods': transport.method,
        'access-control-allow-headers': transport.requestHeaders.join(', '),
        'access-control-max-age': String(transport.preflightSeconds)
      }
    }
  }
}
