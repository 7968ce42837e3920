import type { ServerResponse } from 'node:http'
import { coreProgram, encodeCoreAsset } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import type { SolanaNft } from '@chain-data/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DasServer, dasAsset, startDasServer } from './dasServer.ts'
import { type DocumentHost, startDocumentHost } from './startDocumentHost.ts'
import { addressOf, putNft, type ScriptedCluster, startScriptedCluster } from './startScriptedCluster.ts'
import { type SolanaService, startSolanaService } from './startSolanaService.ts'

const owner = addressOf('owner')
const neverAnswers = () => {}

let cluster: ScriptedCluster
let das: DasServer
let host: DocumentHost
/** A second one, that the configuration does not allow. */
let forbidden: DocumentHost
let service: SolanaService

beforeAll(async () => {
  ;[cluster, das, host, forbidden] = await Promise.all([
    startScriptedCluster(),
    startDasServer(),
    startDocumentHost(),
    startDocumentHost()
  ])
})

beforeEach(async () => {
  cluster.accounts.clear()
  das.entries = []
  host.documents.clear()
  // A service of its own for each test: what was fetched is remembered.
  await service?.close()
  service = await startService(3_000)
  host.requests.length = 0
})

afterAll(async () => {
  await service?.close()
  await Promise.all([cluster?.close(), das?.close(), host?.close(), forbidden?.close()])
})

const startService = (
  metadataWaitMs: number,
  alsoAllowed: readonly DocumentHost[] = [],
  limits: object = {}
) =>
  startSolanaService(
    { rpcUrls: [cluster.url], mplCore: true, dasUrl: das.url },
    {
      metadata: { allowHosts: [host, ...alsoAllowed].map(({ hostPort }) => hostPort) },
      limits: { metadataWaitMs, ...limits }
    }
  )

type Answer = string | ((response: ServerResponse) => void)

/** Puts an NFT there whose URI has this document behind it. */
function put(name: string, document: Answer, of: DocumentHost = host) {
  of.documents.set(`/${name}`, document)
  putNft(cluster.accounts, { owner, name, uri: `${of.url}/${name}` })
}

/** What became of the URIs, by the item's name. */
const fetchedOf = (nfts: readonly SolanaNft[]) =>
  Object.fromEntries(nfts.map(({ name, metadata, image }) => [name, [metadata.data.uriData, image]]))

describe('with parseMetadataUri', () => {
  const on: [string, unknown[]][] = [
    ['[address, { parseMetadataUri }]', [owner, { parseMetadataUri: true }]],
    ['[{ accountAddress, parseMetadataUri }]', [{ accountAddress: owner, parseMetadataUri: true }]],
    ['[{ accountAddress }, { parseMetadataUri }]', [{ accountAddress: owner }, { parseMetadataUri: true }]],
    [
      '[{ accountAddress }, { options: { parseMetadataUri } }]',
      [{ accountAddress: owner }, { options: { parseMetadataUri: true } }]
    ]
  ]
  it.each(on)('in the form %s the document is in uriData, and its image beside it', async (_form, params) => {
    const document = { name: 'A', image: 'https://images.example.com/a.png', nothing: null }
    put('a', JSON.stringify(document))
    const { nfts } = await service.holdings(...params)
    expect(fetchedOf(nfts)).toEqual({ a: [document, 'https://images.example.com/a.png'] })
  })

  const off: [string, unknown[]][] = [
    ['[address]', [owner]],
    ['[{ accountAddress }]', [{ accountAddress: owner }]],
    ['[address, {}]', [owner, {}]],
    ...on.map(([form, params]): [string, unknown[]] => [
      `${form} with false`,
      JSON.parse(JSON.stringify(params).replaceAll('true', 'false'))
    ])
  ]
  it.each(off)('off, as in %s, nobody is even connected to', async (_form, params) => {
    put('a', '{}')
    const before = host.connections()
    const { nfts } = await service.holdings(...params)
    expect(nfts.map(nft => [nft.name, 'uriData' in nft.metadata.data, nft.image])).toEqual([['a', false, '']])
    expect(host.connections()).toBe(before)
  })

  it('assets without token accounts have their documents too', async () => {
    const image = 'https://images.example.com/i.png'
    for (const name of ['core', 'leaf']) host.documents.set(`/${name}`, JSON.stringify({ is: name, image }))
    const data = encodeCoreAsset({
      ...{ owner, name: 'core', uri: `${host.url}/core`, updateAuthority: { kind: 'none' } }
    })
    cluster.accounts.set(addressOf('core'), { owner: coreProgram.toBase58(), data })
    das.entries = [
      dasAsset(owner, 'leaf', { content: { json_uri: `${host.url}/leaf`, metadata: { name: 'leaf' } } })
    ]
    const { nfts } = await service.holdings(owner, { parseMetadataUri: true })
    expect(fetchedOf(nfts)).toEqual({
      core: [{ is: 'core', image }, image],
      leaf: [{ is: 'leaf', image }, image]
    })
  })

  it('one URI of many items is fetched once, and not again by the next call', async () => {
    host.documents.set('/shared', '{"is":"shared"}')
    const names = Array.from({ length: 20 }, (_, n) => `item ${n}`)
    for (const name of names) putNft(cluster.accounts, { owner, name, uri: `${host.url}/shared` })
    const expected = Object.fromEntries(names.map(name => [name, [{ is: 'shared' }, '']]))
    for (let call = 0; call < 2; call++) {
      const { nfts } = await service.holdings(owner, { parseMetadataUri: true })
      expect(fetchedOf(nfts)).toEqual(expected)
      expect(host.requests).toEqual(['/shared'])
    }
  })

  it('a document is passed on as it is, with every digit and every key', async () => {
    const document =
      '{"name":"\\u0000\\u202ea","big":12345678901234567890123,"nothing":null,"__proto__":{"polluted":true},' +
      '"constructor":"c","deep":[[[{"a":[]}]]],"empty":""}'
    put('odd', document)
    const text = await service.text(owner, { parseMetadataUri: true })
    expect(text).toContain('"big":12345678901234567890123')
    expect(text).toContain('"__proto__":{"polluted":true}')
    const [, shown = ''] = /"uriData":(\{.*?"empty":""\})/.exec(text) ?? []
    expect(JSON.stringify(JSON.parse(shown))).toBe(JSON.stringify(JSON.parse(document)))
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  const bad: [string, Answer][] = [
    ['a list', '[{"name":"a"}]'],
    ['a text', '"name"'],
    ['null', 'null'],
    ['a page', '<html></html>'],
    ['half a document', '{"name":'],
    ['nothing', ''],
    ['10,000 levels', `{"a":${'['.repeat(10_000)}${']'.repeat(10_000)}}`],
    ['3 MB', `{"a":"${'x'.repeat(3_000_000)}"}`],
    ['an error', response => response.writeHead(500).end('{}')],
    ['a cut connection', response => response.destroy()],
    [
      'a redirect to a host that is not allowed',
      response => response.writeHead(302, { location: `${forbidden.url}/secret` }).end()
    ]
  ]
  it.each(bad)('a URI that leads to %s leaves uriData out, of this item alone', async (_what, document) => {
    put('good', '{"is":"good"}')
    put('bad', document)
    const { nfts, incomplete } = await service.holdings(owner, { parseMetadataUri: true })
    const { good, bad: found } = fetchedOf(nfts)
    expect([good, found]).toEqual([
      [{ is: 'good' }, ''],
      [undefined, '']
    ])
    expect(nfts.find(nft => nft.name === 'bad')?.metadata.data).not.toHaveProperty('uriData')
    expect(incomplete).toBeUndefined()
  })

  it.each(['', 'no url', 'file:///etc/passwd', 'ftp://u.test/a', 'http://169.254.169.254/latest'])(
    'a URI such as "%s" is not fetched',
    async uri => {
      put('good', '{"is":"good"}')
      putNft(cluster.accounts, { owner, name: 'odd', uri })
      const { nfts } = await service.holdings(owner, { parseMetadataUri: true })
      expect(fetchedOf(nfts)).toEqual({ good: [{ is: 'good' }, ''], odd: [undefined, ''] })
    }
  )

  it('a private host that is not allowed is never connected to', async () => {
    put('secret', '{"is":"secret"}', forbidden)
    const { nfts } = await service.holdings(owner, { parseMetadataUri: true })
    expect(fetchedOf(nfts)).toEqual({ secret: [undefined, ''] })
    expect(forbidden.connections()).toBe(0)
  })

  it('500 items of which half never get an answer are answered with the other half', async () => {
    const slow = await startDocumentHost()
    const patient = await startService(3_000, [slow])
    for (let n = 0; n < 250; n++) {
      put(`slow ${n}`.replace(' ', '-'), neverAnswers, slow)
      put(`fast ${n}`.replace(' ', '-'), `{"n":${n}}`)
    }
    const { nfts } = await patient.holdings(owner, { parseMetadataUri: true })
    expect(nfts).toHaveLength(500)
    const fast = nfts.filter(nft => nft.name.startsWith('fast'))
    expect(fast.map(nft => nft.metadata.data.uriData)).toEqual(
      fast.map(nft => ({ n: Number(nft.name.slice('fast-'.length)) }))
    )
    const slowOnes = nfts.filter(nft => nft.name.startsWith('slow'))
    expect(slowOnes.filter(nft => 'uriData' in nft.metadata.data)).toEqual([])
    await patient.close()
    await slow.close()
  })

  it('documents that never come cost no call its answer, not even one in a hurry', async () => {
    put('never', neverAnswers)
    const hasty = await startService(3_000, [], { requestDeadlineMs: 1_000 })
    const { nfts } = await hasty.holdings(owner, { parseMetadataUri: true })
    expect(fetchedOf(nfts)).toEqual({ never: [undefined, ''] })
    await hasty.close()
  })

  it('a document that comes too late for one call is there for a later one', async () => {
    let release: () => unknown = neverAnswers
    put('late', response => {
      release = () => response.end('{"is":"late"}')
    })
    const hasty = await startService(200)
    const ask = async () =>
      fetchedOf((await hasty.holdings(owner, { parseMetadataUri: true })).nfts).late?.[0]
    expect(await ask()).toBeUndefined()
    release()
    expect(await eventually('the late document', ask)).toEqual({ is: 'late' })
    expect(host.requests).toEqual(['/late'])
    await hasty.close()
  })
})
