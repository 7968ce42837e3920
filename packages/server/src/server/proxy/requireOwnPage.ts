import { Refusal } from '../../platform/refusal.ts'
import type { HttpRequest } from '../http/exchange.ts'
import type { Guard } from '../http/guards.ts'

/**
 * Guard: lets only pages of the host itself call.
 *
 * @param hosts - with their port, or without one for every port; absent: the host may be reached by every name.
 * @param origins - of further pages of the host's.
 */
export function requireOwnPage(hosts: ReadonlySet<string> | undefined, origins: ReadonlySet<string>): Guard {
  return async ({ request }, next) => {
    if (isOwnHost(request.header, hosts) && isOwnPage(request.header, origins)) return next({})
    throw new Refusal('FORBIDDEN_ORIGIN', 'Only pages of this host may ask here.', {})
  }
}

/**
 * Whether a request comes from a page of the host itself. Browsers send `Sec-Fetch-Site`, which no page can set; older
 * ones the `Origin`. A request with neither comes from no page.
 */
function isOwnPage(header: HttpRequest['header'], origins: ReadonlySet<string>): boolean {
  const origin = header('origin')
  if (origin !== undefined && origins.has(origin)) return true
  const site = header('sec-fetch-site')
  // `none`: typed, or opened from a bookmark.
  if (site !== undefined) return site === 'same-origin' || site === 'none'
  if (origin === undefined || !URL.canParse(origin)) return false
  const { protocol, host } = new URL(origin)
  // The scheme that the browser sees is unknown here: TLS may end in front of the host.
  return /^https?:$/.test(protocol) && host === withoutDefaultPort(namedHost(header), protocol)
}

/**
 * Whether a request names this host by a name of its own. A stranger who points a name of his at this machine (DNS
 * rebinding) makes his page its own page, by another name.
 */
function isOwnHost(header: HttpRequest['header'], hosts: ReadonlySet<string> | undefined): boolean {
  if (hosts === undefined) return true
  const named = namedHost(header)?.toLowerCase() ?? ''
  return hosts.has(named) || hosts.has(named.replace(/:\d+$/, ''))
}

/** HTTP/2 names it in another place. */
function namedHost(header: HttpRequest['header']): string | undefined {
  return header('host') ?? header(':authority')
}

function withoutDefaultPort(host: string | undefined, protocol: string): string | undefined {
  return host?.toLowerCase().replace(protocol === 'https:' ? /:443$/ : /:80$/, '')
}
