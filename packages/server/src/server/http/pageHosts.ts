import { parseAddress } from '../../platform/addressRange.ts'
import { Answered, type Guard } from '../guards/guards.ts'
import { isLoopback } from '../projects/requireStrongKeys.ts'
import type { Located } from './requestForm.ts'

/** Returns whether pages for operators answer to the host name or address of a request. */
export type IsPageHost = (host: string) => boolean

/** `name`, `name:port`, `[IPv6]:port`; a name may end with the dot of the root. */
const hostPattern = /^(?:\[([^\]]+)\]|([^:]+?)\.?)(?::\d*)?$/

/**
 * Collects the hosts that pages answer to: loopback, the address of their listener, and configured names. Where that is every
 * address of the machine, any IP address will do: rebinding takes a name.
 *
 * @param listenHost - of the listener, as configured.
 */
export function createPageHosts(listenHost: string, configured: readonly string[]): IsPageHost {
  const names = new Set([listenHost, ...configured].map(name => name.toLowerCase()))
  const isEverywhere = parseAddress(listenHost)?.range() === 'unspecified'
  return host =>
    isLoopback(host) || names.has(host.toLowerCase()) || (isEverywhere && parseAddress(host) !== undefined)
}

/**
 * Guard: refuses requests for a page that name another host (421). Pages ask for no credentials; without it, a web page whose
 * name is pointed at this machine could read them through the browser of an operator (DNS rebinding).
 *
 * @param isPage - by path.
 * @remarks A request without a Host header comes from no browser.
 */
export function requirePageHost(isPageHost: IsPageHost, isPage: (path: string) => boolean): Guard<Located> {
  return ({ request, path }) => {
    const header = isPage(path) ? request.header('host') : undefined
    if (header === undefined) return undefined
    const [, address, name = address] = hostPattern.exec(header) ?? []
    if (name !== undefined && isPageHost(name)) return undefined
    return misdirected
  }
}

const misdirected = new Answered({
  status: 421,
  headers: { 'content-type': 'text/plain; charset=utf-8' },
  body: 'The pages for operators do not answer to this host name. Add it to pages.hosts in the configuration.\n'
})
