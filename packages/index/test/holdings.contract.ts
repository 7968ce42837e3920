import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address, HoldingCandidate } from '../src/model/evm.ts'
import { StoreError } from '../src/platform/errors.ts'
import { arbitraryPlans } from './arbitraries.ts'
import { buildChain, people } from './buildChain.ts'
import { commitChain } from './commitChain.ts'
import { gather, readCandidates, withSnapshot } from './readAll.ts'
import type { OpenStore } from './store.contract.ts'
import { useStores } from './useStore.ts'

const [alice = '0x', bob = '0x', low = '0x', high = '0x']: readonly Address[] = people

const text = ({ owner, contract, standard, tokenId, lastTokenId }: HoldingCandidate) =>
  `${owner} ${contract} ${standard} ${tokenId ?? '-'} ${lastTokenId ?? '-'}`

const maxTokenId = 2n ** 256n - 1n

/** What an owner may hold, as transfer logs hinted. */
export function describeHoldings(open: OpenStore, share = 1): void {
  const { start } = useStores(open)

  test('each candidate comes once, whatever epochs and transactions repeat it', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPlans, fc.integer({ min: 1, max: 4 }), async (plans, epochTransactions) => {
        const { store, writer, reader } = await start({ epochTransactions })
        // The same transfers again under other names, so that every candidate repeats.
        const again = plans.map(block => block.map(plan => ({ ...plan, name: `${plan.name} again` })))
        await commitChain(writer, buildChain([...plans, ...again]))
        const all = plans.flat().flatMap(({ candidates = [] }) => candidates)
        for (const owner of people) {
          const expected = new Set(all.filter(candidate => candidate.owner === owner).map(text))
          const found = await readCandidates(reader, owner)
          expect(found).toHaveLength(expected.size)
          expect(new Set(found.map(text))).toEqual(expected)
          for (const [i, candidate] of found.slice(1).entries()) {
            const previous = found[i] ?? candidate
            const sameContract = previous.contract === candidate.contract
            if (!sameContract) expect(previous.contract < candidate.contract).toBe(true)
            else expect(compareIds(previous, candidate)).toBeLessThanOrEqual(0)
          }
        }
        await store.dispose()
      }),
      { numRuns: Math.ceil(25 * share) }
    )
  })

  test('they are ordered by contract, then by token id as a number, over all epochs', async () => {
    const { writer, reader } = await start({ epochTransactions: 1 })
    const ids = [2n ** 256n - 1n, 0n, 256n, 1n, 255n, 65_536n]
    const candidates: readonly HoldingCandidate[] = [
      ...ids.map(tokenId => ({ owner: alice, contract: high, standard: 'erc721', tokenId }) as const),
      { owner: alice, contract: low, standard: 'erc20' },
      { owner: alice, contract: low, standard: 'erc1155', tokenId: 7n },
      { owner: bob, contract: low, standard: 'erc20' }
    ]
    await commitChain(
      writer,
      buildChain(
        candidates.map((candidate, i) => [{ name: `${i}`, parties: [alice], candidates: [candidate] }])
      )
    )
    const sorted = [0n, 1n, 255n, 256n, 65_536n, maxTokenId]
    expect(await readCandidates(reader, alice)).toStrictEqual([
      { owner: alice, contract: low, standard: 'erc20' },
      { owner: alice, contract: low, standard: 'erc1155', tokenId: 7n },
      ...sorted.map(tokenId => ({ owner: alice, contract: high, standard: 'erc721', tokenId }))
    ])
  })

  test('a range is read back exactly, behind the single id it begins with', async () => {
    const { writer, reader } = await start({ epochTransactions: 1 })
    const id = (tokenId: bigint) => ({ owner: alice, contract: low, standard: 'erc721' as const, tokenId })
    const range = (tokenId: bigint, lastTokenId: bigint) => ({ ...id(tokenId), lastTokenId })
    const sorted: readonly HoldingCandidate[] = [
      id(0n),
      range(0n, 1n),
      range(0n, maxTokenId),
      id(1n),
      { ...id(1n), standard: 'erc1155' },
      range(1n, 255n),
      range(1n, 256n),
      range(255n, 256n),
      range(256n, 2n ** 128n),
      range(maxTokenId - 1n, maxTokenId),
      id(maxTokenId)
    ]
    await commitChain(
      writer,
      buildChain(
        sorted
          .toReversed()
          .map((candidate, i) => [{ name: `${i}`, parties: [alice], candidates: [candidate] }])
      )
    )
    expect(await readCandidates(reader, alice)).toStrictEqual(sorted)
  })

  test('ranges of several epochs come each once, a rollback leaves them', async () => {
    const { writer, reader } = await start({ epochTransactions: 1 })
    const all = {
      owner: alice,
      contract: low,
      standard: 'erc721',
      tokenId: 0n,
      lastTokenId: maxTokenId
    } as const
    const part = { ...all, tokenId: 5n, lastTokenId: 9n }
    const blocks = buildChain([
      [{ name: 'a', parties: [bob] }],
      ...Array.from({ length: 4 }, (_, i) => [
        { name: `${i}`, parties: [alice], candidates: [part, all, part] }
      ])
    ])
    await commitChain(writer, blocks)
    expect(await readCandidates(reader, alice)).toStrictEqual([all, part])
    await writer.rollbackTo(blocks[0]?.ref ?? { number: -1, hash: '0x' })
    expect(await readCandidates(reader, alice)).toStrictEqual([all, part])
  })

  test('many candidates come in several chunks, none twice and none missing', async () => {
    const { writer, reader } = await start({ epochTransactions: 3 })
    const plans = Array.from({ length: 10 }, (_, block) => [
      {
        name: `${block}`,
        parties: [alice],
        candidates: Array.from({ length: 300 }, (_, i) => ({
          owner: alice,
          contract: low,
          standard: 'erc721' as const,
          tokenId: BigInt(block * 150 + i)
        }))
      }
    ])
    await commitChain(writer, buildChain(plans))
    await withSnapshot(reader, async snapshot => {
      let chunks = 0
      const ids: (bigint | undefined)[] = []
      for await (const chunk of snapshot.holdingCandidates(alice)) {
        chunks++
        ids.push(...chunk.map(({ tokenId }) => tokenId))
      }
      expect(chunks).toBeGreaterThan(1)
      expect(ids).toEqual(Array.from({ length: 9 * 150 + 300 }, (_, i) => BigInt(i)))
    })
  })

  test('a rollback leaves them: they are hints', async () => {
    const { writer, reader } = await start({ epochTransactions: 1 })
    const candidate: HoldingCandidate = { owner: alice, contract: low, standard: 'erc721', tokenId: 9n }
    const blocks = buildChain([
      [{ name: 'a', parties: [bob] }],
      [{ name: 'b', parties: [alice], candidates: [candidate] }]
    ])
    await commitChain(writer, blocks)
    await writer.rollbackTo(blocks[0]?.ref ?? { number: -1, hash: '0x' })
    expect(await readCandidates(reader, alice)).toEqual([candidate])
    await writer.rollbackAll()
    expect(await readCandidates(reader, alice)).toEqual([candidate])
  })

  test('a snapshot does not see candidates of later blocks', async () => {
    const { writer, reader } = await start()
    const blocks = buildChain([
      [],
      [{ name: 'b', parties: [alice], candidates: [{ owner: alice, contract: low, standard: 'erc20' }] }]
    ])
    await commitChain(writer, blocks.slice(0, 1))
    await withSnapshot(reader, async snapshot => {
      await commitChain(writer, blocks.slice(1))
      expect(await gather(snapshot.holdingCandidates(alice))).toEqual([])
    })
  })

  test.each<[string, Partial<HoldingCandidate>]>([
    ['an erc721 without token id', { standard: 'erc721' }],
    ['an erc20 with token id', { standard: 'erc20', tokenId: 1n }],
    ['a token id beyond 256 bits', { standard: 'erc721', tokenId: 2n ** 256n }],
    ['a range of ids beyond 256 bits', { standard: 'erc721', tokenId: 0n, lastTokenId: 2n ** 256n }],
    ['a range of one id', { standard: 'erc721', tokenId: 1n, lastTokenId: 1n }],
    ['a range that descends', { standard: 'erc721', tokenId: 1n, lastTokenId: 0n }],
    ['a range without first id', { standard: 'erc721', lastTokenId: 1n }],
    ['a range of erc1155 ids', { standard: 'erc1155', tokenId: 1n, lastTokenId: 2n }]
  ])('%s is refused', async (_, change) => {
    const { writer } = await start()
    const candidate = { owner: alice, contract: low, standard: 'erc20' as const, ...change }
    const blocks = buildChain([[{ name: 'a', parties: [alice], candidates: [candidate] }]])
    await expect(commitChain(writer, blocks)).rejects.toThrow(StoreError)
  })
}

/** By first id, then by last; an id alone comes before the ranges that begin with it. */
function compareIds(a: HoldingCandidate, b: HoldingCandidate): number {
  const [first, second] = [a.tokenId ?? -1n, b.tokenId ?? -1n]
  if (first !== second) return first < second ? -1 : 1
  const [lastA, lastB] = [a.lastTokenId ?? -1n, b.lastTokenId ?? -1n]
  return lastA < lastB ? -1 : lastA > lastB ? 1 : 0
}
