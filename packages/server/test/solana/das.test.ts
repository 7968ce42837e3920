import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { answerPage, type DasServer, dasAsset, dasResult, startDasServer } from './dasServer.ts'
import {
  addressOf,
  clusterSlot,
  putNft,
  type ScriptedCluster,
  startScriptedCluster
} from './startScriptedCluster.ts'
import { errorOf, type Reaction, type RpcCall } from './startScriptedNode.ts'
import { type SolanaService, startSolanaService } from './startSolanaService.ts'

const owner = addressOf('owner')
const secret = 'a-key-of-the-indexer'
const compressed = (name: string, more: Record<string, unknown> = {}) => dasAsset(owner, name, more)
const uncompressed = (name: string) => compressed(name, { compression: { compressed: false } })

let cluster: ScriptedCluster
let das: DasServer
let service: SolanaService

const startService = () =>
  startSolanaService({ rpcUrls: [cluster.url], dasUrl: `${das.url}/v0/${secret}?api-key=${secret}` })

beforeAll(async () => {
  cluster = await startScriptedCluster()
  putNft(cluster.accounts, { owner, name: 'classic', uri: '' })
  das = await startDasServer()
  service = await startService()
})

beforeEach(() => {
  das.calls.length = 0
  das.react = call => answerPage(das, call)
  Object.assign(das, { entries: [], paging: 'page', longestPage: 1_000 })
})

afterAll(async () => {
  await service?.close()
  await Promise.all([cluster?.close(), das?.close()])
})

/** Names of the listed NFTs that are compressed; the one of the chain must be there, whatever happens. */
async function namesOf(of: SolanaService = service) {
  const { nfts, incomplete, lamports } = await of.holdings(owner)
  expect(lamports).toBe(5)
  expect(nfts.filter(nft => nft.assetStandard === undefined).map(nft => nft.name)).toEqual(['classic'])
  const names = nfts.filter(nft => nft.assetStandard === 'Compressed').map(nft => nft.name)
  return { names: names.sort(), incomplete }
}

const unavailable = [{ address: owner, reason: 'COMPRESSED_UNAVAILABLE' }]

describe('compressed NFTs', () => {
  it('are listed in the documented shape, marked, under their asset id', async () => {
    das.entries = [compressed('leaf')]
    const { nfts, asOf, incomplete } = await service.holdings(owner)
    const id = addressOf('leaf')
    expect(nfts.find(nft => nft.mint === id)).toEqual({
      ...{ mint: id, address: id, isSemiFungible: false, assetStandard: 'Compressed' },
      ...{ name: 'leaf', symbol: 'CMP', image: '', sellerFeeBasisPoints: 500 },
      metadata: {
        ...{
          updateAuthority: addressOf('tree authority'),
          mint: id,
          primarySaleHappened: true,
          isMutable: true
        },
        data: {
          ...{ name: 'leaf', symbol: 'CMP', uri: 'https://u.test/leaf', sellerFeeBasisPoints: 500 },
          creators: [{ address: addressOf('artist'), verified: true, share: 100 }]
        }
      }
    })
    expect(nfts.map(nft => nft.mint)).toEqual(nfts.map(nft => nft.mint).sort())
    // The indexer names no slot: what is read from the chain decides.
    expect([asOf, incomplete]).toEqual([{ slot: clusterSlot }, undefined])
    expect(das.calls.map(({ method, params }) => [method, params])).toEqual([
      ['getAssetsByOwner', { ownerAddress: owner, limit: 1_000, page: 1 }]
    ])
  })

  it('are not looked for unless the configuration names an endpoint', async () => {
    das.entries = [compressed('leaf')]
    const off = await startSolanaService({ rpcUrls: [cluster.url] })
    expect(await namesOf(off)).toEqual({ names: [], incomplete: undefined })
    await off.close()
    expect(das.calls).toEqual([])
  })

  it('are all that is taken: the chain tells about the rest, and burnt ones are gone', async () => {
    das.entries = [
      compressed('leaf'),
      uncompressed('on chain'),
      compressed('no word of compression', { compression: null }),
      compressed('burnt', { burnt: true, ownership: { owner: null } }),
      compressed('fungible', { compression: { compressed: false }, ownership: { owner: '' }, mutable: null })
    ]
    expect(await namesOf()).toEqual({ names: ['leaf'], incomplete: undefined })
  })

  it('count as what the chain shows once they have a mint', async () => {
    das.entries = [compressed('mint classic'), compressed('leaf')]
    expect(await namesOf()).toEqual({ names: ['leaf'], incomplete: undefined })
  })

  it.each(['page', 'cursor'] as const)('are read from all pages, by %s', async paging => {
    const names = Array.from({ length: 45 }, (_, n) => `leaf ${n}`)
    const entries = names.flatMap(name => [compressed(name), uncompressed(`other ${name}`)])
    Object.assign(das, { entries, paging, longestPage: 20 })
    expect(await namesOf()).toEqual({ names: [...names].sort(), incomplete: undefined })
    const places = das.calls.map(call => call.params as { page?: number; cursor?: string })
    expect(places).toHaveLength(5)
    expect(
      places.slice(1).every(place => (paging === 'page' ? place.page : place.cursor) !== undefined)
    ).toBe(true)
  })

  it('end with a page that is exactly full and an empty one', async () => {
    Object.assign(das, { entries: [compressed('a'), compressed('b')], longestPage: 2 })
    expect(await namesOf()).toEqual({ names: ['a', 'b'], incomplete: undefined })
    expect(das.calls).toHaveLength(2)
  })

  it('of an endpoint that does not say how long a page is are asked for until a page is empty', async () => {
    Object.assign(das, { entries: [compressed('a'), compressed('b'), compressed('c')], longestPage: 2 })
    das.react = call => {
      const { result } = JSON.parse(answerPage(das, call).body) as {
        result: { items: unknown[]; page: number }
      }
      return dasResult(call, { items: result.items, page: result.page })
    }
    expect(await namesOf()).toEqual({ names: ['a', 'b', 'c'], incomplete: undefined })
    expect(das.calls).toHaveLength(3)
  })

  it('of an endpoint that calls its pages longer than they are are asked for all the same', async () => {
    das.entries = Array.from({ length: 1_001 }, (_, n) => compressed(`leaf ${n}`))
    das.react = call => {
      const { result } = JSON.parse(answerPage(das, call).body) as { result: object }
      return dasResult(call, { ...result, limit: 10_000 })
    }
    expect((await namesOf()).names).toHaveLength(1_001)
  })

  it('beyond 20 pages are cut off, with a word', async () => {
    const names = Array.from({ length: 25 }, (_, n) => `leaf ${n}`)
    Object.assign(das, { entries: names.map(name => compressed(name)), longestPage: 1 })
    const { names: found, incomplete } = await namesOf()
    expect(found).toHaveLength(20)
    expect(incomplete).toEqual([{ address: owner, reason: 'COMPRESSED_CUT_OFF' }])
    expect(das.calls).toHaveLength(20)
  })

  const badEntries: [string, Record<string, unknown>][] = [
    ['a name that is no text', { content: { metadata: { name: 7 } } }],
    ['a name of 2 MB', { content: { metadata: { name: 'x'.repeat(2_000_000) } } }],
    ['a URI that is no text', { content: { json_uri: {} } }],
    ['content that is a list', { content: [] }],
    ['royalties beyond 16 bits', { royalty: { basis_points: 65_536 } }],
    ['royalties that are no integer', { royalty: { basis_points: 0.5 } }],
    ['a creator without an address', { creators: [{ address: 'nobody', share: 1, verified: true }] }],
    ['a creator that is null', { creators: [null] }],
    [
      'a thousand creators',
      { creators: new Array(1_000).fill({ address: owner, share: 1, verified: true }) }
    ],
    ['an authority that is no address', { authorities: [{ address: 'x', scopes: ['full'] }] }],
    ['no word on being mutable', { mutable: null }],
    ['a compression that is a text', { compression: 'yes' }],
    ['a burnt that is a text', { burnt: 'no' }],
    ['no ownership', { ownership: null }],
    ['no owner', { ownership: { owner: null } }]
  ]
  it.each(badEntries)('with %s are named and left out, alone', async (_what, more) => {
    das.entries = [compressed('before'), compressed('bad', more), compressed('after')]
    expect(await namesOf()).toEqual({
      names: ['after', 'before'],
      incomplete: [{ address: addressOf('bad'), reason: 'ASSET_UNREADABLE' }]
    })
  })

  it('without what the API lets be absent are listed all the same', async () => {
    const bare = { authorities: [], content: null, royalty: null, creators: null, burnt: null }
    das.entries = [compressed('bare', bare)]
    const { nfts } = await service.holdings(owner)
    expect(nfts.find(nft => nft.mint === addressOf('bare'))).toMatchObject({
      ...{ name: '', symbol: '', sellerFeeBasisPoints: 0, assetStandard: 'Compressed' },
      metadata: { data: { name: '', uri: '', creators: [] }, isMutable: true }
    })
  })

  it('show names without characters that one cannot see', async () => {
    das.entries = [
      compressed('odd', { content: { metadata: { name: 'U\u200bSDC\u202e', symbol: ' S\0x' } } })
    ]
    const { nfts } = await service.holdings(owner)
    expect(nfts.find(nft => nft.mint === addressOf('odd'))).toMatchObject({
      name: 'USDC',
      symbol: 'S',
      metadata: { data: { name: 'U\u200bSDC\u202e', symbol: 'S' } }
    })
  })

  it.each<[string, unknown]>([
    ['nulls', null],
    ['numbers', 7],
    ['lists', []],
    ['entries whose id is no address', { id: 'leaf' }]
  ])('come without a claim to be complete when there are %s among them', async (_what, entry) => {
    das.entries = [compressed('leaf'), entry]
    expect(await namesOf()).toEqual({ names: ['leaf'], incomplete: unavailable })
  })

  it('that the indexer knows of and cannot show are named', async () => {
    das.react = call =>
      dasResult(call, {
        ...{ total: 1, limit: 1_000, page: 1, items: [compressed('leaf')] },
        errors: [{ id: addressOf('lost'), error: 'not found' }]
      })
    expect(await namesOf()).toEqual({
      names: ['leaf'],
      incomplete: [{ address: addressOf('lost'), reason: 'ASSET_UNREADABLE' }]
    })
  })
})

it.each([
  [
    'no http',
    `ftp://u.example/${secret}`,
    /chains\.solana\[0\]\.dasUrl .* expected endpoint with the DAS API/
  ],
  [
    'credentials that cannot be read',
    `http://%zz:${secret}@u.example/`,
    /^dasUrl cannot be used; expected http/
  ]
])('an endpoint whose URL has %s is refused by its key, not its text', async (_what, dasUrl, message) => {
  const starting = startSolanaService({ rpcUrls: [cluster.url], dasUrl })
  await expect(starting).rejects.toThrow(message)
  await expect(starting).rejects.not.toThrow(secret)
})

describe('an indexer that fails', () => {
  const everyCall: [string, (call: RpcCall) => Reaction][] = [
    ['does not know the method', call => errorOf(call, -32_601)],
    ['refuses the params', call => errorOf(call, -32_602)],
    ['is broken inside', call => errorOf(call, -32_603)],
    ['refuses the key (401)', () => ({ status: 401, body: `{"error":"bad key ${secret}"}` })],
    ['forbids it (403)', () => ({ status: 403, body: `forbidden ${secret}` })],
    ['limits the rate (429)', () => ({ status: 429, headers: { 'retry-after': '60' }, body: '' })],
    ['is down (503)', () => ({ status: 503, body: 'later' })],
    ['sends a page', () => ({ body: `<html>${secret}</html>` })],
    ['sends half an answer', ({ id }) => ({ body: `{"jsonrpc":"2.0","id":"${id}","result":{"items":[` })],
    ['sends nothing', () => ({ body: '' })],
    ['cuts the connection', () => 'reset'],
    ['answers another call', () => ({ body: '{"jsonrpc":"2.0","id":"x","result":{"items":[]}}' })],
    ['answers null', call => dasResult(call, null)],
    ['answers a list', call => dasResult(call, [])],
    ['has no items', call => dasResult(call, { total: 0, limit: 1_000, page: 1 })],
    ['has null for items', call => dasResult(call, { total: 0, limit: 1_000, page: 1, items: null })],
    ['redirects', () => ({ status: 302, headers: { location: das.url }, body: '' })],
    ['sends 17 MB', call => dasResult(call, { items: [], padding: 'x'.repeat(17 * 1024 * 1024) })],
    [
      'lists one NFT of somebody else',
      call =>
        dasResult(call, { limit: 1_000, items: [compressed('leaf'), dasAsset(addressOf('other'), 'x')] })
    ]
  ]
  it.each(everyCall)('is named and costs nothing else when it %s', async (_what, react) => {
    das.react = react
    // One of its own: an indexer that limits the rate is left alone for a while.
    const own = await startService()
    const answers = [await namesOf(own), await namesOf(own)]
    await own.close()
    expect(answers).toEqual(new Array(2).fill({ names: [], incomplete: unavailable }))
    expect(das.calls.length).toBeGreaterThan(0)
    const warnings = own.logLines.filter(line => line.includes('DAS fails'))
    expect(warnings).toHaveLength(1)
    expect(own.logLines.join()).not.toContain(secret)
  })

  it.each<[string, Reaction]>([
    ['hangs', 'hang'],
    ['drips', 'drip']
  ])('and %s is waited for half of the time of the call', async (_what, reaction) => {
    das.react = () => reaction
    const hasty = await startSolanaService(
      { rpcUrls: [cluster.url], dasUrl: das.url },
      { limits: { requestDeadlineMs: 2_000 } }
    )
    expect(await namesOf(hasty)).toEqual({ names: [], incomplete: unavailable })
    await hasty.close()
  })

  it('and hangs costs a call some two seconds of its time', async () => {
    das.react = () => 'hang'
    const startedMs = performance.now()
    expect(await namesOf()).toEqual({ names: [], incomplete: unavailable })
    expect(performance.now() - startedMs).toBeLessThan(patient(4_000))
  })

  it('for a moment is asked once more', async () => {
    das.entries = [compressed('leaf')]
    das.react = call => (das.calls.length === 1 ? { status: 503, body: '' } : answerPage(das, call))
    expect(await namesOf()).toEqual({ names: ['leaf'], incomplete: undefined })
  })

  it('on the second page leaves the first', async () => {
    Object.assign(das, { entries: [compressed('a'), compressed('b')], longestPage: 1 })
    das.react = call =>
      (call.params as unknown as { page: number }).page === 1 ? answerPage(das, call) : errorOf(call, -32_000)
    expect(await namesOf()).toEqual({ names: ['a'], incomplete: unavailable })
  })

  it('to go on from a page, and gives it again for ever, is stopped', async () => {
    const page = { limit: 2, items: [compressed('a'), compressed('b')] }
    for (const place of [{ page: 1 }, { cursor: addressOf('b') }]) {
      das.react = call => dasResult(call, { ...page, ...place })
      expect(await namesOf()).toEqual({ names: ['a', 'b'], incomplete: unavailable })
    }
    expect(das.calls).toHaveLength(4)
  })

  it("with somebody else's NFT on the second page loses the first one too", async () => {
    Object.assign(das, { entries: [compressed('a'), dasAsset(addressOf('other'), 'x')], longestPage: 1 })
    expect(await namesOf()).toEqual({ names: [], incomplete: unavailable })
  })

  it('never shows its URL to the caller', async () => {
    das.react = () => 'reset'
    expect(await service.text(owner)).not.toContain(secret)
    expect(service.logLines.join()).not.toContain(secret)
  })
})
