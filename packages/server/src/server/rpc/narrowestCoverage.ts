import type { AnswerCoverage } from '../../model/coverage.ts'

/**
 * What holds for all of these answers: each chain once, by chain id. Two answers about one chain may come from two states of
 * its index; then no more is said than both cover.
 */
export function narrowestCoverage(told: readonly AnswerCoverage[]): readonly AnswerCoverage[] {
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
