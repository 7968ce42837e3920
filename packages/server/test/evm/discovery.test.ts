import type { EvmHoldings } from '@chain-data/protocol'
import { id } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ContractWorld, type DeployedContract, startContractWorld } from './startContractWorld.ts'

const maxId = 2n ** 256n - 1n
const ether = 10n ** 18n

let world: ContractWorld
let sender: string

beforeAll(async () => {
  world = await startContractWorld()
  sender = world.accounts[0] ?? ''
})
afterAll(() => world?.close())

let addresses = 0
/** An account that has never done anything. */
const someone = () => `0x5e${(++addresses).toString(16).padStart(38, '0')}`

const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase()

/** Ids and balances that an answer lists of one collection, in its order. */
function nftsIn({ nfts }: EvmHoldings, contract: DeployedContract): readonly (readonly [string, string])[] {
  return nfts
    .filter(({ address }) => same(address, contract.address))
    .map(({ tokenId, tokenBalance }) => [tokenId, tokenBalance] as const)
}

function amountIn({ tokens }: EvmHoldings, contract: DeployedContract): string | undefined {
  return tokens.find(({ address }) => same(address, contract.address))?.amount
}

describe('wrapped native currency', () => {
  test('is found for an account that only wrapped it', async () => {
    const [, , , wrapper = ''] = world.accounts
    const weth = await world.deploy('Wrapped')
    const deposit = await world.send(wrapper, weth, 'deposit', [], 3n * ether)
    const found = await world.holdings(wrapper)
    expect(found.tokens).toMatchObject([{ amount: (3n * ether).toString(), symbol: 'WETH', decimals: 18 }])
    expect(found.nfts).toEqual([])
    expect(found.incomplete).toBeUndefined()
    expect(await world.history(wrapper)).toEqual([deposit])
  })

  test('on behalf of another account is found for it, and is not in its history', async () => {
    const weth = await world.deploy('Wrapped')
    const owner = someone()
    await world.send(sender, weth, 'depositFor', [owner], 2n * ether)
    expect(amountIn(await world.holdings(owner), weth)).toBe((2n * ether).toString())
    expect(await world.history(owner)).toEqual([])
  })
})

describe('ERC-1155', () => {
  test('minted while the contract is created belongs to a holder that never did anything', async () => {
    const holder = someone()
    const token = await world.deploy('BirthMultiToken', [holder, maxId, 7n])
    const found = await world.holdings(holder)
    expect(nftsIn(found, token)).toEqual([[maxId.toString(), '7']])
    expect(found.nfts).toMatchObject([{ isSemiFungible: true }])
  })

  test('minted in a batch belongs to a holder that never did anything, each id with its balance', async () => {
    const token = await world.deploy('BirthMultiToken', [someone(), 1n, 1n])
    const holder = someone()
    await world.send(sender, token, 'mintBatch', [holder, [5n, 0n, maxId, 5n], [1n, maxId, 3n, 1n]])
    const found = await world.holdings(holder)
    expect(nftsIn(found, token)).toEqual([
      ['0', maxId.toString()],
      ['5', '2'],
      [maxId.toString(), '3']
    ])
  })

  test('named by lists of different length is not believed, as a whole', async () => {
    const token = await world.deploy('BirthMultiToken', [someone(), 1n, 1n])
    const holder = someone()
    await world.send(sender, token, 'mintUnequal', [holder, [1n, 2n], [1n]])
    await world.send(sender, token, 'mintUnequal', [holder, [1n], [1n, 1n, 1n]])
    expect(await world.holdings(holder)).toMatchObject({ tokens: [], nfts: [] })
    expect(await world.history(holder)).toEqual([])
    // The same contract is read as soon as one log is sound.
    await world.send(sender, token, 'mintBatch', [holder, [2n], [5n]])
    expect(nftsIn(await world.holdings(holder), token)).toEqual([['2', '6']])
  })
})

describe('a collection from before ERC-721', () => {
  test('is found where it went, with any id, and gone where it left', async () => {
    const kitties = await world.deploy('Kitties')
    const [, , from = ''] = world.accounts
    const to = someone()
    for (const tokenId of [0n, 9n, maxId]) await world.send(sender, kitties, 'transfer', [from, tokenId])
    const moved = await world.send(from, kitties, 'transfer', [to, maxId])
    expect(nftsIn(await world.holdings(from), kitties)).toEqual([
      ['0', '1'],
      ['9', '1']
    ])
    const received = await world.holdings(to)
    expect(nftsIn(received, kitties)).toEqual([[maxId.toString(), '1']])
    expect(received.nfts).toMatchObject([{ symbol: 'CK', isSemiFungible: false }])
    expect(await world.history(to)).toEqual([moved])
  })
})

describe('logs that lie', () => {
  const transfer = id('Transfer(address,address,uint256)')
  const consecutive = id('ConsecutiveTransfer(uint256,uint256,address,address)')
  const deposit = id('Deposit(address,uint256)')
  const word = (value: bigint | string) => `0x${BigInt(value).toString(16).padStart(64, '0')}`

  test('with an address that has dirt above it, or of no known shape, are hints for nobody', async () => {
    const claims = await world.deploy('Claims')
    const victim = someone()
    const dirty = word(BigInt(victim) + 2n ** 200n)
    for (const [topics, data] of [
      [[transfer, word(sender), dirty], word(1n)],
      [[transfer, word(sender), dirty, word(1n)], '0x'],
      [[transfer, word(sender), word(victim)], '0x'],
      [[transfer, word(sender), word(victim), word(1n)], word(1n)],
      [[consecutive, word(0n), word(sender), dirty], word(9n)],
      [[consecutive, word(9n), word(sender), word(victim)], word(0n)],
      [[consecutive, word(0n), word(sender), word(victim)], '0x'],
      [[deposit, dirty], word(1n)],
      [[deposit], word(victim) + word(1n).slice(2)],
      [[], word(victim)]
    ] as const) {
      await world.send(sender, claims, 'logRaw', [topics, data])
    }
    const found = await world.holdings(victim)
    expect(found).toMatchObject({ native: '0', tokens: [], nfts: [] })
    expect(found.incomplete).toBeUndefined()
    expect(await world.history(victim)).toEqual([])
  })

  test('of a transaction that failed are hints for nobody', async () => {
    const claims = await world.deploy('Claims')
    const victim = someone()
    const failed = await world.send(sender, claims, 'claimAndRevert', [victim])
    const found = await world.holdings(victim)
    expect(found).toMatchObject({ tokens: [], nfts: [] })
    expect(found.incomplete).toBeUndefined()
    expect(await world.history(victim)).toEqual([])
    expect(await world.history(sender)).toContain(failed)
  })
})

describe('an index that begins late', () => {
  test('finds what senders and unwrappers kept of what they had before', async () => {
    const late = await startContractWorld({ startBlock: 4 })
    try {
      const [, first = '', second = ''] = late.accounts
      const weth = await late.deploy('Wrapped')
      await late.send(first, weth, 'deposit', [], 5n * ether)
      await late.send(second, weth, 'deposit', [], 5n * ether)
      // These were blocks 1 to 3; what follows is all that the index knows.
      await late.send(first, weth, 'transfer', [someone(), ether])
      await late.send(second, weth, 'withdraw', [2n * ether])
      const only = [weth.address]
      expect(amountIn(await late.holdings(first), weth)).toBe((4n * ether).toString())
      expect(amountIn(await late.holdings(second, only), weth)).toBe((3n * ether).toString())
      expect(amountIn(await late.holdings(second), weth)).toBe((3n * ether).toString())
    } finally {
      await late.close()
    }
  })
})
