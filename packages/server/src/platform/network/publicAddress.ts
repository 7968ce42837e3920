import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** All global unicast space that IANA has given out; everything beside it is special or unassigned. */
const globalUnicastV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** Looks public, but every Azure machine reaches its host's control service there. */
const azureWireServer = '168.63.129.16'

/**
 * Tells whether an address may be dialled for a stranger: public unicast, and no form that wraps another address.
 *
 * @param text - an address as a resolver or the URL parser gives it; anything else, also an old spelling of an IPv4
 *   address (octal, hexadecimal, fewer than four parts) or one with a zone, is not public.
 * @remarks Wrapped forms (IPv4-mapped and -compatible, NAT64, 6to4, Teredo, ISATAP) are refused whatever they wrap: a
 *   public name has no reason to use them, and what a gateway makes of them is not known here.
 * @see IANA special-purpose address registries; RFC 6890, RFC 5214
 */
export function isPublicAddress(text: string): boolean {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) {
    return ipaddr.IPv4.parse(text).range() === 'unicast' && text !== azureWireServer
  }
  if (!text.includes(':') || text.includes('%') || !ipaddr.IPv6.isValid(text)) return false
  const address = ipaddr.IPv6.parse(text)
  return address.match(globalUnicastV6) && address.range() === 'unicast' && !isIsatap(address)
}

/** Interface id `0[2]00:5efe:<IPv4>`: a router on the way may unwrap it. */
function isIsatap(address: ipaddr.IPv6): boolean {
  return address.parts[5] === 0x5efe && (address.parts[4] === 0 || address.parts[4] === 0x0200)
}

/** The addresses and subnets that this machine sits in at the moment. Replaced in tests. */
export type ReadInterfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>

/** A wider subnet than this is no neighbourhood but a routing trick, and counts by its address only. */
const widestSubnet = { ipv4: 16, ipv6: 48 } as const

/**
 * Tells whether an address is this machine's own, or in a subnet it sits in.
 *
 * Such an address may be public and still must not be dialled for a stranger: what is sent to it does not pass the
 * firewall that keeps the world from the machine's own ports (`/metrics` is one of them) and from its neighbours.
 *
 * @param address - a plain IPv4 or IPv6 address; anything else is not ours.
 * @remarks Reads the interfaces each time: addresses come and go.
 */
export function isOwnNetwork(address: string, readInterfaces: ReadInterfaces = networkInterfaces): boolean {
  if (!ipaddr.isValid(address)) return false
  const asked = ipaddr.parse(address)
  const own = Object.values(readInterfaces()).flatMap(infos => infos ?? [])
  return own.some(({ address: ours, cidr }) => {
    const text = ours.replace(/%.*$/, '')
    if (!ipaddr.isValid(text)) return false
    const parsed = ipaddr.parse(text)
    const kind = parsed.kind()
    if (kind !== asked.kind()) return false
    const whole = kind === 'ipv4' ? 32 : 128
    const announced = Number(cidr?.split('/')[1] ?? whole)
    return asked.match(parsed, announced < widestSubnet[kind] ? whole : announced)
  })
}
