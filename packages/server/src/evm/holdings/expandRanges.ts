import type { Address } from '@chain-data/index'
import type { Multicall } from '../state/multicall.ts'
import { askRefusedAgain } from './askRefusedAgain.ts'
import type { ContractFactsReader } from './contractFacts.ts'
import type { IncompleteHolding, OwnedCandidate, WantedCandidate } from './heldAssets.ts'
import { mergeRanges, RangeWalk, type ReadDepth } from './RangeWalk.ts'
import { balanceGas, erc20Ownership, erc721Ownership } from './tokenStandards.ts'

export interface RangeLimits {
  /** Ids of one contract that are asked for, apart from those that a log named alone. */
  readonly maxIdsPerContract?: number | undefined
  /** Ids found in all ranges together: each of them costs further reads. */
  readonly maxHeld?: number | undefined
  /** `Date.now()` after which no further ids are asked for, so that the rest of the answer has its time too. */
  readonly untilMs?: number | undefined
}

/** The two reads of an id: how much gas each may burn, and how many ids are read in one round. */
const reads: Readonly<Record<ReadDepth, { readonly gas: number; readonly idsPerRound: number }>> = {
  first: { gas: balanceGas, idsPerRound: 2_000 },
  // ERC-721A walks back from the id to the start of its mint, storage slot by storage slot; it allows mints of 5,000.
  second: { gas: 12_000_000, idsPerRound: 64 }
}

/**
 * Finds which ids of the ranges their candidates' owner holds. A range is a claim that cost its contract one log, and
 * may name 2^256 ids; how many are asked for is bounded by what the contract's own `balanceOf` says, by the limits,
 * and by what its `ownerOf` costs. Contracts are read in turn, so that one cannot use up the reads of another.
 *
 * A contract whose `balanceOf` is silent counts as no token, unless ERC-165 says that it is ERC-721.
 *
 * @param ranges - candidates with `lastTokenId`, of one owner; may overlap.
 * @param singles - what state said about the candidates without: they are not asked for again, and count as found.
 * @returns `owned`: held ids, in no order. `incomplete`: contracts that have ids left over which the owner may hold
 *   (RANGE_NOT_READ).
 * @throws what `multicall` throws.
 * @remarks One call per contract, then one per id, a second one where the first was refused or too short of gas.
 * @see EIP-2309
 */
export async function expandRanges(
  multicall: Multicall,
  contractFacts: ContractFactsReader,
  ranges: readonly WantedCandidate[],
  singles: readonly OwnedCandidate[],
  limits: RangeLimits = {}
): Promise<{ readonly owned: readonly OwnedCandidate[]; readonly incomplete: readonly IncompleteHolding[] }> {
  const { maxIdsPerContract = 10_000, maxHeld = 10_000, untilMs = Number.POSITIVE_INFINITY } = limits
  const rangesOf = byContract(ranges)
  const singlesOf = byContract(
    singles.filter(({ standard, contract }) => standard === 'erc721' && rangesOf.has(contract))
  )
  const { walks, unknown } = await startWalks()
  const heldCount = () => walks.reduce((sum, { held }) => sum + held.length, 0)
  for (const depth of ['first', 'second'] as const) {
    const { gas, idsPerRound } = reads[depth]
    let open = walks.filter(walk => walk.isOpen(depth))
    while (open.length > 0 && Date.now() < untilMs) {
      const room = Math.min(idsPerRound, maxHeld - heldCount())
      if (room <= 0) break
      const turn = open.splice(0, room)
      const share = Math.floor(room / turn.length)
      const asked = turn.flatMap(walk => walk.take(depth, share).map(candidate => ({ walk, candidate })))
      await multicall.callAll(
        asked,
        ({ candidate }) => ({ ...erc721Ownership.call(candidate), gas }),
        (result, { walk, candidate }) => walk.note(depth, candidate, result),
        // A contract may refuse calls by contracts.
        depth === 'second' ? { strategy: 'plain' } : {}
      )
      open = [...open, ...turn].filter(walk => walk.isOpen(depth))
    }
  }
  for (const walk of walks) if (walk.isUnfinished()) unknown.add(walk.contract)
  return {
    owned: walks.flatMap(({ held }) => held),
    incomplete: [...unknown].map(address => ({ address, reason: 'RANGE_NOT_READ' }))
  }

  /** A walk for each contract that has a balance; `unknown` are those that could not say. */
  async function startWalks(): Promise<{
    readonly walks: readonly RangeWalk[]
    readonly unknown: Set<Address>
  }> {
    const started: RangeWalk[] = []
    const unreadable = new Set<Address>()
    const silent = new Set<Address>()
    const candidates = [...rangesOf.values()].flatMap(([any]) => any ?? [])
    // `balanceOf(address)` is the same call in both standards.
    const asked = await multicall.callAll(candidates, erc20Ownership.call, (result, candidate) => ({
      ...candidate,
      standard: 'erc20' as const,
      ownership: erc20Ownership.read(result, candidate),
      isRefusal: result.kind === 'reverted'
    }))
    for (const { contract, ownership: balance } of await askRefusedAgain(multicall, asked)) {
      if (balance.kind === 'unreadable') unreadable.add(contract)
      if (balance.kind === 'silent') silent.add(contract)
      const [candidate] = rangesOf.get(contract) ?? []
      if (balance.kind !== 'held' || candidate === undefined) continue
      const known = singlesOf.get(contract) ?? []
      const found = known.filter(({ ownership }) => ownership.kind === 'held').length
      started.push(
        new RangeWalk(candidate, {
          ranges: mergeRanges(rangesOf.get(contract) ?? []),
          passOver: new Set(known.map(({ tokenId }) => tokenId)),
          wanted: balance.amount - BigInt(found),
          maxIds: maxIdsPerContract
        })
      )
    }
    const facts = await contractFacts.read(multicall, silent, ['isErc721'])
    for (const [contract, { isErc721 }] of facts) if (isErc721) unreadable.add(contract)
    return { walks: started, unknown: unreadable }
  }
}

function byContract<T extends { readonly contract: Address }>(
  items: readonly T[]
): ReadonlyMap<Address, readonly T[]> {
  const groups = new Map<Address, T[]>()
  for (const item of items) {
    const group = groups.get(item.contract)
    if (group === undefined) groups.set(item.contract, [item])
    else group.push(item)
  }
  return groups
}
