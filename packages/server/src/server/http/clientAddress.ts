import { type AddressRange, parseAddress, parseAddressRange } from '../../platform/addressRange.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'
import type { Logger } from '../../platform/logger.ts'
import type { Arrival, Guard } from '../guards/guards.ts'

/**
 * Guard: finds out who is calling, also behind proxies: the right-most address of `X-Forwarded-For` that no trusted
 * proxy holds. Everything left of it may have been sent by the caller itself and is not read.
 *
 * @param trustedProxies - addresses, CIDR ranges, or `loopback`; the header of any other peer is ignored.
 * @param logger - warned once when a peer in a private network sends the header and is not trusted: it may be a proxy
 *   that the operator forgot, and all of its callers would count as one.
 * @returns finds an address in one spelling: IPv4 in four parts, also where it came mapped or translated (64:ff9b::/96)
 *   into IPv6; an IPv6 address as its /64 network, which is what one customer is given at least; `undefined` where the
 *   host does not report who called.
 * @remarks An entry that is no address ends the search: the last address that a trusted proxy vouched for counts.
 *   RFC 7239 `Forwarded` is not read: a proxy that writes one of the two headers hands on the other as it came.
 */
export function findClientAddress(
  trustedProxies: readonly string[],
  logger: Pick<Logger, 'warn'>
): Guard<Arrival, { readonly address: string | undefined }> {
  let hasWarned = false
  const ranges = trustedProxies.map(text => parseAddressRange(text)).filter(range => range !== undefined)
  const known = new BoundedMap<string, string>(maxKnown)
  const countedPeer = (text: string, peer: Address) => {
    const address = counted(peer)
    known.set(text, address)
    return address
  }
  const addressOf = ({ request }: Arrival): string | undefined => {
    const { peerAddress } = request
    if (peerAddress === undefined) return undefined
    const forwarded = request.header('x-forwarded-for')
    const before = forwarded === undefined ? known.get(peerAddress) : undefined
    if (before !== undefined) return before
    const peer = parseAddress(peerAddress)
    if (peer === undefined) return undefined
    if (forwarded === undefined) return countedPeer(peerAddress, peer)
    if (isTrusted(peer, ranges)) return counted(walkBack(forwarded, peer, ranges))
    if (!hasWarned && privateRanges.has(peer.range())) {
      hasWarned = true
      logger.warn(
        'X-Forwarded-For came from a private address that listen.trustedProxies does not name; all callers behind it count as one'
      )
    }
    return counted(peer)
  }
  return call => ({ address: addressOf(call) })
}

/** Maximum of peers whose address is remembered as it is counted. */
const maxKnown = 10_000

const privateRanges: ReadonlySet<string> = new Set(['private', 'loopback', 'uniqueLocal', 'linkLocal'])

type Address = NonNullable<ReturnType<typeof parseAddress>>

function walkBack(forwarded: string, peer: Address, ranges: readonly AddressRange[]): Address {
  let last = peer
  let end = forwarded.length
  while (end > 0) {
    const comma = forwarded.lastIndexOf(',', end - 1)
    const address = parseEntry(forwarded.slice(comma + 1, end))
    if (address === undefined) return last
    if (!isTrusted(address, ranges)) return address
    last = address
    end = comma
  }
  return last
}

/** Some proxies add the port: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
const entryPattern = /^\s*(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5}|([^\s[\]]+))\s*$/

function parseEntry(entry: string): Address | undefined {
  const [, bracketed, beforePort, bare] = entryPattern.exec(entry) ?? []
  return parseAddress(bracketed ?? beforePort ?? bare ?? '')
}

function isTrusted(address: Address, ranges: readonly AddressRange[]): boolean {
  return ranges.some(contains => contains(address))
}

function counted(address: Address): string {
  if (address.kind() === 'ipv4') return address.toString()
  const bytes = address.toByteArray()
  // As a translator in front of an IPv6 service writes IPv4 callers (RFC 6052), all of them in one network.
  if (address.range() === 'rfc6052') return bytes.slice(12).join('.')
  const network = bytes.slice(0, 8)
  return `${Buffer.from(network).toString('hex').replace(/.{4}/g, '$&:')}:/64`
}
