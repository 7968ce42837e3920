import { expect, it } from 'vitest'
import { examples } from './examples.ts'
import { isConfirmed, isPending } from './index.ts'

it('a record is either pending (status 0, 1) or confirmed (status 3, 4, or unknown)', () => {
  const records = examples.svc_getTransactionsByAddress.flatMap(example => example.result)
  expect(new Set(records.map(record => record.status))).toEqual(new Set([0, 1, 3, 4]))
  for (const record of records) {
    const { status = 3 } = record
    expect(isPending(record)).toBe(status < 2)
    expect(isConfirmed(record)).toBe(status > 2)
    const { status: _, ...unknown } = record
    expect([isPending(unknown), isConfirmed(unknown)]).toEqual([false, true])
  }
})
