import { describe, expect, it } from 'vitest'
import { createFakeChain } from './fakeChain.ts'
import { anchorAt, appendOlder, emptyHistory, foldNewest, type History } from './History.ts'

function createRecords(blocks: number) {
  const chain = createFakeChain()
  for (let block = 0; block < blocks; block++) chain.mine(1)
  return chain.read({ limit: blocks + 1 }).records
}

describe('what is held of a history', () => {
  const records = createRecords(3)

  it('ends for good only once no reorg can put anything below its first record', () => {
    const whole: History = { ...emptyHistory, records, isComplete: true }
    const newest = { records, isLast: false }
    expect(foldNewest(whole, newest, 0).isComplete).toBe(false)
    expect(foldNewest({ ...whole, settledTo: 1 }, newest, 2).isComplete).toBe(true)
  })

  it('does not take records for settled that were asked for before their blocks were final', () => {
    const asked: History = { ...emptyHistory, records: records.slice(0, 1), settledTo: 0 }
    const settledSince = { ...asked, settledTo: 3 }
    const grown = appendOlder(settledSince, asked, { records: records.slice(1), isLast: true })
    expect(grown).toMatchObject({ records, isComplete: true, settledTo: 0 })
  })

  it('is the same list where nothing has changed, so that nothing is drawn again', () => {
    const held = foldNewest(emptyHistory, { records, isLast: true }, 0)
    const copies = structuredClone(records) as typeof records
    expect(foldNewest(held, { records: copies, isLast: true }, 0).records).toBe(held.records)
  })

  it('is not tied to a balance of before a reorg', () => {
    const anchor = { balanceWei: 1n, blockNumber: 3, blockHash: '0xold', timestampSeconds: 1 }
    const before = foldNewest(emptyHistory, { records, isLast: true }, 0)
    expect(anchorAt(before, emptyHistory, anchor).anchor).toBe(anchor)
    const after = foldNewest(before, { records: records.slice(1), isLast: true }, 0)
    const told = anchorAt(after, before, anchor)
    expect(told.anchor).toBeUndefined()
    expect(anchorAt(told, told, anchor).anchor).toBeUndefined()
    // Also when it is read again before the balance is.
    const next = foldNewest(told, { records: records.slice(1), isLast: true }, 0)
    expect(anchorAt(next, told, anchor).anchor).toBeUndefined()
    const fresh = { ...anchor, blockHash: '0xnew' }
    expect(anchorAt(told, told, fresh).anchor).toBe(fresh)
  })

  it('counts a reorg that moves a record to another block, and nothing else', () => {
    const first = foldNewest(emptyHistory, { records: records.slice(1), isLast: true }, 0)
    const grown = foldNewest(first, { records, isLast: true }, 0)
    expect(grown.reorgs).toBe(0)
    const moved = records.map((record, place) => (place === 0 ? { ...record, blockNumber: 9 } : record))
    const after = foldNewest(grown, { records: moved as typeof records, isLast: true }, 0)
    expect(after.reorgs).toBe(1)
    const anchor = { balanceWei: 1n, blockNumber: 9, blockHash: '0xold', timestampSeconds: 1 }
    expect(anchorAt(after, grown, anchor).anchor).toBeUndefined()
    expect(foldNewest(after, { records: moved as typeof records, isLast: true }, 0).reorgs).toBe(1)
  })
})
