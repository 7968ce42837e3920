import { expect, it } from 'vitest'
import { parseAddress, parseAddressRange } from './addressRange.ts'

function contains(range: string, address: string): boolean | undefined {
  return parseAddressRange(range)?.(parseAddress(address)!)
}

it.each([
  ['10.0.0.0/8', '10.255.0.1', '11.0.0.1'],
  ['192.0.2.4/31', '192.0.2.5', '192.0.2.6'],
  ['0.0.0.0/0', '203.0.113.9', '2001:db8::1'],
  ['::/0', '2001:db8::1', '203.0.113.9'],
  ['192.0.2.7', '192.0.2.7', '192.0.2.8'],
  ['::ffff:192.0.2.7', '192.0.2.7', '192.0.2.8'],
  ['fd00::/8', 'fdff::1', 'fe80::1'],
  ['loopback', '127.9.9.9', '128.0.0.1'],
  ['loopback', '::1', '::2']
])('%s holds %s and not %s', (range, inside, outside) => {
  expect(contains(range, inside)).toBe(true)
  expect(contains(range, outside)).toBe(false)
})

it.each([
  '',
  'proxy.example',
  '10.0.0.1/8',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/8/8',
  '10.0.0.0/-1',
  '10.1',
  '0x0a.0.0.1',
  'fd00::/129',
  'fd00::1/64',
  '::ffff:10.0.0.0/104',
  'Loopback',
  ' 10.0.0.1'
])('"%s" is no range', text => {
  expect(parseAddressRange(text)).toBeUndefined()
})
