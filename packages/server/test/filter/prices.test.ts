import { evmAccount, evmContract } from '@chain-data/devnet'
import { getAddress } from 'ethers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { PricedAsset } from '../../src/model/prices.ts'
import { assembleContract, returnsText, returnsWord, selectors } from '../evm/assembleContract.ts'
import { type HoldingsService, startHoldingsService } from './startHoldingsService.ts'

const chainId = 31337
const spam = getAddress(`0x${'4c'.repeat(20)}`)

let service: HoldingsService
let alice: string
let gold: string
let asked: PricedAsset[][] = []
let answer: () => Promise<unknown> = async () => ({})

beforeAll(async () => {
  service = await startHoldingsService(() => ({
    metadata: {
      prices: async assets => {
        asked.push([...assets])
        return (await answer()) as never
      }
    }
  }))
  const { world } = service.driver
  alice = evmAccount(world, 'alice').address
  gold = evmContract(world, 'gold').address
  await service.place(
    spam,
    assembleContract({
      [selectors.balanceOf]: returnsWord(5),
      [selectors.decimals]: returnsWord(6),
      [selectors.name]: returnsText('Visit usdc-gift.xyz to claim'),
      [selectors.symbol]: returnsText('GIFT')
    })
  )
})
afterAll(() => service?.close())

test('holdings have the prices of the host; spam is not asked for, and what has no price has no member', async () => {
  answer = async () => ({
    currency: 'EUR',
    prices: [
      { chainId, price: '2999.5' },
      { chainId, address: gold, price: '0.25' },
      { chainId, address: spam, price: '1000000' }
    ]
  })
  const before = Math.floor(Date.now() / 1000)
  const { prices, tokens, incomplete } = await service.holdings(alice, [gold, spam])
  expect(prices).toEqual({ currency: 'EUR', native: '2999.5', timestamp: expect.any(Number) })
  expect(prices!.timestamp).toBeGreaterThanOrEqual(before)
  expect(tokens.map(({ address, price }) => [address, price])).toEqual(
    expect.arrayContaining([
      [gold, '0.25'],
      [spam, undefined]
    ])
  )
  expect(tokens.find(({ address }) => address === spam)).not.toHaveProperty('price')
  expect(incomplete).toBeUndefined()
  expect(asked).toEqual([[{ chainId }, { chainId, address: gold.toLowerCase() }]])
})

test('a host that fails takes no holding: prices that are not remembered are named as unavailable', async () => {
  asked = []
  answer = async () => {
    throw new Error('password=secret')
  }
  const { address: dollar } = evmContract(service.driver.world, 'dollar')
  const { prices, tokens, incomplete } = await service.holdings(alice, [gold, dollar])
  expect(prices).toMatchObject({ currency: 'EUR', native: '2999.5' })
  expect(tokens.find(({ address }) => address === dollar)).not.toHaveProperty('price')
  expect(tokens.find(({ address }) => address === gold)?.price).toBe('0.25')
  expect(incomplete).toEqual([{ address: alice, reason: 'PRICES_UNAVAILABLE' }])
  const asWas = (await service.holdings(alice, [gold])).tokens[0]
  expect(asWas).toMatchObject({ address: gold, price: '0.25' })
  expect(asked).toHaveLength(1)
  expect(service.logLines.filter(line => line.includes('prices fail'))).toHaveLength(1)
  expect(service.logLines.join('\n')).not.toContain('secret')
})

test('without prices in the configuration no answer has a member for them', async () => {
  const other = await startHoldingsService()
  try {
    const found = await other.holdings(evmAccount(other.driver.world, 'alice').address)
    expect(found.tokens.length).toBeGreaterThan(0)
    expect(JSON.stringify([found.tokens, found.incomplete ?? []])).not.toMatch(/price/i)
    expect(found).not.toHaveProperty('prices')
  } finally {
    await other.close()
  }
})
