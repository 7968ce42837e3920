import type { HistoryCertificate } from '@chain-data/client/fetch'
import { describe, expect, it } from 'vitest'
import { proofWords } from './proofWords.ts'

const proven = {
  ...{ verdict: 'proven', asOf: { blockNumber: 19_426_587 }, covers: { from: 0 }, findings: [] }
} as unknown as HistoryCertificate

describe('a proof in words', () => {
  it('says from where and up to where nothing is missing', () => {
    expect(proofWords(proven)).toEqual({ tone: 'good', text: 'Complete, proven to block 19,426,587' })
    const later = { ...proven, covers: { from: 1000, to: 19_426_587 } }
    expect(proofWords(later).text).toBe('Complete from block 1,000, proven to block 19,426,587')
  })

  it('never calls complete what is not proven', () => {
    const findings = [{ kind: 'NOT_TRACED', message: 'the block 7 was not traced' }]
    expect(proofWords({ ...proven, verdict: 'unprovable', findings })).toEqual({
      tone: 'waiting',
      text: 'Not proven: payments by contracts are not known of all blocks'
    })
    const missing = [{ kind: 'MISSING_TRANSACTION', message: 'block 9 has a transaction that is not listed' }]
    expect(proofWords({ ...proven, verdict: 'failed', findings: missing })).toEqual({
      tone: 'bad',
      text: 'Something is missing: block 9 has a transaction that is not listed'
    })
  })

  it('tells what was altered from what is missing', () => {
    const findings = [
      { kind: 'INDEX_DAMAGED', message: 'the record of a transaction of block 9 was altered' }
    ]
    expect(proofWords({ ...proven, verdict: 'failed', complete: 'proven', findings })).toEqual({
      tone: 'bad',
      text: 'Something was altered: the record of a transaction of block 9 was altered'
    })
  })
})
