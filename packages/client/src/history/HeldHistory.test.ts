import { expect, test } from 'vitest'
import type { TransactionRecord } from '../Client.ts'
import { type HeldHistory, joinNewest } from './HeldHistory.ts'

/** Records that are written as `hash@block`. */
function recordsOf(text: string): TransactionRecord[] {
  return text.split(' ').map(each => {
    const [hash = '', block] = each.split('@')
    const common = { hash, from: '0xa', to: '0xb', value: '0x1', data: '0x', gasLimit: 1, nonce: 1, type: 0 }
    const spent = { gasSpent: '0x1', gasPrice: '0x1', fees: '0x1' }
    return { ...common, ...spent, timestamp: 1, status: 3, blockNumber: Number(block) } as TransactionRecord
  })
}

test.each([
  ['joins below a record that was final', 5, 'e@5 d@4 c@3', 'e@5 d@4 c@3 b@2 a@1'],
  ['does not join below one that was not', 2, 'e@5 d@4 c@3', undefined],
  ['does not join where a record that was final is another one', 5, 'e@5 x@4 c@3', undefined],
  ['does not join where a record that was final is gone', 5, 'f@6 e@5 c@3', undefined],
  ['does not join where a record that was final has moved', 5, 'e@5 d@3 c@3', undefined],
  ['does not join at a record that has moved', 5, 'e@5 d@4 c@2', undefined]
])('%s', (_title, finalTo, read, joined) => {
  const held: HeldHistory = { records: recordsOf('e@5 d@4 c@3 b@2 a@1'), hasOlder: true, finalTo, reorgs: 0 }
  const page = { records: recordsOf(read), limit: 3, length: 0, isLargest: false, finalTo: 5 }
  const next = joinNewest(held, page)
  expect(next?.records).toEqual(joined === undefined ? undefined : recordsOf(joined))
})
