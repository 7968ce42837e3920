import ipaddr from 'ipaddr.js'

/** Checks whether an address belongs to a set of addresses. */
export type AddressRange = (address: ipaddr.IPv4 | ipaddr.IPv6) => boolean

const loopback = ['127.0.0.0/8', '::1/128']

/**
 * Reads the addresses that an operator names.
 *
 * @param text - one address, a CIDR range such as `10.0.0.0/8` or `fd00::/8`, or `loopback`.
 * @returns `undefined` for anything else: host names, old spellings of IPv4, ranges with bits behind their prefix
 *   (`10.0.0.1/8` may be meant either way).
 */
export function parseAddressRange(text: string): AddressRange | undefined {
  if (text === 'loopback') {
    const ranges = loopback.map(range => ipaddr.parseCIDR(range))
    return address => ranges.some(range => isIn(address, range))
  }
  const [addressText = '', prefixText, ...rest] = text.split('/')
  const address = parseAddress(addressText)
  if (address === undefined || rest.length > 0) return undefined
  const bits = address.kind() === 'ipv4' ? 32 : 128
  if (prefixText === undefined) return other => isIn(other, [address, bits])
  if (!/^\d{1,3}$/.test(prefixText) || Number(prefixText) > bits) return undefined
  const prefix = Number(prefixText)
  if (bitsBehind(address.toByteArray(), prefix)) return undefined
  return other => isIn(other, [address, prefix])
}

/**
 * An address as a socket or a header names it.
 *
 * @returns the IPv4 address for one that is mapped into IPv6, without zone; `undefined` for what is no address, and
 *   for IPv4 in another form than four decimal parts.
 */
export function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text)
  const [withoutZone = ''] = text.split('%')
  if (!withoutZone.includes(':') || !ipaddr.IPv6.isValid(withoutZone)) return undefined
  const address = ipaddr.IPv6.parse(withoutZone)
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address
}

function isIn(
  address: ipaddr.IPv4 | ipaddr.IPv6,
  [range, prefix]: readonly [ipaddr.IPv4 | ipaddr.IPv6, number]
): boolean {
  return address.kind() === range.kind() && address.match(range, prefix)
}

function bitsBehind(bytes: readonly number[], prefix: number): boolean {
  return bytes.some((byte, index) => {
    const kept = Math.min(8, Math.max(0, prefix - index * 8))
    return (byte & (0xff >> kept)) !== 0
  })
}
