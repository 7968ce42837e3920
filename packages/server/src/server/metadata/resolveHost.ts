import { lookup, Resolver } from 'node:dns/promises'
import { isIP } from 'node:net'

/**
 * Finds the addresses of a host; an IP address is its own answer.
 * @returns at least one; never partly filtered, so that the caller sees everything a later dial could reach.
 * @throws whatever the resolver throws when there is none, or when aborted.
 */
export type ResolveHost = (hostname: string, signal: AbortSignal) => Promise<readonly string[]>

const attemptTimeoutMs = 2_000
const attempts = 2

/**
 * Asks the configured name servers only. Not getaddrinfo: that also reads the hosts file and search domains, which
 * know private names, cannot be cancelled, and blocks one of the few threads that file access needs.
 *
 * @param servers - `address:port` of other name servers; replaced in tests.
 */
export function createResolvePublicHost(servers?: readonly string[]): ResolveHost {
  return async (hostname, signal) => {
    if (isIP(hostname) !== 0) return [hostname]
    signal.throwIfAborted()
    const resolver = new Resolver({ timeout: attemptTimeoutMs, tries: attempts })
    if (servers !== undefined) resolver.setServers(servers)
    const cancel = () => resolver.cancel()
    signal.addEventListener('abort', cancel, { once: true })
    try {
      const families = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)])
      const addresses = families.flatMap(family => (family.status === 'fulfilled' ? family.value : []))
      if (addresses.length > 0) return addresses
      throw families[0].status === 'rejected' ? families[0].reason : new Error('no address')
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}

/** For hosts that the operator named: the machine's own view, hosts file included. */
export const resolveLocalHost: ResolveHost = async hostname => {
  const entries = await lookup(hostname, { all: true })
  return entries.map(entry => entry.address)
}
