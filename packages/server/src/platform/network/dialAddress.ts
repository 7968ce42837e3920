import { lookup, Resolver } from 'node:dns/promises'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

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

/** Resolves hosts that the operator named as the machine does, hosts file included. */
export const resolveLocalHost: ResolveHost = async hostname => {
  const entries = await lookup(hostname, { all: true })
  return entries.map(entry => entry.address)
}

/** A checked address. `hostname` is sent to the server, which must prove it; it is never looked up again. */
interface DialTarget {
  readonly address: string
  readonly port: number
  readonly hostname: string
  readonly secure: boolean
}

/**
 * Opens a connection to exactly `target.address`; for `secure`, TLS is established and the certificate is checked
 * against `target.hostname`.
 * @returns a connected socket that the caller must destroy.
 */
export type Dial = (target: DialTarget, signal: AbortSignal) => Promise<Socket>

/** Dials; the only place of the metadata module where a socket is opened. */
export const dialAddress: Dial = async (target, signal) => {
  signal.throwIfAborted()
  const { address, port, hostname, secure } = target
  const socket = secure
    ? connectTls({
        host: address,
        port,
        servername: serverName(hostname),
        ALPNProtocols: ['http/1.1'],
        // Said outright: NODE_TLS_REJECT_UNAUTHORIZED=0, set for the operator's own nodes, must not reach this far.
        rejectUnauthorized: true
      })
    : connectTcp({ host: address, port })
  const ready = secure ? 'secureConnect' : 'connect'
  // A socket may also fail when nobody waits for it any more; whoever uses it hears of that in its own way.
  socket.on('error', () => {})
  let stopListening = () => {}
  try {
    await new Promise<void>((resolve, reject) => {
      const onClose = () => reject(new Error('connection closed'))
      const onAbort = () => reject(signal.reason)
      socket.once(ready, resolve).once('error', reject).once('close', onClose)
      signal.addEventListener('abort', onAbort, { once: true })
      stopListening = () => {
        socket.off(ready, resolve).off('error', reject).off('close', onClose)
        signal.removeEventListener('abort', onAbort)
      }
    })
    return socket
  } catch (error) {
    socket.destroy()
    throw error
  } finally {
    stopListening()
  }
}

/**
 * Server name indication knows names only (RFC 6066); for an address an empty one keeps Node from sending it, and the
 * certificate is then checked against the dialled address, which is the same.
 */
function serverName(hostname: string): string {
  return /^[\d.]+$|:/.test(hostname) ? '' : hostname.replace(/\.$/, '')
}
