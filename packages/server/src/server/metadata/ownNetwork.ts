import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os'
import ipaddr from 'ipaddr.js'

/** The addresses and subnets that this machine sits in at the moment. Replaced in tests. */
export type ReadInterfaces = () => NodeJS.Dict<NetworkInterfaceInfo[]>

/** A wider subnet than this is no neighbourhood but a routing trick, and counts by its address only. */
const widestSubnet = { ipv4: 16, ipv6: 48 } as const

/**
 * Whether an address is this machine's own, or in a subnet it sits in.
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
