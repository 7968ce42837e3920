import type { SolanaHoldings } from '@chain-data/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  expectedSolanaHoldings,
  solanaMint,
  startDevnet,
  surfpoolUnsupportedReason,
  type Devnet,
  type SolanaDevnet
} from '../../src/index.ts'
import { solanaChainId as chainId, post, succeed, successResult } from './support/callService.ts'
import { asParsed, parseExact } from './support/parseExact.ts'
import { startRoad, type Road } from './support/startRoad.ts'

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

describe.skipIf(surfpoolUnsupportedReason() !== undefined)('enhancedGetTokensAndNFTs', () => {
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
    expect(status.result).toMatchObject({ chainId, degraded: false })
  })
})
