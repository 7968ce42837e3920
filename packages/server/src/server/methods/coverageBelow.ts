import type { AnswerCoverage } from '../../model/coverage.ts'
import type { DeepCoverage, DeepSource } from '../../model/deepHistory.ts'
import { present } from '../../platform/present.ts'

/** The part of an answer's coverage that speaks of history older than the index. */
export type CoverageBelow = Pick<AnswerCoverage, 'deepHistory' | 'lacks' | 'deepFrom' | 'reason'>

/** A history that is older than the index. */
interface History {
  readonly indexedFrom: number
  coverage(): Promise<DeepCoverage>
}

/** Returns what an answer covers of the history older than the index. */
export async function coverageBelow(
  source: DeepSource | undefined,
  below: History | undefined
): Promise<CoverageBelow> {
  if (source === undefined) return {}
  if (source === 'none' || below === undefined) return { deepHistory: 'none' }
  const { from, gaps, reason } = await below.coverage()
  if (from >= below.indexedFrom) return { deepHistory: 'none', ...present({ reason }) }
  return {
    ...(gaps.includes('zero-value-receipts')
      ? { deepHistory: 'state', lacks: 'zero-value-receipts' }
      : // Where authorities are not known, `operationsFrom` says so.
        { deepHistory: 'node' }),
    ...present({ reason }),
    ...(from > 0 && { deepFrom: from })
  }
}
