import type { SolanaHoldings } from '@chain-data/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type Devnet,
  expectedSolanaHoldings,
  type SolanaDevnet,
  solanaMint,
  startDevnet,
  surfpoolUnsupportedReason
} from '../../src/index.ts'
import { solanaChainId as chainId, post, succeed, successResult } from './support/callService.ts'
import { asParsed, parseExact } from './support/parseExact.ts'
import { type Road, startRoad } from './support/startRoad.ts'

const method = 'enhancedGetTokensAndNFTs'
const endpoint = '/solana'

/** Every form of `params`, and whether it asks for the documents. */
const forms: [string, (accountAddress: string) => unknown[], boolean][] = [
  ['[{ accountAddress }]', accountAddress => [{ accountAddress }], false],
  ['[address]', address => [address], false],
  ['[address, { parseMetadataUri: true }]', address => [address, { parseMetadataUri: true }], true],
  ['[address, { parseMetadataUri: false }]', address => [address, { parseMetadataUri: false }], false],
  [
    '[{ accountAddress, parseMetadataUri: true }]',
    accountAddress => [{ accountAddress, parseMetadataUri: true }],
    true
  ],
  [
    '[{ accountAddress }, { parseMetadataUri: true }]',
    accountAddress => [{ accountAddress }, { parseMetadataUri: true }],
    true
  ],
  [
    '[{ accountAddress }, { options: { parseMetadataUri: true } }]',
    accountAddress => [{ accountAddress }, { options: { parseMetadataUri: true } }],
    true
  ]
]

const byAccount = (a: { address: string }, b: { address: string }) => (a.address < b.address ? -1 : 1)

const unsupported = surfpoolUnsupportedReason()
if (unsupported !== undefined) process.stdout.write(`skipped: ${unsupported}\n`)

describe.skipIf(unsupported !== undefined)('enhancedGetTokensAndNFTs', () => {
  let devnet: Devnet
  let solana: SolanaDevnet
  let road: Road

  beforeAll(async () => {
    devnet = await startDevnet({ seed: 32, evm: false })
    solana = devnet.solana!
    road = await startRoad(devnet)
  })

  afterAll(async () => {
    await road?.close()
    await devnet?.stop()
  })

  /** The node's newest slot; what it calls confirmed lags behind what it answers confirmed reads at. */
  const slot = async (commitment: string) => Number(await solana.driver.rpc('getSlot', { commitment }))

  test.each(forms)(
    'with params %s gives every owner everything, every field, every digit',
    async (_, form, parse) => {
      const { world } = solana
      for (const { name, address } of Object.values(world.owners)) {
        const first = await slot('finalized')
        const { text } = await succeed(road.baseUrl, { endpoint, method, params: form(address) })
        const { asOf, ...answer } = (parseExact(text) as { result: SolanaHoldings<bigint> }).result
        expect(asOf!.slot).toBeGreaterThanOrEqual(first)
        expect(asOf!.slot).toBeLessThanOrEqual(await slot('processed'))
        answer.tokens.sort(byAccount)
        answer.nfts.sort(byAccount)
        const origin = devnet.metadata.url
        const { tokens, nfts, ...rest } = expectedSolanaHoldings(world, name, {
          parseMetadataUri: parse,
          origin
        })
        const truth = { ...rest, tokens: tokens.sort(byAccount), nfts: nfts.sort(byAccount) }
        expect(answer, name).toStrictEqual(asParsed(truth))

        const byClient = await road.client.enhancedGetTokensAndNFTs({
          chainId,
          address,
          parseMetadataUri: parse
        })
        const rounded = (JSON.parse(text) as { result: SolanaHoldings }).result
        expect({ ...byClient, asOf: undefined }).toEqual({ ...rounded, asOf: undefined })
      }
    }
  )

  test('writes amounts beyond 2^53 with every digit, as number and as string', async () => {
    const { world } = solana
    const textOf = async (name: string) =>
      (await succeed(road.baseUrl, { endpoint, method, params: [world.owners[name]!.address] })).text
    const alice = await textOf('alice')
    expect(alice).toContain('"amount":18446744073709551615')
    expect(alice).toContain('"amountString":"18446744073709551615"')
    expect(await textOf('bob')).toContain('"amount":9007199254740993')
    const dora = await textOf('dora')
    expect(dora).toContain('"lamports":18446744073709551613')
    expect(dora).toContain('"lamportsString":"18446744073709551613"')
  })

  test('compares worlds that hold every kind: both programs, tokens, NFTs, semi-fungible ones, empty owners', async () => {
    const { world } = solana
    const held = world.tokenAccounts
      .filter(({ amount }) => amount > 0n)
      .map(({ mint }) => solanaMint(world, mint))
    expect(new Set(held.map(({ kind }) => kind))).toEqual(new Set(['token', 'nft', 'semiFungible']))
    expect(new Set(held.map(({ program }) => program))).toEqual(new Set(['spl-token', 'token-2022']))
    expect(held.filter(({ metaplex, extension }) => metaplex ?? extension).length).toBeGreaterThan(8)
    const { result } = await succeed(road.baseUrl, {
      endpoint,
      method,
      params: [world.owners.nobody!.address]
    })
    expect(result).toMatchObject({ lamports: 0, tokens: [], nfts: [] })
  })

  const fee = { key: 4, primarySaleHappened: false, isMutable: false }
  const shown = (multiplier: number, newMultiplier = multiplier, newMultiplierEffectiveTimestamp = 0) => ({
    scaledUiAmount: { multiplier, newMultiplier, newMultiplierEffectiveTimestamp }
  })
  const interest = { initializationTimestamp: 1_600_000_000, lastUpdateTimestamp: 1_700_000_000 }
  const nft = { isSemiFungible: false }
  const several = { isSemiFungible: true }

  /** What the story means each holding to be, in its own words; the test above compares every field of all. */
  const meant: ['tokens' | 'nfts', owner: string, label: string, item: Record<string, unknown>][] = [
    ['tokens', 'bob', 'frozen coin', { amountString: '4200', decimals: 2 }],
    ['tokens', 'erin', 'delegated coin', { amountString: '5000' }],
    ['tokens', 'erin', 'wrapped SOL', { amountString: '1234567891', decimals: 9, name: '', symbol: '' }],
    ['tokens', 'erin', 'taxed coin', { amountString: `${10_001 - 251 + 50_000 - 900}` }],
    [
      'tokens',
      'erin',
      'interest coin',
      { interestBearing: { ...interest, preUpdateAverageRate: 500, currentRate: 425 } }
    ],
    [
      ...(['tokens', 'erin', 'negative interest coin'] as const),
      {
        amountString: '3000000',
        interestBearing: { ...interest, preUpdateAverageRate: 0, currentRate: -32_768 }
      }
    ],
    ['tokens', 'erin', 'scaled coin', { amountString: '1000006', ...shown(2.5) }],
    ['tokens', 'erin', 'split coin', { amountString: '1000007', ...shown(1, 10, 4_000_000_000) }],
    ['tokens', 'erin', 'everything', { amountString: '1000009', ...shown(0.001) }],
    ['tokens', 'erin', 'bound coin', { amountString: '1000002' }],
    ['tokens', 'erin', 'secret coin', { amountString: '1000001' }],
    ['tokens', 'erin', 'hooked coin', { amountString: '1000004' }],
    ['tokens', 'erin', 'guarded coin', { amountString: '6000' }],
    ['tokens', 'erin', 'frozen by default', { amountString: '77' }],
    ['tokens', 'erin', 'delegated by the mint', { amountString: '1000003' }],
    ['tokens', 'erin', 'closable coin', { amountString: '1000000' }],
    ['tokens', 'erin', 'group', { amountString: '1000005' }],
    ['tokens', 'erin', 'group member', { amountString: '1000000' }],
    ['tokens', 'erin', 'paused coin', { amountString: '1000008' }],
    ['tokens', 'alice', 'named coin', { name: 'Named Coin', symbol: 'NAMED' }],
    ['tokens', 'alice', 'self-describing coin', { name: 'Self-describing', symbol: 'SELF' }],
    ['nfts', 'frank', 'ancient', { ...nft, metadata: { ...fee, primarySaleHappened: true } }],
    ['nfts', 'frank', 'aged', { ...nft, metadata: { ...fee, editionNonce: 0 } }],
    [
      'nfts',
      'frank',
      'five creators',
      { sellerFeeBasisPoints: 65_535, metadata: { data: { creators: { length: 5 } } } }
    ],
    ['nfts', 'frank', 'unnamed', { name: '', symbol: '', metadata: { isMutable: true, data: { uri: '' } } }],
    ['nfts', 'frank', 'sized collection', { ...nft, metadata: { editionNonce: 249 } }],
    ['nfts', 'frank', 'unruled', nft],
    ['nfts', 'frank', 'programmable print', nft],
    ['nfts', 'frank', 'used', nft],
    ['nfts', 'frank', 'unverified', nft],
    ['nfts', 'alice', 'programmable nft', { ...nft, symbol: 'PNFT' }],
    ['nfts', 'alice', 'strange standard', { ...nft, name: 'Strange' }],
    ['nfts', 'bob', 'print', { ...nft, metadata: { editionNonce: 251 } }],
    ['nfts', 'frank', 'single asset', { ...several, amountString: '1' }],
    ['nfts', 'frank', 'old several', { ...several, amountString: '18446744073709551615' }],
    ['nfts', 'alice', 'fungible asset', { ...several, amountString: '100' }],
    ['tokens', 'frank', 'by its standard', { amountString: '1', name: 'Of by its standard' }],
    ['nfts', 'frank', 'pointing to Metaplex', { name: 'In Metaplex', metadata: { key: 4 } }],
    ['nfts', 'frank', 'pointing elsewhere', { name: 'Elsewhere' }],
    ['tokens', 'frank', 'pointing into the void', { amountString: '1', name: '' }],
    ['nfts', 'frank', 'pointing nowhere', { name: 'Embedded' }],
    ['nfts', 'frank', 'embedded several', { ...several, amountString: '3', metadata: { isMutable: false } }],
    ['nfts', 'frank', 'twice, to itself', { name: 'Embedded' }],
    ['nfts', 'frank', 'twice, to Metaplex', { name: 'The other' }],
    ['nfts', 'grace', 'sound nft', { ...nft, name: 'Sound' }],
    ['nfts', 'grace', 'sound words', { ...nft, name: 'Sound' }],
    ['tokens', 'grace', 'closed metadata', { amountString: '1', name: '' }],
    ['tokens', 'grace', 'lamports only', { amountString: '1', name: '' }],
    ['tokens', 'grace', 'strange words', { amountString: '1', name: '' }],
    ['tokens', 'grace', 'shown as nothing', { amountString: '1' }]
  ]

  test('lists every kind of account as the story means it', async () => {
    const { world } = solana
    const answers = new Map<string, SolanaHoldings>()
    for (const { name, address } of Object.values(world.owners)) {
      const { result } = await succeed(road.baseUrl, { endpoint, method, params: [address] })
      answers.set(name, result as SolanaHoldings)
    }
    for (const [list, owner, label, item] of meant) {
      const { address } = solanaMint(world, label)
      const found = [...answers.get(owner)![list]].filter(({ mint }) => mint === address)
      expect(found.length, label).toBeGreaterThan(0)
      for (const each of found) expect(each, label).toMatchObject(item)
    }
  })

  test('names what it cannot read, by mint or token account, and lists what stands beside it', async () => {
    const { world } = solana
    const { result } = await succeed(road.baseUrl, {
      endpoint,
      method,
      params: [world.owners.grace!.address]
    })
    const { incomplete = [], tokens, nfts } = result as SolanaHoldings
    const labelOf = (address: string) =>
      Object.values(world.mints).find(mint => mint.address === address)?.label ??
      `an account of ${world.tokenAccounts.find(account => account.address === address)?.mint}`
    const labels = (reason: string) =>
      incomplete.filter(entry => entry.reason === reason).map(({ address }) => labelOf(address))
    expect(new Set(labels('MINT_UNREADABLE'))).toEqual(
      new Set(['gone', 'gone 2022', 'zeroed', 'cut mint', 'a multisig', 'an account for a mint'])
    )
    expect(new Set(labels('BALANCE_UNREADABLE'))).toEqual(
      new Set(['an account of sound nft', 'an account of without supply'])
    )
    const metadata = new Set([
      ...['cut metadata', 'an edition', 'of another mint', 'six creators', 'of no program', 'naming another'],
      ...['cut words', 'overlapping', 'cut extensions', 'short pointer', 'pointing to a stranger'],
      ...['pointing to a liar', 'shown as nothing']
    ])
    expect(new Set(labels('METADATA_UNREADABLE'))).toEqual(metadata)
    expect(incomplete.length).toBe(6 + 2 + metadata.size)
    // A mint whose metadata is broken is still listed, as what its numbers say it is.
    const listed = tokens.map(({ mint }) => labelOf(mint))
    for (const label of metadata) expect(listed).toContain(label)
    expect(nfts.map(({ mint }) => labelOf(mint)).sort()).toEqual(['sound nft', 'sound words'])
  })

  test('shows a transfer that has just been made', async () => {
    const { world, driver } = solana
    const [from, to] = ['alice', 'bob'].map(
      owner => world.tokenAccounts.find(account => account.mint === 'coin' && account.owner === owner)!
    )
    await driver.transfer(from!, to!, 17n)
    const { result } = await succeed(road.baseUrl, { endpoint, method, params: [world.owners.bob!.address] })
    const item = (result as SolanaHoldings).tokens.find(token => token.address === to!.address)
    expect(item?.amountString).toBe(to!.amount.toString())
  })

  test('echoes ids and the chainId, also one from the URL', async () => {
    const params = [solana.world.owners.carol!.address]
    for (const id of [0, -3, 2 ** 53 - 1, 'a string']) {
      await succeed(road.baseUrl, { endpoint, method, params, id })
    }
    const { text } = await post(
      `${road.baseUrl}/solana?chainId=${chainId}`,
      JSON.stringify({ jsonrpc: '2.0', method, params })
    )
    successResult(JSON.parse(text), { endpoint, method, id: 1 })
    const status = await succeed(road.baseUrl, { endpoint, method: 'svc_getSyncStatus', params: [] })
    expect(status.result).toMatchObject({ chainId, ready: true, phase: 'following', degraded: false })
  })
})
