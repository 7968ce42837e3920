import type { Address } from '../../model/evm.ts'
import type { OwnedCandidate } from './heldAssets.ts'
import type { Multicall } from './multicall.ts'
import { ownershipReaders } from './ownershipReaders.ts'

/** What state said about a candidate, and whether the contract refused (reverted) to say it. */
export interface AskedCandidate extends OwnedCandidate {
  readonly isRefusal: boolean
}

/** Contracts of which one refusal is looked at again. */
const maxContracts = 256
/** Refusals that are looked at again because their contract has shown that it can answer. */
const maxRefusals = 1_000

/**
 * Looks at refusals again, by calls that come from nobody. A refusal says that there is nothing to own; but when many reads
 * travel in one call, a contract that does not speak to contracts refuses too.
 *
 * @returns all of `asked`, in their order. Of a contract that answered where it had refused before, refusals beyond the
 *   first 1,000 are unreadable.
 * @throws what `multicall` throws.
 * @remarks One call per contract with a refusal, at most 256; then one per refusal of those that answered.
 */
export async function askRefusedAgain(
  multicall: Multicall,
  asked: readonly AskedCandidate[]
): Promise<readonly OwnedCandidate[]> {
  const samples = new Map<Address, AskedCandidate>()
  for (const candidate of asked) {
    if (!candidate.isRefusal || samples.has(candidate.contract) || samples.size >= maxContracts) continue
    samples.set(candidate.contract, candidate)
  }
  const answered = new Set<Address>()
  for (const { contract, isRefusal } of await askPlainly(multicall, [...samples.values()])) {
    if (!isRefusal) answered.add(contract)
  }
  if (answered.size === 0) return asked
  const doubtful = asked.filter(({ isRefusal, contract }) => isRefusal && answered.has(contract))
  const known = new Map<OwnedCandidate, OwnedCandidate>()
  const again = doubtful.slice(0, maxRefusals)
  const answers = await askPlainly(multicall, again)
  doubtful.forEach((candidate, i) => {
    known.set(candidate, answers[i] ?? { ...candidate, ownership: { kind: 'unreadable' } })
  })
  return asked.map(candidate => known.get(candidate) ?? candidate)
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
    { way: 'plain' }
  )
}
