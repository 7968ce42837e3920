import { describe, expect, it, vi } from 'vitest'
import { arrival, runGuard } from '../../../test/http/runGuard.ts'
import { silentLogger } from '../../platform/logger.ts'
import { findClientAddress } from './clientAddress.ts'

const proxies = ['10.0.0.0/8', 'loopback', '2001:db8:ffff::1']

async function addressOf(
  peerAddress: string | undefined,
  forwarded?: string,
  trusted: readonly string[] = proxies,
  guard = findClientAddress(trusted, silentLogger)
): Promise<string | undefined> {
  const { found } = await runGuard(guard, arrival({ 'x-forwarded-for': forwarded }, { peerAddress }))
  return found?.address
}

describe('the address of a caller', () => {
  it.each([
    ['is the peer where nobody forwards', '198.51.100.7', undefined, '198.51.100.7'],
    ['is not known where the host does not tell it', undefined, '198.51.100.7', undefined],
    ['is not known where the host tells something else', 'unknown', '198.51.100.7', undefined],
    ['ignores the header of a peer that is no proxy', '198.51.100.7', '203.0.113.9', '198.51.100.7'],
    ['is what a trusted proxy adds', '10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['is not what the caller wrote before it', '10.1.2.3', '192.0.2.1, 203.0.113.9', '203.0.113.9'],
    ['is not a trusted address that the caller forged', '10.1.2.3', '10.9.9.9, 203.0.113.9', '203.0.113.9'],
    ['is found behind several proxies', '127.0.0.1', '192.0.2.1, 203.0.113.9, 10.1.2.3', '203.0.113.9'],
    ['is the farthest proxy where there are only proxies', '127.0.0.1', '10.2.2.2,10.1.1.1', '10.2.2.2'],
    ['is the proxy where it says nothing', '10.1.2.3', '', '10.1.2.3'],
    ['is the proxy where it says no address', '10.1.2.3', '203.0.113.9, unknown', '10.1.2.3'],
    ['is the last one vouched for before an empty entry', '127.0.0.1', '203.0.113.9,,10.1.1.1', '10.1.1.1'],
    ['may come with a port', '10.1.2.3', '203.0.113.9:4711', '203.0.113.9'],
    ['may come in brackets', '10.1.2.3', '[2001:db8:1:2:3::4]', '2001:0db8:0001:0002::/64'],
    ['may come in brackets with a port', '10.1.2.3', '[2001:db8::1]:4711', '2001:0db8:0000:0000::/64'],
    ['has no old spelling of IPv4', '10.1.2.3', '0x7f.1', '10.1.2.3'],
    ['counts IPv4 mapped into IPv6 as IPv4', '::ffff:198.51.100.7', undefined, '198.51.100.7'],
    ['knows a proxy by its mapped address too', '::ffff:10.1.2.3', '203.0.113.9', '203.0.113.9'],
    ['counts IPv4 translated into IPv6 as IPv4', '64:ff9b::198.51.100.7', undefined, '198.51.100.7'],
    ['counts no other embedded IPv4 as such', '64:ff9a::198.51.100.7', undefined, '0064:ff9a:0000:0000::/64'],
    ['counts an IPv6 address as its network', '2001:db8:1:2:aaaa::1', undefined, '2001:0db8:0001:0002::/64'],
    ['leaves out the zone', 'fe80::1%eth0', undefined, 'fe80:0000:0000:0000::/64'],
    ['knows an IPv6 proxy', '2001:db8:ffff::1', '203.0.113.9', '203.0.113.9'],
    ['trusts no neighbour of an IPv6 proxy', '2001:db8:ffff::2', '203.0.113.9', '2001:0db8:ffff:0000::/64']
  ])('%s', async (_, peer, forwarded, expected) => {
    expect(await addressOf(peer, forwarded)).toBe(expected)
  })

  it('is the same for two addresses of one IPv6 network', async () => {
    const first = await addressOf('2001:db8:1:2::1')
    expect(await addressOf('2001:db8:1:2:ffff:ffff:ffff:ffff')).toBe(first)
    expect(await addressOf('2001:db8:1:3::1')).not.toBe(first)
  })

  it('is never the one in the header while no proxy is trusted', async () => {
    expect(await addressOf('127.0.0.1', '203.0.113.9', [])).toBe('127.0.0.1')
  })

  it('tells once of a neighbour that forwards and is not trusted', async () => {
    const warn = vi.fn()
    const guard = findClientAddress(['10.0.0.0/8'], { warn })
    const ask = (peerAddress: string, forwarded?: string) => addressOf(peerAddress, forwarded, [], guard)
    await ask('192.168.1.1')
    await ask('203.0.113.9', '192.0.2.1')
    await ask('10.1.2.3', '192.0.2.1')
    expect(warn).not.toHaveBeenCalled()
    expect(await ask('192.168.1.1', '192.0.2.1')).toBe('192.168.1.1')
    await ask('::1', '192.0.2.1')
    expect(warn).toHaveBeenCalledOnce()
  })

  it('is found from the right in a header of a thousand entries', async () => {
    const forged = Array.from({ length: 1_000 }, (_, index) => `192.0.2.${index % 256}`)
    expect(await addressOf('10.1.2.3', [...forged, '203.0.113.9'].join(', '))).toBe('203.0.113.9')
    const proxyChain = Array.from({ length: 1_000 }, (_, index) => `10.0.${index >> 8}.${index & 255}`)
    expect(await addressOf('10.1.2.3', proxyChain.join(','))).toBe('10.0.0.0')
  })
})
