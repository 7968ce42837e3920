import { base36 } from 'multiformats/bases/base36'
import { CID } from 'multiformats/cid'
import { expect, test } from 'vitest'
import { readDataUri } from './dataUri.ts'
import { resolveUri } from './resolveUri.ts'

const gateways = {
  ipfs: ['https://one.gateway.art', 'https://two.gateway.art/ipfs/'],
  arweave: ['https://ar.gateway.art/']
}
const v0 = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
const v1 = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi'
const peerKey = 'k51qzi5uqu5dlvj2baxnqndepeb86cbk3ng7n3i46uzyxzyqj2xjonzllnv0v8'
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

test.each([
  `https://dead.gateway.art/ipfs/${v0}/1`,
  `https://dead.gateway.art/ipfs/${v0}/1?gatewayKey=abc`,
  `http://dead.gateway.art:8080/ipfs/${v0}/1#x`
])('%j, of any gateway, falls back to the configured ones, and is no content address', uri => {
  const resolved = resolveUri(uri, gateways)
  expect(resolved).toMatchObject({
    urls: [uri, `https://one.gateway.art/ipfs/${v0}/1`, `https://two.gateway.art/ipfs/${v0}/1`],
    contentAddressed: false
  })
  expect(resolved).not.toHaveProperty('cid')
})

test.each([
  [`https://${v1}.ipfs.dead.gateway.art/1.json`, `/ipfs/${v1}/1.json`],
  [`https://${peerKey}.ipns.dead.gateway.art/`, `/ipns/${peerKey}/`],
  [`https://dead.gateway.art/ipns/docs.names.art/1`, '/ipns/docs.names.art/1']
])('%j falls back too', (uri, path) => {
  expect(urls(uri)).toEqual([uri, `https://one.gateway.art${path}`, `https://two.gateway.art${path}`])
})

test.each([
  'https://nft.names.art/ipfs/notacid/1',
  'https://nft.names.art/x/ipfs',
  `https://x.ipfs.names.art/1`,
  `https://nft.names.art/1?from=/ipfs/${v0}`,
  `https://nft.names.art/ipfs/${v0}/../../admin`
])('%j has no other place', uri => {
  expect(urls(uri)).toEqual([uri])
})

test.each([
  `ipns://${peerKey}/1`,
  `/ipns/${peerKey}/1`,
  `ipns/${peerKey}/1`,
  `ipfs://ipns/${peerKey}/1`,
  `ipns://ipns/${peerKey}/1`,
  `IPNS:${peerKey}/1`
])('%j is looked for at every gateway, and is no content address', uri => {
  expect(resolveUri(uri, gateways)).toEqual({
    kind: 'remote',
    key: `ipns/${peerKey}/1`,
    urls: [`https://one.gateway.art/ipns/${peerKey}/1`, `https://two.gateway.art/ipns/${peerKey}/1`],
    contentAddressed: false
  })
})

test.each(['12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA', v0, 'docs.names.art', '_dnslink.a-b.art'])(
  'a name in ipns:// may be %s',
  name => {
    expect(urls(`ipns://${name}`)).toEqual([
      `https://one.gateway.art/ipns/${name}`,
      `https://two.gateway.art/ipns/${name}`
    ])
  }
)

test('every spelling of one content address has one key, and a file of its own can be held against it', () => {
  const toV1 = CID.parse(v0).toV1()
  const keys = [`ipfs://${v0}`, `/ipfs/${toV1}`, `${toV1.toString(base36)}`].map(uri => {
    const resolved = resolveUri(uri, gateways)
    return resolved.kind === 'remote' && [resolved.key, resolved.cid?.codec, resolved.contentAddressed]
  })
  expect(keys).toEqual([keys[0], keys[0], keys[0]])
  expect(keys[0]).toEqual([expect.stringMatching(/^ipfs\/70-12-[0-9a-f]{64}$/), 0x70, true])
  expect(resolveUri(`ipfs://${v0}/1`, gateways)).not.toHaveProperty('cid')
  expect(resolveUri(`https://dead.gateway.art/ipfs/${v0}`, gateways)).toMatchObject({
    key: `https://dead.gateway.art/ipfs/${v0}`,
    cid: { codec: 0x70 }
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
  expect(urls('https://a.art/%7Bid%7D', 1n)).toEqual([`https://a.art/${'1'.padStart(64, '0')}`])
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
  'ipns://127.0.0.1/x',
  'ipns://localhost',
  'ipns://-bad.art',
  'ipns://',
  `ipns://docs.names.art@127.0.0.1/`,
  `ipns://docs.names.art:80/`,
  `ipns://docs.names.art/../../admin`,
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

test('a URL longer than any that is followed is unusable before ids are put in; what holds itself may be long', () => {
  const ids = '{id}'.repeat(2_100)
  for (const uri of [`https://a.names.art/${ids}`, `ipfs://${v0}/${ids}`, ids.slice(1)]) {
    expect(resolveUri(uri, gateways, { tokenId: 1n })).toEqual({ kind: 'unusable' })
  }
  for (const uri of [`data:application/json,{"a":"${ids}"}`, `{"a":"${ids}"}`]) {
    expect(resolveUri(uri, gateways, { tokenId: 1n }).kind).toBe('inline')
  }
})
