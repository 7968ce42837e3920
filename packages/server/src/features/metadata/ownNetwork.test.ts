import type { NetworkInterfaceInfo } from 'node:os'
import { expect, test } from 'vitest'
import { isOwnNetwork } from '../../platform/network/publicAddress.ts'
import { createGuardedFetch } from './guardedFetch.ts'

const info = (address: string, prefix: number): NetworkInterfaceInfo => ({
  ...{ address, netmask: '', mac: '', internal: false, cidr: `${address}/${prefix}` },
  ...(address.includes(':') ? { family: 'IPv6' as const, scopeid: 0 } : { family: 'IPv4' as const })
})

const machine = () => ({
  eth0: [info('93.184.215.14', 24), info('2606:2800:21f:cb07::5', 64), info('fe80::1', 64)],
  wide0: [info('8.8.8.8', 8), info('2600:1::1', 20)],
  odd0: [{ ...info('5.6.7.8', 32), cidr: null }],
  gone0: undefined
})

test.each([
  ['93.184.215.14', true],
  ['93.184.215.200', true],
  ['93.184.216.1', false],
  ['2606:2800:21f:cb07::5', true],
  ['2606:2800:21f:cb07:ffff::1', true],
  ['2606:2800:21f:cb08::1', false],
  ['8.8.8.8', true],
  ['8.8.4.4', false],
  ['2600:1::1', true],
  ['2600:1::2', false],
  ['5.6.7.8', true],
  ['5.6.7.9', false],
  ['not an address', false]
])('%s is of the own network: %s', (address, own) => {
  expect(isOwnNetwork(address, machine)).toBe(own)
})

test("the machine's own public address and its neighbours are not dialled for a stranger", async () => {
  const dialled: string[] = []
  const fetch = createGuardedFetch({
    allowHosts: ['93.184.215.20:443'],
    readInterfaces: machine,
    resolvePublic: async name => (name === 'own.names.art' ? ['93.184.215.14'] : [name]),
    resolveLocal: async name => [name],
    dial: async ({ address }) => {
      dialled.push(address)
      throw new Error('intercepted')
    }
  })
  for (const host of ['own.names.art', '93.184.215.14', '93.184.215.99', '[2606:2800:21f:cb07::6]']) {
    await expect(fetch(`https://${host}/`)).rejects.toMatchObject({ context: { reason: 'PRIVATE_ADDRESS' } })
  }
  await expect(fetch('https://93.184.216.1/')).rejects.toMatchObject({ context: { reason: 'CONNECT' } })
  // The operator's word counts more.
  await expect(fetch('https://93.184.215.20/')).rejects.toMatchObject({ context: { reason: 'CONNECT' } })
  expect(dialled).toEqual(['93.184.216.1', '93.184.215.20'])
})

test('this machine knows itself', () => {
  expect(isOwnNetwork('127.0.0.1')).toBe(true)
})
