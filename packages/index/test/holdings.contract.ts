import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Address, HoldingCandidate } from '../src/model/evm.ts'
import { StoreError } from '../src/platform/errors.ts'
import { arbitraryLayout, arbitraryPlans } from './arbitraries.ts'
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

  test('each candidate comes once, whatever blocks and transactions repeat it', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryPlans, arbitraryLayout, async (plans, layout) => {
        const { store, writer, reader } = await start(layout)
        // The same transfers again under other names, so that every candidate repeats.
        const again = plans.map(block => block.map(plan => ({ ...plan, name: `${plan.name} again` })))
        const blocks = buildChain([...plans, ...again])
        for (const block of blocks) await commitChain(writer, [block])
        const all = plans.flat().flatMap(({ candidates = [] }) => candidates)
        for (const owner of people) {
          const expected = new Set(all.filter(candidate => candidate.owner === owner).map(text))
          const found = await readCandidates(reader, owner)
          expect(found).toHaveLength(expected.size)
          expect(new Set(found.map(text))).toEqual(expected)
          for (const [i, candidate] of found.slice(1).entries()) {
            const previous = found[i] ?? candidate
            expect(compareCandidates(previous, candidate)).toBeLessThan(0)
          }
        }
        await store.dispose()
      }),
      { numRuns: Math.ceil(25 * share) }
    )
  })

  test('they are ordered by contract, standard, then token id as a number, over all runs', async () => {
    const { writer, reader } = await start()
    const ids = [2n ** 256n - 1n, 0n, 256n, 1n, 255n, 65_536n]
    const candidates: readonly HoldingCandidate[] = [
      ...ids.map(tokenId => ({ owner: alice, contract: high, standard: 'erc721', tokenId }) as const),
      { owner: alice, contract: low, standard: 'erc20' },
      { owner: alice, contract: low, standard: 'erc1155', tokenId: 7n },
      { owner: alice, contract: low, standard: 'erc721', tokenId: 8n },
      { owner: bob, contract: low, standard: 'erc20' }
    ]
    const plans = candidates.map((candidate, i) => [
      { name: `${i}`, parties: [alice], candidates: [candidate] }
    ])
    for (const block of buildChain(plans)) await commitChain(writer, [block])
    const sorted = [0n, 1n, 255n, 256n, 65_536n, maxTokenId]
    expect(await readCandidates(reader, alice)).toStrictEqual([
      { owner: alice, contract: low, standard: 'erc20' },
      { owner: alice, contract: low, standard: 'erc721', tokenId: 8n },
      { owner: alice, contract: low, standard: 'erc1155', tokenId: 7n },
      ...sorted.map(tokenId => ({ owner: alice, contract: high, standard: 'erc721', tokenId }))
    ])
  })

  test('a range is read back exactly, behind the single id it begins with', async () => {
    const { writer, reader } = await start()
    const id = (tokenId: bigint) => ({ owner: alice, contract: low, standard: 'erc721' as const, tokenId })
    const range = (tokenId: bigint, lastTokenId: bigint) => ({ ...id(tokenId), lastTokenId })
    const sorted: readonly HoldingCandidate[] = [
      id(0n),
      range(0n, 1n),
      range(0n, maxTokenId),
      id(1n),
      range(1n, 255n),
      range(1n, 256n),
      range(255n, 256n),
      range(256n, 2n ** 128n),
      range(maxTokenId - 1n, maxTokenId),
      id(maxTokenId),
      { ...id(1n), standard: 'erc1155' }
    ]
    const plans = sorted
      .toReversed()
      .map((candidate, i) => [{ name: `${i}`, parties: [alice], candidates: [candidate] }])
    for (const block of buildChain(plans)) await commitChain(writer, [block])
    expect(await readCandidates(reader, alice)).toStrictEqual(sorted)
  })

  test('ranges of several blocks come each once, and go with the last block that has them', async () => {
    const { writer, reader } = await start()
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
    await commitChain(writer, blocks.slice(0, 3))
    await commitChain(writer, blocks.slice(3))
    expect(await readCandidates(reader, alice)).toStrictEqual([all, part])
    await writer.rollbackTo(blocks[1]!.ref)
    expect(await readCandidates(reader, alice)).toStrictEqual([all, part])
    await writer.rollbackTo(blocks[0]!.ref)
    expect(await readCandidates(reader, alice)).toStrictEqual([])
  })

  test('many candidates come in several chunks, none twice and none missing', async () => {
    const { writer, reader } = await start()
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

  test('a rollback takes those that only removed blocks have', async () => {
    const { writer, reader } = await start()
    const token = (tokenId: bigint) => ({ owner: alice, contract: low, standard: 'erc721', tokenId }) as const
    const blocks = buildChain([
      [{ name: 'a', parties: [alice], candidates: [token(9n)] }],
      [{ name: 'b', parties: [alice], candidates: [token(9n), token(10n)] }]
    ])
    await commitChain(writer, blocks)
    await writer.rollbackTo(blocks[0]!.ref)
    expect(await readCandidates(reader, alice)).toEqual([token(9n)])
    const parent = blocks[0]!.ref
    await commitChain(
      writer,
      buildChain([[{ name: 'c', parties: [alice], candidates: [token(11n)] }]], { parent, fork: 'b' })
    )
    expect(await readCandidates(reader, alice)).toEqual([token(9n), token(11n)])
    await writer.rollbackAll()
    expect(await readCandidates(reader, alice)).toEqual([])
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

/** By contract, standard, first id, then last; an id alone comes before the ranges that begin with it. */
function compareCandidates(a: HoldingCandidate, b: HoldingCandidate): number {
  const keyOf = ({ contract, standard, tokenId = -1n, lastTokenId = -1n }: HoldingCandidate) =>
    [
      BigInt(contract),
      BigInt(['erc20', 'erc721', 'erc1155'].indexOf(standard)),
      tokenId,
      lastTokenId
    ] as const
  const [first, second] = [keyOf(a), keyOf(b)]
  for (const [i, each] of first.entries()) {
    const other = second[i] ?? 0n
    if (each !== other) return each < other ? -1 : 1
  }
  return 0
}
