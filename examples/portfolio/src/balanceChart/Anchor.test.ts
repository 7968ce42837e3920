import { describe, expect, it } from 'vitest'
import { tieTo } from './Anchor.ts'

const balance = { balanceWei: 1n, blockNumber: 3, blockHash: '0xold', timestampSeconds: 1 }
const list = { records: [], coverage: { chainId: 1, to: 3 }, reorgs: 0 }

describe('a history', () => {
  it('is tied to a balance whose block it covers, and keeps it until it covers a newer one', () => {
    const short = tieTo({ reorgs: 0 }, { ...list, coverage: { chainId: 1, to: 2 } }, balance)
    expect(short.anchor).toBeUndefined()
    expect(tieTo({ reorgs: 0 }, { records: [], reorgs: 0 }, balance).anchor).toBeUndefined()
    expect(tieTo({ reorgs: 0 }, { ...list, records: undefined }, balance).anchor).toBeUndefined()
    const tied = tieTo(short, list, balance)
    expect(tied.anchor).toBe(balance)
    expect(tieTo(tied, list, balance)).toBe(tied)
    const newer = { ...balance, blockNumber: 4, blockHash: '0xnewer' }
    expect(tieTo(tied, list, newer).anchor).toBe(balance)
    expect(tieTo(tied, { ...list, coverage: { chainId: 1, to: 4 } }, newer).anchor).toBe(newer)
  })

  it('is not tied to a balance of before a reorg', () => {
    const tied = tieTo({ reorgs: 0 }, list, balance)
    const reorged = tieTo(tied, { ...list, reorgs: 1 }, balance)
    expect(reorged.anchor).toBeUndefined()
    expect(tieTo(reorged, { ...list, reorgs: 1 }, balance).anchor).toBeUndefined()
    const fresh = { ...balance, blockHash: '0xnew' }
    expect(tieTo(reorged, { ...list, reorgs: 1 }, fresh).anchor).toBe(fresh)
  })
})
