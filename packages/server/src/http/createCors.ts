/** Which response headers let a web page of this origin use the service. */
export interface Cors {
  /** Added to every answer; empty for origins that are not configured. */
  headers(origin: string | undefined): Record<string, string>
  /** Added to the answer to a preflight, which browsers send without credentials. */
  preflightHeaders(origin: string | undefined): Record<string, string>
}

const preflightSeconds = 7_200

/**
 * Cross-origin rules for the configured origins. The Authorization header is set by the page itself, so cookies
 * (`Access-Control-Allow-Credentials`) are never allowed.
 */
export function createCors(origins: Iterable<string>): Cors {
  const allowed = new Set(origins)
  const headers = (origin: string | undefined): Record<string, string> => {
    if (allowed.size === 0) return {}
    if (origin === undefined || !allowed.has(origin)) return { vary: 'Origin' }
    return {
      vary: 'Origin',
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'Retry-After, X-Request-Id'
    }
  }
  return {
    headers,
    preflightHeaders(origin) {
      if (origin === undefined || !allowed.has(origin)) return headers(origin)
      return {
        ...headers(origin),
        'access-control-allow-methods': 'POST',
        'access-control-allow-headers': 'Authorization, Content-Type',
        'access-control-max-age': String(preflightSeconds)
      }
    }
  }
}
