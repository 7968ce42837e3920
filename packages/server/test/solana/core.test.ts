import {
  type CoreAsset,
  type CorePlugin,
  coreProgram,
  createSolanaDriver,
  encodeCoreAsset,
  encodeCoreCollection,
  type SolanaDriver,
  type SurfpoolNode,
  solanaOwner,
  startSurfpool,
  surfpoolUnsupportedReason
} from '@chain-data/devnet'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  addressOf,
  answerFrom,
  clusterSlot,
  putNft,
  type ScriptedCluster,
  startScriptedCluster
} from './startScriptedCluster.ts'
import {
  answerOf,
  errorOf,
  type Reaction,
  type RpcCall,
  type ScriptedNode,
  startScriptedNode
} from './startScriptedNode.ts'
import { type SolanaService, startSolanaService } from './startSolanaService.ts'

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

/** As log lines carry them. */
const levels = { info: 30, warn: 40 }
const core = coreProgram.toBase58()
const [artist, partner, curator] = ['artist', 'partner', 'curator'].map(addressOf) as [string, string, string]
const collection = addressOf('collection')
const royaltiesOf = (basisPoints: number, ...creators: string[]): CorePlugin => ({
  type: 'royalties',
  basisPoints,
  creators: creators.map(address => ({ address, percentage: 100 / creators.length }))
})
const assetOf = (owner: string, name: string, more: Partial<CoreAsset> = {}): CoreAsset => ({
  ...{ owner, name, uri: `https://u.test/${name}`, updateAuthority: { kind: 'address', address: artist } },
  ...more
})
const inCollection = { updateAuthority: { kind: 'collection' as const, address: collection } }

/** What the wire shows of an asset; `more` is what its plugins and its authority decide. */
function shown(
  name: string,
  more: {
    fee?: number
    creators?: object[]
    updateAuthority?: string | undefined
    isMutable?: boolean
  } = {}
) {
  const { fee = 0, creators = [], isMutable = true } = more
  const updateAuthority = 'updateAuthority' in more ? more.updateAuthority : artist
  const id = addressOf(name)
  return {
    ...{
      mint: id,
      address: id,
      isSemiFungible: false,
      assetStandard: 'MplCore',
      name,
      symbol: '',
      image: ''
    },
    sellerFeeBasisPoints: fee,
    metadata: {
      ...(updateAuthority === undefined ? {} : { updateAuthority }),
      mint: id,
      data: { name, symbol: '', uri: `https://u.test/${name}`, sellerFeeBasisPoints: fee, creators },
      isMutable
    }
  }
}

const byMint = (a: { mint: string }, b: { mint: string }) => (a.mint < b.mint ? -1 : 1)
const fromCollection = {
  ...{ fee: 500, updateAuthority: curator },
  creators: [
    { address: artist, verified: true, share: 50 },
    { address: partner, verified: false, share: 50 }
  ]
}

/** Every case of the reader, put where a node finds it. */
function putAssets(owner: string, put: (name: string, data: Uint8Array) => unknown) {
  const collectionPlugins: CorePlugin[] = [
    royaltiesOf(500, artist, partner),
    {
      type: 'verifiedCreators',
      signatures: [
        { address: artist, verified: true },
        { address: partner, verified: false }
      ]
    }
  ]
  const bytes: Record<string, Uint8Array> = {
    collection: encodeCoreCollection({
      ...{ updateAuthority: curator, name: 'C', uri: '', numMinted: 3, currentSize: 2 },
      plugins: collectionPlugins
    }),
    plain: encodeCoreAsset(assetOf(owner, 'plain')),
    counted: encodeCoreAsset(assetOf(owner, 'counted', { seq: 2n ** 64n - 1n })),
    nobodys: encodeCoreAsset(assetOf(owner, 'nobodys', { updateAuthority: { kind: 'none' } })),
    collected: encodeCoreAsset(assetOf(owner, 'collected', inCollection)),
    ownRoyalties: encodeCoreAsset(
      assetOf(owner, 'ownRoyalties', { ...inCollection, plugins: [royaltiesOf(100, partner)] })
    ),
    frozen: encodeCoreAsset(
      assetOf(owner, 'frozen', {
        plugins: [
          { type: 'freezeDelegate', frozen: true },
          { type: 'attributes', attributes: [{ key: 'a', value: 'b' }] }
        ]
      })
    ),
    fixed: encodeCoreAsset(assetOf(owner, 'fixed', { plugins: [{ type: 'immutableMetadata' }] })),
    orphan: encodeCoreAsset(
      assetOf(owner, 'orphan', { updateAuthority: { kind: 'collection', address: addressOf('closed') } })
    ),
    broken: encodeCoreAsset(assetOf(owner, 'broken', { plugins: [royaltiesOf(100, partner)] })).subarray(
      0,
      -3
    ),
    another: encodeCoreAsset(assetOf(partner, 'another')),
    burnt: Uint8Array.of(0)
  }
  for (const [name, data] of Object.entries(bytes)) put(name, data)
}

const expectedNfts = [
  shown('plain'),
  shown('counted'),
  shown('nobodys', { updateAuthority: undefined, isMutable: false }),
  shown('collected', fromCollection),
  shown('ownRoyalties', {
    ...{ fee: 100, updateAuthority: curator },
    creators: [{ address: partner, verified: false, share: 100 }]
  }),
  shown('frozen'),
  shown('fixed', { isMutable: false }),
  shown('orphan', { updateAuthority: undefined })
].sort(byMint)

const expectedIncomplete = [
  { address: addressOf('broken'), reason: 'ASSET_UNREADABLE' },
  { address: addressOf('closed'), reason: 'COLLECTION_UNREADABLE' }
].sort((a, b) => (a.address < b.address ? -1 : 1))

describe.skipIf(unsupported !== undefined)('Core assets on a real node', () => {
  let surfpool: SurfpoolNode
  let driver: SolanaDriver
  let proxy: ScriptedNode
  let service: SolanaService

  beforeAll(async () => {
    surfpool = await startSurfpool()
    driver = await createSolanaDriver(surfpool.rpcUrl, surfpool.wsUrl, 12)
    await driver.setLamports('alice', 7n)
    await driver.setLamports('carol', 7n)
    await driver.createMint({ label: 'coin', program: 'spl-token', decimals: 6, kind: 'token' })
    await driver.mintTo(await driver.createTokenAccount('coin', 'alice'), 41n)
    const writes: (() => Promise<void>)[] = []
    putAssets(solanaOwner(driver.world, 'alice').address, (name, data) =>
      writes.push(() => driver.setAccount(addressOf(name), data, coreProgram))
    )
    for (const write of writes) await write()
    proxy = await startScriptedNode(() => ({ passOn: surfpool.rpcUrl }))
    service = await startSolanaService({ rpcUrls: [proxy.url], mplCore: true })
  })

  beforeEach(() => {
    proxy.calls.length = 0
  })

  afterAll(async () => {
    await service?.close()
    await Promise.all([proxy?.close(), surfpool?.stop()])
  })

  it('are listed beside the tokens of the account, field by field', async () => {
    const { nfts, tokens, incomplete } = await service.holdings(solanaOwner(driver.world, 'alice').address)
    expect(nfts).toEqual(expectedNfts)
    expect(tokens).toMatchObject([{ amountString: '41', decimals: 6 }])
    expect(incomplete).toEqual(expectedIncomplete)
  })

  it('are not even asked for unless the configuration says so', async () => {
    const off = await startSolanaService({ rpcUrls: [proxy.url] })
    const { nfts, tokens, incomplete } = await off.holdings(solanaOwner(driver.world, 'alice').address)
    await off.close()
    expect([nfts, tokens.length, incomplete]).toEqual([[], 1, undefined])
    expect(proxy.calls.length).toBeGreaterThan(0)
    expect(proxy.calls.filter(call => call.method === 'getProgramAccounts')).toEqual([])
  })

  it('are asked for with one filtered call, and their collections with one more', async () => {
    const { address } = solanaOwner(driver.world, 'alice')
    await service.holdings(address)
    const programCalls = proxy.calls.filter(call => call.method === 'getProgramAccounts')
    expect(programCalls).toHaveLength(1)
    expect(programCalls[0]?.params).toMatchObject([
      core,
      { filters: [{ memcmp: { offset: 0, bytes: '2' } }, { memcmp: { offset: 1, bytes: address } }] }
    ])
    const collections = proxy.calls.filter(
      call => call.method === 'getMultipleAccounts' && (call.params[0] as string[]).includes(collection)
    )
    expect(collections).toHaveLength(1)
  })

  it('follow their owner', async () => {
    const [alice, carol] = ['alice', 'carol'].map(name => solanaOwner(driver.world, name).address) as [
      string,
      string
    ]
    const moved = addressOf('moved')
    const idsOf = async (owner: string) => (await service.holdings(owner)).nfts.map(nft => nft.mint)
    await driver.setAccount(moved, encodeCoreAsset(assetOf(alice, 'moved')), coreProgram)
    expect(await idsOf(alice)).toContain(moved)
    await driver.setAccount(moved, encodeCoreAsset(assetOf(carol, 'moved')), coreProgram)
    expect(await idsOf(carol)).toContain(moved)
    expect(await idsOf(alice)).not.toContain(moved)
  })
})

describe('Core assets', () => {
  const owner = addressOf('owner')
  let cluster: ScriptedCluster
  let service: SolanaService

  beforeAll(async () => {
    cluster = await startScriptedCluster()
    putAssets(owner, (name, data) => cluster.accounts.set(addressOf(name), { owner: core, data }))
    putNft(cluster.accounts, { owner, name: 'classic', uri: '' })
    service = await startSolanaService({ rpcUrls: [cluster.url], mplCore: true })
  })

  beforeEach(() => {
    cluster.calls.length = 0
    cluster.react = call => answerFrom(cluster.accounts, call)
  })

  afterAll(async () => {
    await service?.close()
    await cluster?.close()
  })

  /** Lets the node answer one method in its own way. */
  const reactTo = (method: string, react: (call: RpcCall) => Reaction) => {
    cluster.react = call => (call.method === method ? react(call) : answerFrom(cluster.accounts, call))
  }

  it('are the same from recorded bytes where no real node can run', async () => {
    const { nfts, incomplete } = await service.holdings(owner)
    expect(nfts.filter(nft => nft.assetStandard === 'MplCore')).toEqual(expectedNfts)
    expect(nfts).toHaveLength(expectedNfts.length + 1)
    expect(incomplete).toEqual(expectedIncomplete)
  })

  const asset = (name: string) =>
    `{"pubkey":"${addressOf(name)}","account":{"data":["${Buffer.from(
      encodeCoreAsset(assetOf(name === 'another' ? partner : owner, name))
    ).toString(
      'base64'
    )}","base64"],"executable":false,"lamports":1,"owner":"${core}","rentEpoch":0,"space":1}}`

  it.each<[string, (call: RpcCall) => Reaction]>([
    ['does not know the method', call => errorOf(call, -32_601)],
    ['keeps no index of the program', call => errorOf(call, -32_010)],
    ['refuses the params', call => errorOf(call, -32_602)],
    ['is broken inside', call => errorOf(call, -32_603)],
    ['forbids it (403)', () => ({ status: 403, body: 'forbidden: see http://key' })],
    ['has given it up (410)', call => errorOf(call, -32_601, 410)],
    ['limits the rate (429)', () => ({ status: 429, headers: { 'retry-after': '30' }, body: '' })],
    ['answers a page', () => ({ body: '<html>' })],
    ['answers null', call => answerOf(call, 'null')],
    ['answers without context', ({ id }) => ({ body: `{"jsonrpc":"2.0","id":"${id}","result":[]}` })],
    ['cuts the connection', () => 'reset'],
    ['lists an asset of somebody else', call => answerOf(call, `[${asset('plain')},${asset('another')}]`)],
    ['lists an asset twice', call => answerOf(call, `[${asset('plain')},${asset('plain')}]`)]
  ])('are named as unavailable, and the rest is whole, when the node %s', async (_what, react) => {
    reactTo('getProgramAccounts', react)
    // One of its own: a node that limits the rate is left alone for a while.
    const own = await startSolanaService({ rpcUrls: [cluster.url], mplCore: true })
    const answers = [await own.holdings(owner), await own.holdings(owner)]
    await own.close()
    for (const { nfts, lamports, incomplete } of answers) {
      expect([lamports, nfts.map(nft => nft.name)]).toEqual([5, ['classic']])
      expect(incomplete).toEqual([{ address: owner, reason: 'MPL_CORE_UNAVAILABLE' }])
    }
    expect(cluster.calls.filter(call => call.method === 'getProgramAccounts').length).toBeGreaterThan(0)
    expect(own.logLines.join()).not.toContain('http://key')
  })

  it('that are waited for in vain cost half of the time of the call, not the call', async () => {
    reactTo('getProgramAccounts', () => 'hang')
    const hasty = await startSolanaService(
      { rpcUrls: [cluster.url], mplCore: true },
      { limits: { requestDeadlineMs: 2_000 } }
    )
    const { nfts, incomplete } = await hasty.holdings(owner)
    await hasty.close()
    expect(nfts.map(nft => nft.name)).toEqual(['classic'])
    expect(incomplete).toEqual([{ address: owner, reason: 'MPL_CORE_UNAVAILABLE' }])
  })

  it('without their collections are unavailable, not cheaper', async () => {
    cluster.react = call =>
      call.method === 'getMultipleAccounts' && (call.params[0] as string[]).includes(collection)
        ? errorOf(call, -32_602)
        : answerFrom(cluster.accounts, call)
    const { incomplete } = await service.holdings(owner)
    expect(incomplete).toEqual([{ address: owner, reason: 'MPL_CORE_UNAVAILABLE' }])
  })

  it('of 250 collections cost three calls for them, none with more than 100 keys', async () => {
    const collector = addressOf('collector')
    for (let n = 0; n < 500; n++) {
      const updateAuthority = { kind: 'collection' as const, address: addressOf(`collection ${n % 250}`) }
      const [asset, group] = [`collected ${n}`, `collection ${n % 250}`]
      cluster.accounts.set(addressOf(asset), {
        owner: core,
        data: encodeCoreAsset(assetOf(collector, asset, { updateAuthority }))
      })
      cluster.accounts.set(addressOf(group), {
        owner: core,
        data: encodeCoreCollection({
          ...{ updateAuthority: curator, name: 'C', uri: '', numMinted: 2, currentSize: 2 },
          plugins: [royaltiesOf(n % 250, artist)]
        })
      })
    }
    const { nfts, incomplete } = await service.holdings(collector)
    expect([nfts.length, incomplete]).toEqual([500, undefined])
    for (const { name, sellerFeeBasisPoints } of nfts) {
      expect(sellerFeeBasisPoints).toBe(Number(name.slice('collected '.length)) % 250)
    }
    const lookups = cluster.calls.filter(call => call.method === 'getMultipleAccounts')
    expect(lookups.map(call => (call.params[0] as string[]).length).sort()).toEqual([100, 100, 50])
  })

  it('from an older slot than the rest make the answer that old', async () => {
    reactTo('getProgramAccounts', call => answerOf(call, '[]', clusterSlot - 7))
    expect((await service.holdings(owner)).asOf).toEqual({ slot: clusterSlot - 7 })
  })

  it('are warned of once when they begin to fail, and once more noted when they answer again', async () => {
    const about = () => service.logLines.filter(line => line.includes('Metaplex Core'))
    await service.holdings(owner)
    const before = about().length
    reactTo('getProgramAccounts', call => errorOf(call, -32_601))
    await service.holdings(owner)
    await service.holdings(owner)
    cluster.react = call => answerFrom(cluster.accounts, call)
    await service.holdings(owner)
    const lines = about().slice(before)
    expect(lines.map(line => JSON.parse(line).level)).toEqual([levels.warn, levels.info])
    expect(lines.join()).not.toContain('http://key')
  })
})
