import type { EvmHoldings } from '@chain-data/protocol'
import { getAddress } from 'ethers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type ContractWorld, type DeployedContract, startContractWorld } from './startContractWorld.ts'

const maxId = 2n ** 256n - 1n

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

/** Ids that an answer lists of one collection, in its order. */
function idsIn({ nfts }: EvmHoldings, { address }: DeployedContract): readonly bigint[] {
  return nfts.filter(nft => nft.address === getAddress(address)).map(({ tokenId }) => BigInt(tokenId))
}

const fromTo = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, i) => BigInt(first + i))

describe('an ERC-721A-style collection that mints 5,000 with one log', () => {
  const [alice, bob, carol] = [someone(), someone(), someone()]
  /** Further ids that go to bob. The owner of an id is looked for from there back to the id that was moved before it. */
  const everySome = Array.from({ length: 19 }, (_, i) => BigInt(250 * (i + 1)))
  let treasury: string
  let nft: DeployedContract
  let moves: string[]

  beforeAll(async () => {
    treasury = world.accounts[1] ?? ''
    nft = await world.deploy('WalkingNft', [treasury, 1n, 5_000n])
    moves = []
    for (const [to, tokenId] of [
      [alice, 1n],
      ...everySome.map(tokenId => [bob, tokenId] as const),
      [alice, 5_000n]
    ] as const) {
      moves.push(await world.send(treasury, nft, 'transfer', [to, tokenId]))
    }
    moves.push(await world.send(treasury, nft, 'transferRange', [carol, 100n, 120n]))
  })

  test('belongs to the minter, but for what was moved, to the last id', async () => {
    const moved = new Set([1n, 5_000n, ...everySome, ...fromTo(100, 120)])
    const found = await world.holdings(treasury)
    expect(idsIn(found, nft)).toEqual(fromTo(1, 5_000).filter(tokenId => !moved.has(tokenId)))
    expect(found.incomplete).toBeUndefined()
  })

  test('belongs to each receiver as far as it went there, alone or as a range', async () => {
    expect(idsIn(await world.holdings(alice), nft)).toEqual([1n, 5_000n])
    expect(idsIn(await world.holdings(bob), nft)).toEqual(everySome)
    expect(idsIn(await world.holdings(carol), nft)).toEqual(fromTo(100, 120))
  })

  test('is in the history of everyone who sent or received, also by a range', async () => {
    expect(await world.history(carol)).toEqual([moves.at(-1)])
    expect(await world.history(alice)).toEqual([moves.at(-2), moves[0]])
    const [minted, ...sent] = (await world.history(treasury)).toReversed()
    expect(minted).toMatch(/^0x/)
    expect(sent).toEqual(moves)
  })

  test('is one row of the index for each range', async () => {
    const all = await world.candidates(carol)
    expect(all).toEqual([
      {
        owner: carol,
        contract: nft.address.toLowerCase(),
        standard: 'erc721',
        tokenId: 100n,
        lastTokenId: 120n
      }
    ])
    expect(await world.candidates(treasury)).toHaveLength(1)
  })
})

test('a range that ends at the largest id there is, is read to its end', async () => {
  const holder = someone()
  const nft = await world.deploy('WalkingNft', [holder, maxId - 9n, maxId])
  expect(idsIn(await world.holdings(holder), nft)).toEqual(fromTo(0, 9).map(i => maxId - 9n + i))
})

describe('a contract that claims every id there is, and 12,000 ranges more', () => {
  const victim = someone()
  let claims: DeployedContract
  let honest: DeployedContract

  beforeAll(async () => {
    claims = await world.deploy('Claims')
    honest = await world.deploy('WalkingNft', [victim, 0n, 9n])
    await world.send(sender, claims, 'claim', [victim, 0n, maxId])
    for (const first of [0n, 5_000n, 7_000n]) {
      await world.send(sender, claims, 'claimMany', [victim, first, 5_000n, 1n, 1_000n])
    }
  })

  test('is named, and keeps nothing of an honest collection from the answer', async () => {
    const found = await world.holdings(victim)
    expect(idsIn(found, honest)).toEqual(fromTo(0, 9))
    expect(found.nfts).toHaveLength(10)
    expect(found.incomplete).toEqual([{ address: getAddress(claims.address), reason: 'RANGE_NOT_READ' }])
  })

  test('costs the index no more rows than it logged', async () => {
    // Of the last 5,000 ranges 3,000 are the same as before.
    expect(await world.candidates(victim)).toHaveLength(1 + 12_000 + 1)
  })

  test('is not looked at when others are asked for', async () => {
    const others = await world.holdings(victim, [honest.address])
    expect(idsIn(others, honest)).toEqual(fromTo(0, 9))
    expect(others.incomplete).toBeUndefined()
    const it = await world.holdings(victim, [claims.address])
    expect(it).toMatchObject({ nfts: [], incomplete: [{ reason: 'RANGE_NOT_READ' }] })
    expect(await world.holdings(victim, [someone()])).not.toHaveProperty('incomplete')
  })
})

test('ranges of a block that a reorg removed leave no ghost', async () => {
  const holder = someone()
  const kept = await world.deploy('WalkingNft', [holder, 0n, 2n])
  const undone = await world.deploy('WalkingNft', [holder, 0n, 2n])
  const before = await world.holdings(holder)
  expect([idsIn(before, kept), idsIn(before, undone)]).toEqual([fromTo(0, 2), fromTo(0, 2)])
  await world.rpc('anvil_rollback', 1)
  await world.rpc('anvil_mine', '0x2')
  const after = await world.holdings(holder)
  expect(idsIn(after, kept)).toEqual(fromTo(0, 2))
  expect(after.nfts).toHaveLength(3)
  expect(after.incomplete).toBeUndefined()
  expect(await world.candidates(holder)).toHaveLength(1)
})
