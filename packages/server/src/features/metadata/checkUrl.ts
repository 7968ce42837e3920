import { isIP } from 'node:net'
import { isPublicAddress } from '../../platform/network/publicAddress.ts'
import { metadataFailure } from './metadataFailure.ts'

/** A checked URL in the one spelling that is dialled, sent as Host and compared with `allowHosts`. */
export interface CheckedUrl {
  readonly url: URL
  /** Without brackets; lower case; an IP address in its normal form. */
  readonly hostname: string
  readonly port: number
  /** The operator named this host and port: it may be private. */
  readonly allowed: boolean
}

/** Characters of the longest URL that is followed. */
export const maxUrlLength = 8192
const allowedPorts = new Set([80, 443, 8080, 8443])

/** Names that never mean a public host, or that mean the machine, the network or the cluster one is in. */
const specialNames =
  /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|in-addr\.arpa|ip6\.arpa|onion|invalid|test|example|alt)$/

/**
 * Everything that can be said of a URL before a name is looked up: http or https, no user info, a usual port
 * (80, 443, 8080, 8443), a host that may be public.
 *
 * The text is parsed once, by the WHATWG parser, and only the outcome is used afterwards; so no second parser can read
 * another host out of it.
 *
 * @param allowHosts - exact `host:port` in the spelling of `CheckedUrl`; exempt from the rules on host and port.
 * @throws {MetadataError} with the reason.
 */
export function checkUrl(text: string, allowHosts: ReadonlySet<string>): CheckedUrl {
  if (text.length > maxUrlLength) throw metadataFailure('URL', 'URL too long', text)
  // The parser would drop tabs and line ends and read a backslash as a slash. Whoever writes these means mischief.
  if (hasControlOrBackslash(text))
    throw metadataFailure('URL', 'URL with control character or backslash', text)
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined) throw metadataFailure('URL', 'Not a URL', text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw metadataFailure('SCHEME', 'Neither http nor https', text)
  }
  if (url.username !== '' || url.password !== '')
    throw metadataFailure('USER_INFO', 'URL with user info', text)

  const hostname = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port)
  const allowed = allowHosts.has(hostAndPort(hostname, port))
  if (!allowed) {
    if (!allowedPorts.has(port)) throw metadataFailure('PORT', 'Port not allowed', text)
    checkHost(hostname)
  }
  return { url, hostname, port, allowed }
}

/** @throws {MetadataError} the name or address is not one of the public internet. */
function checkHost(hostname: string): void {
  if (isIP(hostname) !== 0) {
    if (!isPublicAddress(hostname))
      throw metadataFailure('PRIVATE_ADDRESS', 'Address is not public', hostname)
    return
  }
  const name = hostname.replace(/\.$/, '')
  const labels = name.split('.')
  const wellFormed =
    labels.length > 1 && labels.every(label => /^[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label))
  if (!wellFormed || name.length > 253 || specialNames.test(name)) {
    throw metadataFailure('HOST', 'Not a public host name', hostname)
  }
}

/**
 * Brings configured `allowHosts` entries into the spelling that URLs are compared in.
 * @param entries - `host:port`; an IPv6 address in brackets.
 * @throws {MetadataError} an entry is not exactly a host and a port.
 */
export function readAllowHosts(entries: readonly string[]): ReadonlySet<string> {
  return new Set(
    entries.map(entry => {
      const port = /:(\d{1,5})$/.exec(entry)?.[1]
      const text = `http://${entry}/`
      const url = /[/@?#\s\\*]/.test(entry) || !URL.canParse(text) ? undefined : new URL(text)
      if (port === undefined || url === undefined || url.username !== '') {
        throw metadataFailure('HOST', 'allowHosts entry is not host:port', entry)
      }
      return hostAndPort(url.hostname.replace(/^\[(.*)\]$/, '$1'), Number(port))
    })
  )
}

function hostAndPort(hostname: string, port: number): string {
  return `${hostname}|${port}`
}

function hasControlOrBackslash(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    if (code < 0x20 || code === 0x7f || code === 0x5c) return true
  }
  return false
}
