import { expect } from 'vitest'
import type { History } from './askHistory.ts'
import type { TrueTransaction } from './readTruth.ts'

/** Without what an answer may leave out, or say more exactly than the blocks: the order of the list stays. */
export function comparable(transactions: History['transactions']): unknown[] {
  return transactions.map(
    ({ signature, slot, status, fee, feePayer, version, memo, lamports, tokens, programs }) => ({
      ...{ signature, slot, status, fee, feePayer, version, memo, lamports, programs },
      tokens: [...tokens].sort((a, b) => (a.account < b.account ? -1 : 1))
    })
  )
}

/** Nothing missing, nothing double, each field and the order as in the blocks; and no gap is claimed. */
export function expectTruth(
  { transactions, covers, continuity }: History,
  truth: readonly TrueTransaction[],
  what: string
) {
  const signatures = transactions.map(({ signature }) => signature)
  expect(signatures, what).toEqual(truth.map(({ signature }) => signature))
  expect(comparable(transactions), what).toEqual(comparable(truth as History['transactions']))
  for (const [at, { index }] of transactions.entries()) {
    if (index !== undefined) expect(index, what).toBe(truth[at]!.index)
  }
  expect({ gaps: continuity.gaps, isWhole: covers.continuity }, what).toEqual({ gaps: [], isWhole: true })
}
