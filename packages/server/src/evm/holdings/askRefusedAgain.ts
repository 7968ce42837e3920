import type { Address } from '@chain-data/index'
import { roundRobin } from '../../platform/roundRobin.ts'
import type { Multicall } from '../state/multicall.ts'
import type { OwnedCandidate } from './heldAssets.ts'
import { ownershipReaders } from './tokenStandards.ts'

/** A candidate with what state says of it, and whether the contract refused (reverted) to answer. */
export interface AskedCandidate extends OwnedCandidate {
  readonly isRefusal: boolean
}

/** Maximum of contracts that are asked again. */
const maxContracts = 1_024
/** Maximum of refusals that are asked again because their contract has shown that it can answer. */
const maxRefusals = 1_000

/**
 * Asks again for what was refused, by calls that no contract makes. A refusal says that there is nothing to own; but when many reads
 * travel in one call, a contract that does not speak to contracts refuses too.
 *
 * Each contract is asked one question first. Where ids of ERC-721 were refused that is `balanceOf`, because any single id
 * may have been burnt; the refusals are believed when all of the balance has been found.
 *
 * @returns all of `asked`, in their order. Unreadable are refusals of contracts beyond the first 1,024, and, beyond the first
 *   1,000, those of contracts that answered where they had refused before.
 * @throws what `multicall` throws.
 * @remarks One call per contract with a refusal, at most 1,024; then one per refusal of those that are not believed.
 */
export async function askRefusedAgain(
  multicall: Multicall,
  asked: readonly AskedCandidate[]
): Promise<readonly OwnedCandidate[]> {
  const refused = asked.filter(({ isRefusal }) => isRefusal)
  const firsts = new Map<Address, AskedCandidate>()
  for (const each of refused) if (!firsts.has(each.contract)) firsts.set(each.contract, each)
  const samples = [...firsts.values()]
  const doubted = await findDoubted(multicall, samples.slice(0, maxContracts), asked)
  const notAsked = new Set(samples.slice(maxContracts).map(({ contract }) => contract))

  const doubtful = roundRobin(
    refused.filter(({ contract }) => doubted.has(contract)),
    ({ contract }) => contract
  )
  const again = doubtful.slice(0, maxRefusals)
  const answers = await askPlainly(multicall, again)
  const known = new Map(again.map((candidate, i) => [candidate, answers[i] ?? candidate]))
  for (const candidate of refused) {
    const { contract } = candidate
    const isOpen = notAsked.has(contract) || (doubted.has(contract) && !known.has(candidate))
    if (isOpen) known.set(candidate, { ...candidate, ownership: { kind: 'unreadable' } })
  }
  return asked.map(candidate => known.get(candidate) ?? candidate)
}

/** The contracts of `samples`, one each, whose refusals may have had another reason than that there is nothing. */
async function findDoubted(
  multicall: Multicall,
  samples: readonly AskedCandidate[],
  asked: readonly AskedCandidate[]
): Promise<ReadonlySet<Address>> {
  const found = new Map<Address, bigint>()
  for (const { contract, standard, ownership } of asked) {
    const isFound = standard === 'erc721' && ownership.kind === 'held'
    if (isFound) found.set(contract, (found.get(contract) ?? 0n) + 1n)
  }
  const doubted = new Set<Address>()
  // `balanceOf(address)` is the same call in ERC-20 and ERC-721.
  const questions = samples.map(
    (sample): AskedCandidate => (sample.standard === 'erc721' ? { ...sample, standard: 'erc20' } : sample)
  )
  const answers = await askPlainly(multicall, questions)
  answers.forEach(({ contract, ownership, isRefusal }, i) => {
    const isAccountedFor =
      samples[i]?.standard === 'erc721' &&
      ownership.kind !== 'unreadable' &&
      (ownership.kind !== 'held' || ownership.amount <= (found.get(contract) ?? 0n))
    if (!isRefusal && !isAccountedFor) doubted.add(contract)
  })
  return doubted
}

function askPlainly(
  multicall: Multicall,
  candidates: readonly OwnedCandidate[]
): Promise<readonly AskedCandidate[]> {
  const readerOf = ({ standard }: OwnedCandidate) => ownershipReaders[standard]
  return multicall.callAll(
    candidates,
    candidate => readerOf(candidate).call(candidate),
    (result, candidate) => ({
      ...candidate,
      ownership: readerOf(candidate).read(result, candidate),
      isRefusal: result.kind === 'reverted'
    }),
    { strategy: 'plain' }
  )
}
