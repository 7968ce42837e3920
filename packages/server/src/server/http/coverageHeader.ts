import type { AnswerCoverage } from '../../model/coverage.ts'

/** Largest integer of a structured header (RFC 9651, section 3.3.1). */
const largestInteger = 999_999_999_999_999

/**
 * Builds the header that says what an answer covers: a list of chain ids with parameters (RFC 9651), such as
 * `31337;from=0;to=128;transfers=0;internal=0;deep=none`, each chain once.
 *
 * @param told - what the methods reported, of a batch each entry by itself.
 * @returns no header where nothing was reported. A chain whose numbers do not fit into such a header is left out of it.
 */
export function coverageHeader(told: readonly AnswerCoverage[]): Record<string, string> {
  const members = narrowestCoverage(told)
    .map(toMember)
    .filter(member => member !== undefined)
  return members.length === 0 ? {} : { 'x-chain-data-coverage': members.join(', ') }
}

function toMember(coverage: AnswerCoverage): string | undefined {
  const { chainId, from, to, transfersFrom, internalFrom, deepHistory } = coverage
  const numbers = Object.entries({ from, to, transfers: transfersFrom, internal: internalFrom })
  const all = [chainId, ...numbers.map(([, value]) => value ?? 0)]
  if (all.some(value => !(Number.isInteger(value) && value >= 0 && value <= largestInteger))) return undefined
  const parameters = numbers
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `;${name}=${value}`)
  return `${chainId}${parameters.join('')}${deepHistory === undefined ? '' : `;deep=${deepHistory}`}`
}

/**
 * What holds for all of these answers: each chain once, by chain id. Two answers about one chain may come from two states of
 * its index; then no more is said than both cover.
 */
function narrowestCoverage(told: readonly AnswerCoverage[]): readonly AnswerCoverage[] {
  const byChain = new Map<number, AnswerCoverage>()
  for (const coverage of told) {
    const known = byChain.get(coverage.chainId)
    byChain.set(coverage.chainId, known === undefined ? coverage : narrower(known, coverage))
  }
  return [...byChain.values()].sort((one, other) => one.chainId - other.chainId)
}

function narrower(one: AnswerCoverage, other: AnswerCoverage): AnswerCoverage {
  const from = both(one.from, other.from, Math.max)
  const to = both(one.to, other.to, Math.min)
  const transfersFrom = both(one.transfersFrom, other.transfersFrom, Math.max)
  const internalFrom = both(one.internalFrom, other.internalFrom, Math.max)
  const deepHistory = [one, other].some(({ deepHistory }) => deepHistory === 'none')
    ? 'none'
    : (one.deepHistory ?? other.deepHistory)
  return {
    chainId: one.chainId,
    // No block is in both: so many were removed between the two.
    ...(from === undefined || to === undefined || from > to ? {} : { from, to }),
    ...(transfersFrom === undefined ? {} : { transfersFrom }),
    ...(internalFrom === undefined ? {} : { internalFrom }),
    ...(deepHistory === undefined ? {} : { deepHistory })
  }
}

function both(
  one: number | undefined,
  other: number | undefined,
  choose: (one: number, other: number) => number
): number | undefined {
  return one === undefined || other === undefined ? undefined : choose(one, other)
}
