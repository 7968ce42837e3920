import { evmAccount, evmContract, evmHoldingsOf } from '@chain-data/devnet'
import { getAddress } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  assembleContract,
  invalid,
  loops,
  returnsText,
  returnsWord,
  selectors,
  stops
} from '../evm/assembleContract.ts'
import { type HoldingsService, startHoldingsService } from './startHoldingsService.ts'

let service: HoldingsService
let alice: string
let carol: string

beforeAll(async () => {
  service = await startHoldingsService()
  alice = evmAccount(service.driver.world, 'alice').address
  carol = evmAccount(service.driver.world, 'carol').address
})
afterAll(() => service?.close())

const contract = (label: string) => evmContract(service.driver.world, label).address
const truthOf = (address: string) => evmHoldingsOf(service.driver.world, address)
const addressAt = (number: number) => getAddress(`0x${number.toString(16).padStart(40, '0')}`)
const tokensOf = (answer: { tokens: readonly { address: string; amount: string }[] }) =>
  answer.tokens.map(({ address, amount }) => [address, amount])

test('without a list, and with an empty one, everything is there', async () => {
  const everything = await service.holdings(carol)
  const truth = truthOf(carol)
  expect(everything.tokens.length).toBe(truth.tokens.length)
  expect(everything.nfts.length).toBe(truth.nfts.length)
  expect(truth.tokens.length * truth.nfts.length).toBeGreaterThan(0)
  expect(await service.holdings(carol, [])).toEqual(everything)
})

test('a list restricts tokens and NFTs to its contracts; native and the block are always there', async () => {
  const everything = await service.holdings(carol)
  for (const label of ['gold', 'art', 'items']) {
    const only = await service.holdings(carol, [contract(label)])
    const isWanted = ({ address }: { address: string }) => address === contract(label)
    const incomplete = (everything.incomplete ?? []).filter(isWanted)
    expect(only).toEqual({
      ...(incomplete.length > 0 && { incomplete }),
      native: everything.native,
      asOf: everything.asOf,
      tokens: everything.tokens.filter(isWanted),
      nfts: everything.nfts.filter(isWanted)
    })
  }
})

test('a listed token is there with "0" when the account has none and never had', async () => {
  const nobody = evmAccount(service.driver.world, 'nobody').address
  expect(await service.holdings(nobody)).toMatchObject({ tokens: [], nfts: [] })
  const answer = await service.holdings(nobody, [contract('gold'), contract('dollar'), contract('art')])
  expect(answer.tokens).toEqual([
    expect.objectContaining({ address: contract('dollar'), amount: '0', decimals: 6, symbol: 'dUSD' }),
    expect.objectContaining({ address: contract('gold'), amount: '0', decimals: 18, symbol: 'GLD' })
  ])
  expect(answer.nfts).toEqual([])
  expect(answer).not.toHaveProperty('incomplete')
})

test('addresses count once, in any case and with a wrong checksum', async () => {
  const gold = contract('gold')
  const wrong = gold.replace(/[a-f]/i, letter =>
    letter === letter.toUpperCase() ? letter.toLowerCase() : letter.toUpperCase()
  )
  expect(() => getAddress(wrong)).toThrow('checksum')
  const expected = await service.holdings(alice, [gold])
  expect(tokensOf(expected)).toHaveLength(1)
  for (const list of [[gold.toLowerCase()], [`0x${gold.slice(2).toUpperCase()}`], [wrong], [gold, wrong, gold]]) {
    expect(await service.holdings(alice, list)).toEqual(expected)
  }
}) // biome-ignore format: one line

describe('how many', () => {
  const hundred = Array.from({ length: 100 }, (_, i) => addressAt(0x1000 + i))

  test('a hundred are taken, also when none of them is a contract', async () => {
    expect(await service.holdings(alice, hundred)).toMatchObject({ tokens: [], nfts: [] })
    const withGold = [...hundred.slice(1), contract('gold')]
    expect(tokensOf(await service.holdings(alice, withGold)).map(([address]) => address)).toEqual([
      contract('gold')
    ])
  })

  test('one more is refused, and what is no address too, each with its path', async () => {
    const refused: [unknown, string][] = [
      [[...hundred, contract('gold')], '/params/1'],
      [[contract('gold'), '0x12'], '/params/1/1'],
      [[contract('gold'), null], '/params/1/1'],
      [contract('gold'), '/params/1'],
      [null, '/params/1']
    ]
    for (const [list, path] of refused) {
      expect(await service.ask([alice, list])).toMatchObject({
        error: { code: -32602, data: { reason: 'INVALID_PARAMS', path } }
      })
    }
  })
})

describe('a contract that was never indexed', () => {
  const answers = {
    [selectors.balanceOf]: returnsWord(777),
    [selectors.decimals]: returnsWord(8),
    [selectors.name]: returnsText('Unseen Token'),
    [selectors.symbol]: returnsText('UNSEEN')
  }

  test('is read live when it is listed, and only then', async () => {
    const unseen = addressAt(0xa0001)
    await service.place(unseen, assembleContract(answers))
    expect(tokensOf(await service.holdings(alice))).not.toContainEqual([unseen, '777'])
    expect((await service.holdings(alice, [unseen])).tokens).toEqual([
      { address: unseen, amount: '777', decimals: 8, name: 'Unseen Token', symbol: 'UNSEEN', image: '' }
    ])
  })

  test('and cannot be read is said to be so, and spoils no other', async () => {
    const [looping, endless, without] = [addressAt(0xa0002), addressAt(0xa0003), addressAt(0xa0004)]
    await service.place(looping, assembleContract({ ...answers, [selectors.balanceOf]: loops }))
    await service.place(endless, assembleContract({ ...answers, [selectors.decimals]: returnsWord(256) }))
    await service.place(without, assembleContract({ ...answers, [selectors.balanceOf]: invalid }))
    const answer = await service.holdings(alice, [looping, endless, without, contract('gold')])
    expect(tokensOf(answer)).toEqual(tokensOf(await service.holdings(alice, [contract('gold')])))
    expect(answer.incomplete).toEqual([
      { address: looping, reason: 'BALANCE_UNREADABLE' },
      { address: endless, reason: 'DECIMALS_UNREADABLE' },
      { address: without, reason: 'BALANCE_UNREADABLE' }
    ])
  })
})

describe('what is no token contract is left out without a word:', () => {
  test.each([
    ['the zero address', () => addressAt(0)],
    ['an account', () => alice],
    ['the account that asks about itself', () => carol],
    ['an address that nobody has used', () => addressAt(0xdead)],
    ['a contract of another kind', () => contract('relay')],
    ['a contract without code', () => contract('empty')],
    ['a collection of NFTs of which the account has none', () => contract('art')]
  ])('%s', async (_what, address) => {
    const owner = evmAccount(service.driver.world, 'nobody').address
    const answer = await service.holdings(owner, [address()])
    expect(answer).toMatchObject({ tokens: [], nfts: [] })
    expect(answer).not.toHaveProperty('incomplete')
  })

  test('every precompiled function', async () => {
    const precompiled = Array.from({ length: 32 }, (_, i) => addressAt(i))
    const answer = await service.holdings(alice, precompiled)
    expect(answer).toMatchObject({ tokens: [], nfts: [] })
    expect(answer).not.toHaveProperty('incomplete')
    expect(BigInt(answer.native)).toBeGreaterThan(0n)
  })

  test('a contract that takes every call', async () => {
    const taking = addressAt(0xa0005)
    await service.place(taking, assembleContract({}, stops))
    const answer = await service.holdings(alice, [taking])
    expect(answer).toMatchObject({ tokens: [], nfts: [] })
    expect(answer).not.toHaveProperty('incomplete')
  })
})
