import { beforeEach, describe, expect, test } from 'vitest'
import { createGuardedFetch } from '../../src/features/metadata/guardedFetch.ts'
import { readJsonObject } from '../../src/features/metadata/readJsonObject.ts'
import { imageOf } from '../../src/features/metadata/resolveImage.ts'
import { resolveUri } from '../../src/features/metadata/resolveUri.ts'
import type { Dial } from '../../src/platform/network/dialAddress.ts'

// Token URIs and images as a hostile contract gives them, on their way to a socket. Look-ups and sockets are intercepted.

const publicV4 = '93.184.215.14'
const names: Readonly<Record<string, readonly string[]>> = {
  'private.names.art': ['10.1.2.3'],
  'mixed.names.art': [publicV4, '192.168.0.10'],
  'localtest.me': ['127.0.0.1'],
  '127.0.0.1.nip.io': ['127.0.0.1'],
  'a.localtest.me': ['::1']
}
const gateways = { ipfs: ['https://ipfs.gateway.art'], arweave: ['https://ar.gateway.art'] }
const gatewayHosts = new Set(['ipfs.gateway.art', 'ar.gateway.art'])
const cid = 'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG'
const arId = 'bNbA3TEQVL60xlgCcqdz4ZPHFZ711cZ3hmkpGttDt_U'

const dialled: Parameters<Dial>[0][] = []
const guardedFetch = createGuardedFetch({
  resolvePublic: async name => names[name] ?? (/^[\d.]+$|:/.test(name) ? [name] : [publicV4]),
  readInterfaces: () => ({}),
  dial: async target => {
    dialled.push(target)
    throw new Error('intercepted')
  }
})

/** Everything that a reader of this URI may ask for, asked for. */
async function fetchAll(uri: string): Promise<string[]> {
  const resolved = resolveUri(uri, gateways, { tokenId: 0x7f000001n })
  const urls = resolved.kind === 'remote' ? [...resolved.urls] : []
  await Promise.allSettled(urls.map(url => guardedFetch(url)))
  return urls
}

beforeEach(() => {
  dialled.length = 0
})

/** None of these may lead to any socket. */
const leadNowhere = [
  'http://127.0.0.1/', 'http://1.1.1.1&@127.0.0.1/', 'http://1.1.1.1&@127.0.0.1#@8.8.8.8/', 'http://127.0.0.1:80\\@1.1.1.1/',
  'http://127。0。0。1/', 'http://127．0．0．1/', 'http://127｡0｡0｡1/', 'http://①②⑦.⓪.⓪.①/', 'http://⑯⑨。②⑤④。⑯⑨。②⑤④/',
  'http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/', 'http://loc\u00adalhost/', 'http://local\u200dhost/', 'http://localhost。/', 'http://LOCALHOST。LOCALDOMAIN/',
  'http://localtest.me/', 'http://127.0.0.1.nip.io/', 'http://a.localtest.me/', 'https://private.names.art/1.json', 'https://mixed.names.art/',
  'http://[::ffff:169.254.169.254]/latest/', 'http://[64:ff9b:1::7f00:1]/', 'http://[2002:7f00:1::]/', 'http://[fd00:ec2::254]/', 'http://[fd20:ce::254]/',
  'http://169.254.169.254/latest/meta-data/', 'http://168.63.129.16/machine', 'http://100.100.100.200/latest/', 'http://192.0.0.192/latest/',
  'http://169.254.170.2/v2/credentials', 'http://metadata.google.internal/computeMetadata/v1/', 'http://instance-data.ec2.internal/',
  '  http://127.0.0.1/  ', '\thttp://127.0.0.1/', 'HTTP://127.0.0.1/', 'http:127.0.0.1', 'http:/127.0.0.1', 'http:\\\\127.0.0.1',
  'http://{id}/', 'http://{id}@127.0.0.1/', 'https://user:pass@public.names.art/', 'http://public.names.art:22/',
  '//127.0.0.1/x', '/etc/passwd', '../../etc/passwd', 'file:///etc/passwd', 'gopher://127.0.0.1:6379/_X', 'ftp://127.0.0.1/', 'ws://127.0.0.1/',
  'javascript:fetch("http://127.0.0.1")', 'blob:http://127.0.0.1/x', 'view-source:http://127.0.0.1', 'about:blank', 'unix:/var/run/docker.sock',
  'ipfs://127.0.0.1/', 'ipfs://127.0.0.1:5001/api/v0/id', `ipfs://${cid}@127.0.0.1/`, `ipfs://${cid}/../../api/v0/id`, `ipfs://${cid}/%2e%2e/%2e%2e/api`,
  `ipfs://${cid}\\..\\..\\api`, `ipfs://${cid}/..%2f..%2fapi`, `ipfs://../${cid}`, `ipfs://ipfs/../${cid}`, `ipfs://${cid.slice(0, -1)}`, `ipfs://${cid}0`,
  'ipfs://', 'ipfs:', 'ipfs:///', 'ipns://127.0.0.1/', 'ipns://localhost/', 'ipns://../api', `ipfs://${'Q'.repeat(5_000)}`,
  'ar://127.0.0.1/', 'ar://', `ar://${arId.slice(1)}`, `ar://${arId}/../../wallet`, `ar://${arId}@127.0.0.1/`, `ar://x/${arId}`,
  'data:application/json,', 'data:text/html;base64,PGgxPg==', '', ' ', '\u0000', '{', '[]', 'null', 'http://0x7f.1/', 'http://2130706433/', 'http://0177.1/', 'http://127.1/', 'http://[::1]/', `http://${'a'.repeat(100_000)}`
] // biome-ignore format: a table

/** These reach the gateway, and nothing but the content they name. */
const stayWithin = [
  [`ipfs://${cid}/1.json`, `/ipfs/${cid}/1.json`], [`ipfs://ipfs/${cid}`, `/ipfs/${cid}`], [`/ipfs/${cid}/a`, `/ipfs/${cid}/a`],
  [`ipfs://${cid}//127.0.0.1/`, `/ipfs/${cid}//127.0.0.1/`], [`ipfs://${cid}/@127.0.0.1`, `/ipfs/${cid}/@127.0.0.1`],
  [`ipfs://${cid}/http://127.0.0.1/`, `/ipfs/${cid}/http://127.0.0.1/`], [`ipfs://${cid}/#x`, `/ipfs/${cid}/%23x`],
  [`http://127.0.0.1:8080/ipfs/${cid}/1`, `/ipfs/${cid}/1`], [`http://localhost/ipfs/${cid}`, `/ipfs/${cid}`],
  [`ar://${arId}/1.json`, `/${arId}/1.json`]
] as const // biome-ignore format: a table

describe('a token URI', () => {
  test('of all these there are a hundred', () => {
    expect(new Set([...leadNowhere, ...stayWithin.map(([uri]) => uri)]).size).toBeGreaterThanOrEqual(100)
  })

  test.each(leadNowhere.map(uri => [uri.slice(0, 80), uri]))('%j leads to no socket', async (_shown, uri) => {
    await fetchAll(uri)
    expect(dialled).toEqual([])
  })

  test.each(stayWithin)('%j reaches the gateway only, at %j', async (uri, path) => {
    const urls = await fetchAll(uri)
    expect(dialled.length).toBeGreaterThan(0)
    for (const target of dialled) expect(target).toMatchObject({ address: publicV4, port: 443, secure: true })
    const reached = new Set(dialled.map(({ hostname }) => hostname))
    expect([...reached].every(host => gatewayHosts.has(host))).toBe(true)
    const atGateway = urls.map(url => new URL(url)).filter(({ hostname }) => reached.has(hostname))
    expect(atGateway.map(({ pathname }) => pathname)).toEqual([path])
  })
})

describe('an image in hostile metadata', () => {
  const shown = (image: unknown) => imageOf({ image }, { gateways, allowHosts: new Set() })

  /** Wallets look names up by themselves; what a name leads to cannot be known here. */
  const named = /localtest|nip\.io|private\.names|mixed\.names/

  test.each(leadNowhere.filter(uri => !named.test(uri)).map(uri => [uri.slice(0, 80), uri]))(
    '%j is not handed on to a wallet',
    (_shown, uri) => {
      expect(shown(uri)).toBe('')
    }
  )

  test.each([1, null, {}, ['http://127.0.0.1/'], { url: 'http://127.0.0.1/' }, true])(
    'that is %j is none',
    value => {
      expect(shown(value)).toBe('')
    }
  )

  test('leads wallets to the gateway where it is content-addressed', () => {
    expect(shown(`ipfs://${cid}/1.png`)).toBe(`https://ipfs.gateway.art/ipfs/${cid}/1.png`)
    expect(shown(`ar://${arId}`)).toBe(`https://ar.gateway.art/${arId}`)
  })

  test('is read from the object itself and not from its prototype', () => {
    const data = readJsonObject(
      Buffer.from('{"__proto__":{"image":"https://public.names.art/1.png"},"constructor":{"image":"x"}}')
    )
    expect(imageOf(data, { gateways, allowHosts: new Set() })).toBe('')
    expect(Object.keys(data)).toEqual(['__proto__', 'constructor'])
    expect(({} as { image?: string }).image).toBeUndefined()
  })
})
