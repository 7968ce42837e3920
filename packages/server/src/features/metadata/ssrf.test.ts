import { Resolver } from 'node:dns/promises'
import { Socket } from 'node:net'
import { expect, test, vi } from 'vitest'
import type { Dial } from '../../platform/network/dialAddress.ts'
import { isPublicAddress } from '../../platform/network/publicAddress.ts'
import { createGuardedFetch } from './guardedFetch.ts'
import { resolveUri } from './resolveUri.ts'

const publicV4 = '93.184.215.14'
const publicV6 = '2606:2800:21f:cb07:6820:80da:af6b:8b2c'

/** What the intercepted name servers say; every other name is public. */
const names: Readonly<Record<string, readonly string[]>> = {
  'loopback.names.art': ['127.0.0.1'],
  'private.names.art': ['10.1.2.3'],
  'mixed.names.art': [publicV4, '192.168.0.10'],
  'mixed6.names.art': [publicV4, 'fd00::1'],
  'last-of-many.names.art': [publicV4, publicV4, publicV4, publicV4, publicV4, '10.0.0.1'],
  'mapped.names.art': ['::ffff:10.0.0.1'],
  'mapped-hex.names.art': ['::ffff:7f00:1'],
  'compatible.names.art': ['::7f00:1'],
  'nat64.names.art': ['64:ff9b::a00:1'],
  'nat64-local.names.art': ['64:ff9b:1::a00:1'],
  'sixtofour.names.art': ['2002:7f00:1::'],
  'teredo.names.art': ['2001:0:4136:e378:8000:63bf:3fff:fdd2'],
  'linklocal.names.art': ['fe80::1'],
  'scoped.names.art': ['fe80::1%eth0'],
  'metadata.names.art': ['169.254.169.254'],
  'odd.names.art': ['0x7f.1'],
  'short.names.art': ['127.1'],
  'nonsense.names.art': ['not an address'],
  'empty.names.art': [''],
  'localhost.names.art.': ['127.0.0.1']
}

const forbiddenV4 = [
  '0.0.0.0', '0.1.2.3', '10.0.0.1', '10.255.255.255', '100.64.0.1', '100.100.100.200', '100.127.255.255',
  '127.0.0.1', '127.255.255.254', '168.63.129.16', '169.254.0.1', '169.254.169.254', '169.254.170.2', '172.16.0.1',
  '172.31.255.255', '192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.255.255',
  '198.18.0.1', '198.19.255.255', '198.51.100.1', '203.0.113.1', '224.0.0.1', '239.255.255.255', '240.0.0.1',
  '255.255.255.255'
] // biome-ignore format: a table

const forbiddenV6 = [
  '::', '::1', '::127.0.0.1', '::7f00:1', '::a00:1', '::ffff:127.0.0.1', '::ffff:7f00:1', '::ffff:a9fe:a9fe',
  '::ffff:8.8.8.8', '::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1', '100::1',
  '2001::1', '2001:0:4136:e378:8000:63bf:3fff:fdd2', '2001:2::1', '2001:10::1', '2001:20::1', '2001:db8::1',
  '2002:7f00:1::', '2002:a00:1::1', '2002:808:808::1', '3fff::1', '4000::1', '5f00::1', 'fc00::1', 'fd00::1',
  'fd00:ec2::254', 'fd20:ce::254', 'fe80::1', 'fec0::1', 'ff02::1', 'ff0e::1', '2600:1f18::200:5efe:7f00:1',
  '2600:1f18::5efe:a00:1'
] // biome-ignore format: a table

const spellings = [
  'http://2130706433/', 'http://0x7f000001/', 'http://017700000001/', 'http://0177.0.0.1/', 'http://0x7f.1/',
  'http://127.1/', 'http://127.0.1/', 'http://0/', 'http://0x0/', 'http://00000000/', 'http://127.0.0.1./',
  'http://0xa9fea9fe/latest/meta-data/', 'http://2852039166/latest/meta-data/', 'http://0251.0376.0251.0376/',
  'http://169.254.43518/', 'http://１２７.０.０.１/', 'http://①②⑦.⓪.⓪.①/', 'http://127。0。0。1/', 'http://%31%32%37.0.0.1/',
  'http://127.0.0.1%2f@public.names.art/', 'http://[0:0:0:0:0:0:0:1]/',
  'http://[::FFFF:7F00:0001]/', 'http://[::ffff:0x7f.1]/', 'http://[fe80::1%25eth0]/', 'http://127.0.0.256/',
  'http://1.2.3.4.5/', 'http://0x7f.0x0.0x0.0x1:80/', 'http://3232235521/'
] // biome-ignore format: a table

const namesOfNoPublicHost = [
  'http://localhost/', 'http://LOCALHOST/', 'http://localhost./', 'http://a.localhost/', 'http://ⓛocalhost/',
  'http://metadata/', 'http://metadata.google.internal/computeMetadata/v1/', 'http://metadata.google.internal./',
  'http://kubernetes.default.svc.cluster.local/', 'http://router.lan/', 'http://nas.home/', 'http://x.home.arpa/',
  'http://intranet/', 'http://app.corp/', 'http://x.onion/', 'http://x.invalid/', 'http://x.test/',
  'http://1.0.0.127.in-addr.arpa/', 'http://-a.names.art/', 'http://a..names.art/', 'http://*.names.art/',
  `http://${'a'.repeat(64)}.names.art/`, `http://${'a.'.repeat(130)}art/`
] // biome-ignore format: a table

const schemes = [
  'ftp://public.names.art/', 'file:///etc/passwd', 'gopher://127.0.0.1:6379/_INFO', 'dict://127.0.0.1:11211/',
  'ldap://127.0.0.1/', 'ws://public.names.art/', 'unix:/var/run/docker.sock', 'javascript:alert(1)', 'data:text/plain,x',
  'ipfs://127.0.0.1/', 'jar:http://127.0.0.1!/', 'http+unix://%2Fvar%2Frun%2Fdocker.sock/info', 'blob:http://127.0.0.1/x',
  '//127.0.0.1/', '127.0.0.1', '', 'http://', 'http:///', 'https://?', 'about:blank'
] // biome-ignore format: a table

const ports = [
  'http://public.names.art:22/', 'http://public.names.art:25/', 'http://public.names.art:6379/',
  'https://public.names.art:5432/', 'http://public.names.art:0/', 'http://public.names.art:65535/',
  'http://public.names.art:65536/', 'http://public.names.art:-1/', 'http://public.names.art:8545/',
  'http://public.names.art:9200/', 'http://public.names.art:11211/'
] // biome-ignore format: a table

const confusions = [
  'http://user@public.names.art/', 'http://user:password@public.names.art/', 'http://:@127.0.0.1/',
  'http://public.names.art@127.0.0.1/', 'http://public.names.art:80@127.0.0.1/', 'http://127.0.0.1\\@public.names.art/',
  'http://public.names.art\\@127.0.0.1/', 'http://127.0.0.1#@public.names.art/', 'http://127.0.0.1?@public.names.art/',
  'http://127.0.0.1;public.names.art/', 'http://127.0.0.1 public.names.art/', 'http://public.names.art\t@127.0.0.1/',
  'http://127.0.0.1\n.names.art/', 'http://public.names.art/\r\nHost: 127.0.0.1', 'http://public.names.art/ \u0000',
  'http:\\\\127.0.0.1\\', 'http:127.0.0.1', 'http:/127.0.0.1/', 'http:////127.0.0.1/', 'hTTp://127.0.0.1/',
  'http://public.names.art%00.127.0.0.1/', 'http://[::1', 'http://::1/', 'http://[127.0.0.1]/', 'http://1.1.1.1&@127.0.0.1/',
  'http://public.names.art%20@127.0.0.1/', `http://public.names.art/${'a'.repeat(9000)}`
] // biome-ignore format: a table

const forbidden = [
  ...forbiddenV4.map(address => `http://${address}/`),
  ...forbiddenV4.map(address => `https://${address}:8443/x.json`),
  ...forbiddenV6.map(address => `http://[${address}]/`),
  ...Object.keys(names).map(name => `https://${name}/1.json`),
  ...spellings,
  ...namesOfNoPublicHost,
  ...schemes,
  ...ports,
  ...confusions
]

/** A fetcher whose look-ups and sockets are intercepted; nothing leaves the process. */
function interceptedFetch(allowHosts: readonly string[] = []) {
  const dialled: Parameters<Dial>[0][] = []
  const lookedUp: string[] = []
  const resolve = async (hostname: string) => {
    lookedUp.push(hostname)
    return names[hostname] ?? (/^[\d.]+$|:/.test(hostname) ? [hostname] : [publicV4, publicV6])
  }
  const fetch = createGuardedFetch({
    allowHosts,
    resolvePublic: resolve,
    resolveLocal: async hostname => (hostname === 'localhost' ? ['127.0.0.1'] : [hostname]),
    dial: async (target): Promise<Socket> => {
      dialled.push(target)
      throw new Error('intercepted')
    }
  })
  return { fetch, dialled, lookedUp }
}

test('the table holds at least 200 addresses, each once', () => {
  expect(new Set(forbidden).size).toBe(forbidden.length)
  expect(forbidden.length).toBeGreaterThanOrEqual(200)
})

test.each(forbidden)('%j is refused before anything is dialled', async uri => {
  const { fetch, dialled } = interceptedFetch()
  const refusal = await fetch(uri).catch((error: unknown) => error)
  expect(dialled).toEqual([])
  expect(refusal).toMatchObject({ name: 'MetadataError' })
  expect((refusal as { context: { reason: string } }).context.reason).not.toBe('PROTOCOL')
})

test.each([
  ['http://public.names.art/1.json', publicV4, 80, 'public.names.art', false],
  ['https://public.names.art/1.json', publicV4, 443, 'public.names.art', true],
  ['https://PUBLIC.names.art:8443/', publicV4, 8443, 'public.names.art', true],
  ['http://public.names.art./', publicV4, 80, 'public.names.art.', false],
  ['https://bücher.names.art/', publicV4, 443, 'xn--bcher-kva.names.art', true],
  ['http://8.8.8.8:8080/', '8.8.8.8', 8080, '8.8.8.8', false],
  ['http://0x08080808/', '8.8.8.8', 80, '8.8.8.8', false],
  ['http://172.15.255.255/', '172.15.255.255', 80, '172.15.255.255', false],
  ['http://172.32.0.1/', '172.32.0.1', 80, '172.32.0.1', false],
  [`http://[${publicV6}]/`, publicV6, 80, publicV6, false]
])('%j is dialled at exactly the looked-up address', async (uri, address, port, hostname, secure) => {
  const { fetch, dialled } = interceptedFetch()
  await expect(fetch(uri)).rejects.toMatchObject({ context: { reason: 'CONNECT' } })
  expect(dialled[0]).toEqual({ address, port, hostname, secure })
})

test('as the server wires it, all of them together open no socket, and an honest one opens its own', async () => {
  const connect = vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket) {
    process.nextTick(() => this.destroy(new Error('intercepted')))
    return this
  })
  const lookUp = (isWanted: (address: string) => boolean) =>
    (async (name: string) => (names[name] ?? [publicV4, publicV6]).filter(isWanted)) as Resolver['resolve4']
  const resolve4 = vi.spyOn(Resolver.prototype, 'resolve4')
  const resolve6 = vi.spyOn(Resolver.prototype, 'resolve6')
  resolve4.mockImplementation(lookUp(address => !address.includes(':')))
  resolve6.mockImplementation(lookUp(address => address.includes(':')) as Resolver['resolve6'])
  try {
    const fetch = createGuardedFetch()
    const outcomes = await Promise.allSettled(forbidden.map(uri => fetch(uri)))
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([])
    expect(connect.mock.calls).toEqual([])
    await expect(fetch('https://public.names.art/')).rejects.toMatchObject({ context: { reason: 'CONNECT' } })
    const dialled = connect.mock.calls.map(call => {
      const [{ host, port }] = call as unknown as [{ host: string; port: number }]
      return [host, port]
    })
    expect(dialled).toEqual([
      [publicV4, 443],
      [publicV6, 443]
    ])
  } finally {
    connect.mockRestore()
    resolve4.mockRestore()
    resolve6.mockRestore()
  }
})

test('a name is looked up once, however many of its addresses are tried', async () => {
  const { fetch, dialled, lookedUp } = interceptedFetch()
  await expect(fetch('https://public.names.art/')).rejects.toMatchObject({ context: { reason: 'CONNECT' } })
  expect(lookedUp).toEqual(['public.names.art'])
  expect(dialled.map(target => target.address)).toEqual([publicV4, publicV6])
})

test('allowHosts opens exactly the named host and port', async () => {
  const { fetch, dialled } = interceptedFetch(['localhost:8545', '10.0.0.5:9000', '[::1]:8080'])
  const opened = [
    'http://localhost:8545/a',
    'http://10.0.0.5:9000/',
    'http://[::1]:8080/',
    'http://0xa.5:9000/'
  ]
  for (const uri of opened) await expect(fetch(uri)).rejects.toMatchObject({ context: { reason: 'CONNECT' } })
  expect(dialled.map(({ address, port }) => `${address} ${port}`)).toEqual([
    '127.0.0.1 8545',
    '10.0.0.5 9000',
    '::1 8080',
    '10.0.0.5 9000'
  ])
  const closed = [
    'http://localhost:8546/', 'http://localhost/', 'http://127.0.0.1:8545/', 'http://a.localhost:8545/',
    'http://10.0.0.5:9001/', 'http://10.0.0.6:9000/', 'http://[::1]/', 'http://user@localhost:8545/',
    'ftp://localhost:8545/'
  ] // biome-ignore format: a table
  for (const uri of closed) {
    await expect(fetch(uri), uri).rejects.not.toMatchObject({ context: { reason: 'CONNECT' } })
  }
  expect(dialled).toHaveLength(opened.length)
})

test.each(['localhost', '*:80', 'http://localhost:80', 'a@b:80', 'localhost:80/x', 'localhost:99999', ''])(
  'allowHosts entry %j is refused',
  entry => {
    expect(() => createGuardedFetch({ allowHosts: [entry] })).toThrow('allowHosts')
  }
)

test('a path cannot leave its CID or Arweave id on a gateway', () => {
  const gateways = { ipfs: ['http://10.0.0.5:8080'], arweave: ['http://10.0.0.5:8080'] }
  const cid = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
  const id = 'bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U'
  const escapes = [
    '/../../api/v0/id', '/a/../../../api', '/%2e%2e/%2e%2e/api', '/.%2e/api', '/..%2fapi', '/%252e%252e/api',
    '/a/..', '/..?x', '/a\\..\\..\\api', '/%2e./api', '/..%5capi', '/%25252e%25252e/api'
  ] // biome-ignore format: a table
  for (const path of escapes) {
    expect(resolveUri(`ipfs://${cid}${path}`, gateways), path).toEqual({ kind: 'unusable' })
    expect(resolveUri(`ar://${id}${path}`, gateways), path).toEqual({ kind: 'unusable' })
  }
})

test('only public unicast addresses in plain notation are public', () => {
  expect([...forbiddenV4, ...forbiddenV6].filter(isPublicAddress)).toEqual([])
  expect(
    ['127.1', '0x8.8.8.8', '8.8.8', '134744072', '010.8.8.8', '8.8.8.8 ', '', 'a'].filter(isPublicAddress)
  ).toEqual([])
  expect(['8.8.8.8', '1.1.1.1', publicV4, publicV6].every(isPublicAddress)).toBe(true)
})
