import type { IndexCoverage, StatusReader } from '../../index/port/status.ts'
import type { AnswerCoverage } from '../../model/coverage.ts'

/** Returns what an answer from this snapshot covers. */
export async function coverageOf(
  chainId: number,
  snapshot: StatusReader,
  deepHistory: 'node' | 'none' | undefined
): Promise<AnswerCoverage> {
  const range = await snapshot.indexedRange()
  if (range === undefined) return { chainId }
  return {
    ...{ chainId, from: range.from, to: range.to.number },
    ...knownFrom(await snapshot.coverage()),
    ...(range.from === 0 || deepHistory === undefined ? {} : { deepHistory })
  }
}

/** Returns from which blocks on the index knows what happened in transactions, in the words of the wire; absent: of none. */
export function knownFrom({
  detailedFrom,
  tracedFrom
}: IndexCoverage): Pick<AnswerCoverage, 'transfersFrom' | 'internalFrom'> {
  return {
    ...(detailedFrom !== undefined && { transfersFrom: detailedFrom }),
    ...(tracedFrom !== undefined && { internalFrom: tracedFrom })
  }
}
