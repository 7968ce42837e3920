import { transport } from '@chain-data/protocol'
import type { Guard } from './guards.ts'

/**
 * Guard: lets web pages use the endpoints. Which origins may call depends on the key, and a preflight carries none: so
 * every origin may ask, and the request itself is refused (`FORBIDDEN_ORIGIN`) in an answer that the page can read.
 *
 * @param mayPagesCall - whether any key exists that pages may use; asked anew for every request.
 * @remarks The Authorization header is set by the page itself, so cookies (`Access-Control-Allow-Credentials`) are
 *   never allowed, and the answer shows a page no more than any program may read.
 */
export function allowPages(mayPagesCall: () => boolean): Guard {
  return async ({ request, answerHeaders }, next) => {
    const origin = request.header('origin')
    const isPreflight = request.method === 'OPTIONS'
    if (mayPagesCall()) Object.assign(answerHeaders, pageHeaders(origin, isPreflight))
    if (!isPreflight) return next({})
    return { status: 204, headers: { allow: transport.allow }, body: '' }
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
