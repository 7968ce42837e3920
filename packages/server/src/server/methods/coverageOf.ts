import type { IndexCoverage } from '../../index/port/status.ts'
import type { AnswerCoverage } from '../../model/coverage.ts'

/** From which blocks on the index knows what happened in transactions, in the words of the wire; absent: of none. */
export function knownFrom({
  detailedFrom,
  tracedFrom
}: IndexCoverage): Pick<AnswerCoverage, 'transfersFrom' | 'internalFrom'> {
  return {
    ...(detailedFrom !== undefined && { transfersFrom: detailedFrom }),
    ...(tracedFrom !== undefined && { internalFrom: tracedFrom })
  }
}
