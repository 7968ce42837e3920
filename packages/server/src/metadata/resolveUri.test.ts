import { expect, test } from 'vitest'
import { isCid } from './cid.ts'
import { readDataUri } from './dataUri.ts'
import { resolveUri } from './resolveUri.ts'

const gateways = {
  ipfs: ['https://one.gateway.art', 'https://two.gateway.art/ipfs/'],
  arweave: ['https://ar.gateway.art/']
}
const v0 = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
const v1 = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi'
const arweaveId = 'bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U'

function urls(uri: string, tokenId?: bigint): readonly string[] | string {
  const resolved = resolveUri(uri, gateways, tokenId === undefined ? {} : { tokenId })
  return resolved.kind === 'remote' ? resolved.urls : resolved.kind
}

function inline(uri: string): { mediaType: string; text: string } | string {
  const resolved = resolveUri(uri, gateways)
  if (resolved.kind !== 'inline') return resolved.kind
  const { mediaType, charset, bytes } = resolved.content
  return { mediaType, text: new TextDecoder(charset).decode(bytes) }
}

test.each([
  [`ipfs://${v0}`, `/ipfs/${v0}`],
  [`ipfs://${v0}/1.json`, `/ipfs/${v0}/1.json`],
  [`ipfs://ipfs/${v0}/1.json`, `/ipfs/${v0}/1.json`],
  [`IPFS://${v0}/1.json`, `/ipfs/${v0}/1.json`],
  [`ipfs:/${v0}/1.json`, `/ipfs/${v0}/1.json`],
  [`/ipfs/${v1}/1.json`, `/ipfs/${v1}/1.json`],
  [`ipfs/${v1}`, `/ipfs/${v1}`],
  [v1, `/ipfs/${v1}`],
  [` ipfs://${v1}/a b.json\n`, `/ipfs/${v1}/a%20b.json`],
  [`ipfs://${v1}/No #1.json`, `/ipfs/${v1}/No%20%231.json`]
])('%j is looked for at every gateway', (uri, path) => {
  expect(urls(uri)).toEqual([`https://one.gateway.art${path}`, `https://two.gateway.art${path}`])
})

test('an Arweave id is looked for at the Arweave gateway', () => {
  expect(urls(`ar://${arweaveId}/1.json`)).toEqual([`https://ar.gateway.art/${arweaveId}/1.json`])
})

test('an https URL stays as it is', () => {
  expect(urls('https://nft.names.art/1.json?x=1')).toEqual(['https://nft.names.art/1.json?x=1'])
})

test('an https URL of any gateway falls back to the configured ones, and is no content address', () => {
  const uri = `https://dead.gateway.art/ipfs/${v0}/1`
  expect(resolveUri(uri, gateways)).toEqual({
    kind: 'remote',
    urls: [uri, `https://one.gateway.art/ipfs/${v0}/1`, `https://two.gateway.art/ipfs/${v0}/1`],
    contentAddressed: false
  })
})

test('{id} becomes 64 lower-case hex digits for ERC-1155, and stays for others', () => {
  const hex = '000000000000000000000000000000000000000000000000000000000004cce0'
  expect(urls('https://token-cdn-domain.art/{id}.json', 314592n)).toEqual([
    `https://token-cdn-domain.art/${hex}.json`
  ])
  expect(urls('https://a.art/{id}/{id}', 2n ** 256n - 1n)).toEqual([
    `https://a.art/${'f'.repeat(64)}/${'f'.repeat(64)}`
  ])
  expect(urls('https://a.art/{id}')).toEqual(['https://a.art/{id}'])
})

test.each([
  '',
  'hello',
  'nft.names.art/1.json',
  'ftp://a.art/1',
  'javascript:alert(1)',
  'ipfs://',
  'ipfs://notacid/1',
  `ipfs://${v0.slice(0, -1)}`,
  `ipfs://${v0}@127.0.0.1/`,
  `ipfs://${v0}:80/`,
  'ipfs://127.0.0.1/x',
  'ar://tooshort',
  `ar://${arweaveId}x`,
  `ar://${arweaveId.slice(0, -1)}V`,
  'ar://@127.0.0.1',
  'data:application/json',
  'data:application/json;base64,{not base64}'
])('%j leads nowhere', uri => {
  expect(resolveUri(uri, gateways)).toEqual({ kind: 'unusable' })
})

test.each([
  ['data:application/json;base64,eyJhIjoxfQ==', 'application/json', '{"a":1}'],
  ['data:application/json;base64,eyJhIjoxfQ', 'application/json', '{"a":1}'],
  ['data:application/json;base64,eyJh\nIjox\r\nfQ==', 'application/json', '{"a":1}'],
  ['data:application/json;base64,eyJhIjoxfQ%3D%3D', 'application/json', '{"a":1}'],
  ['data:application/json;charset=utf-8;base64,eyJhIjoiw6kifQ==', 'application/json', '{"a":"é"}'],
  ['data:application/json,%7B%22a%22%3A1%7D', 'application/json', '{"a":1}'],
  ['data:application/json;utf8,{"a":"é #1 100%"}', 'application/json', '{"a":"é #1 100%"}'],
  ['data:application/json;charset=iso-8859-1,{"a":"%E9"}', 'application/json', '{"a":"é"}'],
  ['data:application/json;charset="utf-8",{}', 'application/json', '{}'],
  ['DATA:Application/JSON,{}', 'application/json', '{}'],
  ['data:,a%2', 'text/plain', 'a%2'],
  ['data:text/plain;base64,_-8', 'text/plain', '\ufffd\ufffd'],
  ['{"a":1}', 'application/json', '{"a":1}']
])('%j holds its content itself', (uri, mediaType, text) => {
  expect(inline(uri)).toEqual({ mediaType, text })
})

test('a data URI beyond four million characters is not read', () => {
  expect(readDataUri(`data:,${'a'.repeat(4 * 1024 * 1024)}`)).toBeUndefined()
})

test('content identifiers are told from look-alikes by their bytes', () => {
  const v1Base36 = 'k2jmtxseyp3p9i7k5m6yhz8nvp1h0qjdpnpnq0d2lgnb1sb2p1xnaqyc'
  const valid = [
    v0,
    v1,
    v1.toUpperCase().replace(/^B/, 'B'),
    'bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy'
  ]
  expect(valid.filter(cid => !isCid(cid))).toEqual([])
  const hex = `f01551220${'ab'.repeat(32)}`
  expect(isCid(hex)).toBe(true)
  const invalid = [
    '', 'Q', `${v0}a`, v0.replace('Q', 'R'), `Qm${'1'.repeat(44)}`, `${v0.slice(0, 45)}0`, `${v1}a`, v1.slice(0, -1),
    v1.replace('b', 'B'), `${hex}00`, hex.slice(0, -2), 'f', 'b', 'z', 'k', `b${'a'.repeat(1000)}`, v1Base36.slice(0, -4),
    'baaaaaaa', `f02551220${'ab'.repeat(32)}`
  ] // biome-ignore format: a table
  expect(invalid.filter(isCid)).toEqual([])
})
