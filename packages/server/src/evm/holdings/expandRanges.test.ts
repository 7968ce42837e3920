import type { Address } from '@chain-data/index'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { CallResult } from '../state/contractCalls.ts'
import type { Multicall } from '../state/multicall.ts'
import { createFactsMemory } from './contractFacts.ts'
import { expandRanges, type RangeLimits } from './expandRanges.ts'
import type { OwnedCandidate, WantedCandidate } from './heldAssets.ts'

const owner: Address = `0x${'a1'.repeat(20)}`
const stranger: Address = `0x${'b0'.repeat(20)}`
const maxId = 2n ** 256n - 1n
const contractOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const [nft, other] = [contractOf(1), contractOf(2)]

const word = (value: bigint | Address): CallResult => ({
  kind: 'returned',
  data: BigInt(value).toString(16).padStart(64, '0')
})
const empty: CallResult = { kind: 'returned', data: '' }
const reverted: CallResult = { kind: 'reverted' }
const failed: CallResult = { kind: 'failed' }

/** How a contract answers; by its own words everything else is refused. */
interface Behaviour {
  readonly balance: bigint | CallResult
  readonly ownerOf: (id: bigint, gas: number) => Address | CallResult
  readonly isErc721?: boolean
}

/** Plays the node: answers as the contracts would, and counts what is asked. */
function createWorld(contracts: Readonly<Record<Address, Behaviour>>) {
  const asked: { contract: Address; id: bigint; gas: number }[] = []
  let largestRound = 0
  const answer = (to: Address, data: string, gas: number): CallResult => {
    const contract = contracts[to]
    if (contract === undefined) return empty
    const selector = data.slice(0, 10)
    if (selector === '0x70a08231') {
      return typeof contract.balance === 'bigint' ? word(contract.balance) : contract.balance
    }
    if (selector === '0x6352211e') {
      const id = BigInt(`0x${data.slice(10)}`)
      asked.push({ contract: to, id, gas })
      const holder = contract.ownerOf(id, gas)
      return typeof holder === 'string' ? word(holder) : holder
    }
    const isAskedFor721 = data.startsWith('0x01ffc9a780ac58cd')
    return isAskedFor721 && contract.isErc721 !== undefined ? word(contract.isErc721 ? 1n : 0n) : reverted
  }
  const multicall: Multicall = {
    async callAll(items, callOf, read) {
      const calls = items.map(callOf)
      largestRound = Math.max(largestRound, calls.length)
      return calls.map(({ to, data, gas }, i) => read(answer(to, data, gas), items[i]!))
    }
  }
  const idsOf = (contract: Address) => asked.filter(look => look.contract === contract).map(({ id }) => id)
  return { multicall, asked, idsOf, largestRound: () => largestRound }
}

const range = (first: bigint, last: bigint, contract = nft): WantedCandidate => ({
  owner,
  contract,
  standard: 'erc721',
  tokenId: first,
  lastTokenId: last,
  origin: 'log'
})
const single = (tokenId: bigint, isHeld: boolean): OwnedCandidate => ({
  owner,
  contract: nft,
  standard: 'erc721',
  tokenId,
  origin: 'log',
  ownership: isHeld ? { kind: 'held', amount: 1n } : { kind: 'none' }
})
const ownsAll = () => owner
const notRead = (address: Address) => ({ address, reason: 'RANGE_NOT_READ' })

async function expand(
  world: ReturnType<typeof createWorld>,
  ranges: readonly WantedCandidate[],
  singles: readonly OwnedCandidate[] = [],
  limits?: RangeLimits
) {
  const { owned, incomplete } = await expandRanges(
    world.multicall,
    createFactsMemory()(undefined),
    ranges,
    singles,
    limits
  )
  const idsIn = (contract: Address) =>
    owned.filter(item => item.contract === contract).map(({ tokenId }) => tokenId)
  return { owned, incomplete, idsIn }
}

describe('expandRanges', () => {
  it('finds the ids that the owner holds, each as a candidate of its own', async () => {
    const world = createWorld({
      [nft]: { balance: 2n, ownerOf: id => (id === 3n || id === maxId ? owner : stranger) }
    })
    const { owned, incomplete } = await expand(world, [range(0n, 5n), range(maxId - 2n, maxId)])
    const held = { ...single(3n, true) }
    expect(owned).toStrictEqual([held, { ...held, tokenId: maxId }])
    expect(incomplete).toEqual([])
  })

  it('stops once the balance is found, however many ids are left', async () => {
    const world = createWorld({
      [nft]: { balance: 3n, ownerOf: id => (id >= 100n && id < 103n ? owner : stranger) }
    })
    const { idsIn, incomplete } = await expand(world, [range(0n, maxId)])
    expect(idsIn(nft)).toEqual([100n, 101n, 102n])
    expect(incomplete).toEqual([])
    expect(world.asked.length).toBeLessThan(300)
  })

  it('asks for nothing where the balance is zero, or the single ids are all of it', async () => {
    const world = createWorld({
      [nft]: { balance: 1n, ownerOf: ownsAll },
      [other]: { balance: 0n, ownerOf: ownsAll }
    })
    const found = await expand(world, [range(0n, maxId), range(0n, maxId, other)], [single(7n, true)])
    expect(found).toMatchObject({ owned: [], incomplete: [] })
    expect(world.asked).toEqual([])
  })

  it('does not ask again for ids that were asked for alone', async () => {
    const world = createWorld({ [nft]: { balance: 4n, ownerOf: ownsAll } })
    const { idsIn } = await expand(world, [range(0n, 3n)], [single(1n, true), single(2n, false)])
    expect(idsIn(nft)).toEqual([0n, 3n])
    expect(world.idsOf(nft)).toEqual([0n, 3n])
  })

  it('reads overlapping and touching ranges as one', async () => {
    const world = createWorld({ [nft]: { balance: maxId, ownerOf: ownsAll } })
    const ranges = Array.from({ length: 500 }, (_, i) => range(BigInt(i), BigInt(i + 3)))
    const { idsIn } = await expand(world, [...ranges.toReversed(), range(503n, 510n), range(4n, 9n)])
    const all = Array.from({ length: 511 }, (_, i) => BigInt(i))
    expect(idsIn(nft)).toEqual(all)
    expect(world.idsOf(nft)).toEqual(all)
  })

  it('is content when all ids were looked at, although the balance is higher', async () => {
    const world = createWorld({ [nft]: { balance: maxId, ownerOf: id => (id < 5n ? owner : stranger) } })
    const { idsIn, incomplete } = await expand(world, [range(0n, 2_999n)])
    expect(idsIn(nft)).toHaveLength(5)
    expect(incomplete).toEqual([])
    expect(world.asked).toHaveLength(3_000)
  })

  it('looks at 10,000 ids of a contract and names it when more are left', async () => {
    const world = createWorld({
      [nft]: { balance: maxId, ownerOf: () => stranger },
      [other]: { balance: maxId, ownerOf: () => stranger }
    })
    const found = await expand(world, [range(0n, maxId), range(1n, 10_000n, other)])
    expect(found.incomplete).toEqual([notRead(nft)])
    expect(world.idsOf(nft)).toHaveLength(10_000)
    expect(world.idsOf(other)).toHaveLength(10_000)
    expect(world.largestRound()).toBeLessThanOrEqual(2_000)
  })

  it('names every contract that has ids left once so many were found in all', async () => {
    const world = createWorld({
      [nft]: { balance: maxId, ownerOf: ownsAll },
      [other]: { balance: 2n, ownerOf: ownsAll }
    })
    const limits = { maxHeld: 50 }
    const found = await expand(world, [range(0n, maxId), range(0n, maxId, other)], [], limits)
    expect(found.idsIn(other)).toHaveLength(25)
    expect(found.owned).toHaveLength(50)
    expect(found.incomplete).toEqual([notRead(nft)])
  })

  it('ends at its time, and names what it has not looked at', async () => {
    const world = createWorld({ [nft]: { balance: 1n, ownerOf: ownsAll } })
    const found = await expand(world, [range(0n, 9n)], [], { untilMs: 1 })
    expect(found).toMatchObject({ owned: [], incomplete: [notRead(nft)] })
    expect(world.asked).toEqual([])
  })

  it('finds what an honest contract has, among a thousand that lie', async () => {
    const liars = Array.from({ length: 1_000 }, (_, i) => contractOf(1_000 + i))
    const world = createWorld({
      ...Object.fromEntries(liars.map(liar => [liar, { balance: maxId, ownerOf: () => stranger }])),
      [nft]: { balance: 2n, ownerOf: id => (id > 7n ? owner : stranger) }
    })
    const ranges = [...liars.map(liar => range(0n, maxId, liar)), range(0n, 9n)]
    const found = await expand(world, ranges, [], { maxIdsPerContract: 50 })
    expect(found.idsIn(nft)).toEqual([8n, 9n])
    expect(found.incomplete).toEqual(liars.map(notRead))
    expect(world.asked.length).toBeLessThanOrEqual(50 * 1_001)
  })
})

describe('a balance that cannot be had', () => {
  it.each([
    ['a revert', reverted],
    ['an empty return', empty]
  ])('%s: no token, unless ERC-165 speaks for one', async (_, balance) => {
    const world = createWorld({
      [nft]: { balance, ownerOf: ownsAll },
      [other]: { balance, ownerOf: ownsAll, isErc721: true }
    })
    const found = await expand(world, [range(0n, 9n), range(0n, 9n, other)])
    expect(found).toMatchObject({ owned: [], incomplete: [notRead(other)] })
    expect(world.asked).toEqual([])
  })

  it.each([
    ['a loop', failed],
    ['a short return', { kind: 'returned', data: 'ff' } as const]
  ])('%s: named, and not looked at', async (_, balance) => {
    const world = createWorld({ [nft]: { balance, ownerOf: ownsAll } })
    expect(await expand(world, [range(0n, 9n)])).toMatchObject({ owned: [], incomplete: [notRead(nft)] })
    expect(world.asked).toEqual([])
  })
})

describe('second looks', () => {
  /** ERC-721A walks back from an id to where its mint began. */
  const walkingBack =
    (first: bigint, outOfGas: CallResult) =>
    (id: bigint, gas: number): Address | CallResult =>
      Number(id - first) * 2_200 + 30_000 > gas ? outOfGas : owner

  it.each([
    ['runs out of gas', failed],
    ['reverts, as behind a proxy,', reverted]
  ])(
    'find every id of a mint of 5,000 whose owner is so dear that the first look %s',
    async (_, outOfGas) => {
      const world = createWorld({ [nft]: { balance: 5_000n, ownerOf: walkingBack(1n, outOfGas) } })
      const { idsIn, incomplete } = await expand(world, [range(1n, 5_000n)])
      expect(new Set(idsIn(nft)).size).toBe(5_000)
      expect(incomplete).toEqual([])
    }
  )

  it('are not spent on ids that do not exist, once nothing is left to find', async () => {
    const world = createWorld({
      [nft]: { balance: 1n, ownerOf: id => (id === 999n ? owner : reverted) }
    })
    const { idsIn, incomplete } = await expand(world, [range(0n, 999n)])
    expect(idsIn(nft)).toEqual([999n])
    expect(incomplete).toEqual([])
    expect(world.asked).toHaveLength(1_000)
  })

  it('take a contract at its word after 64 ids that it refuses twice', async () => {
    const world = createWorld({ [nft]: { balance: 2n, ownerOf: id => (id === 5n ? owner : reverted) } })
    const { idsIn, incomplete } = await expand(world, [range(0n, 4_999n)])
    expect(idsIn(nft)).toEqual([5n])
    expect(incomplete).toEqual([])
    expect(world.asked).toHaveLength(5_000 + 64)
  })

  it('end for a contract that burns all gas, which is named', async () => {
    const world = createWorld({
      [nft]: { balance: maxId, ownerOf: () => failed },
      [other]: { balance: 100n, ownerOf: ownsAll }
    })
    const found = await expand(world, [range(0n, maxId), range(0n, 99n, other)])
    expect(found.idsIn(other)).toHaveLength(100)
    expect(found.incomplete).toEqual([notRead(nft)])
    const burnt = world.asked
      .filter(({ contract }) => contract === nft)
      .reduce((sum, { gas }) => sum + gas, 0)
    expect(burnt).toBeLessThan(1_000_000_000)
  })

  it('end for a contract whose answers are no addresses, which is named', async () => {
    const world = createWorld({ [nft]: { balance: maxId, ownerOf: () => word(maxId) } })
    const found = await expand(world, [range(0n, maxId)])
    expect(found).toMatchObject({ owned: [], incomplete: [notRead(nft)] })
    expect(world.asked.length).toBeLessThanOrEqual(64)
  })
})

it('agrees with a look at every id, for any ranges, single ids and owners', async () => {
  const smallId = fc.bigInt({ min: 0n, max: 60n })
  const arbitraryRange = fc
    .tuple(smallId, smallId, fc.constantFrom(nft, other))
    .map(([a, b, contract]) => range(a < b ? a : b, (a < b ? b : a) + 1n, contract))
  await fc.assert(
    fc.asyncProperty(
      fc.array(arbitraryRange, { maxLength: 8 }),
      fc.uniqueArray(smallId, { maxLength: 10 }),
      fc.uniqueArray(smallId, { maxLength: 30 }),
      async (ranges, aloneIds, heldIds) => {
        const holder = (id: bigint) => (heldIds.includes(id) ? owner : id % 3n === 0n ? reverted : stranger)
        const behaviour = { balance: BigInt(heldIds.length), ownerOf: holder }
        const world = createWorld({ [nft]: behaviour, [other]: behaviour })
        const singles = aloneIds.map(id => single(id, heldIds.includes(id)))
        const { idsIn, incomplete } = await expand(world, ranges, singles)
        for (const contract of [nft, other]) {
          const expected = heldIds.filter(
            id =>
              !(contract === nft && aloneIds.includes(id)) &&
              ranges.some(
                at => at.contract === contract && at.tokenId! <= id && id <= (at.lastTokenId ?? -1n)
              )
          )
          expect(new Set(idsIn(contract))).toEqual(new Set(expected))
          expect(idsIn(contract)).toHaveLength(expected.length)
        }
        expect(incomplete).toEqual([])
      }
    )
  )
})
