import { describe, expect, it } from 'vitest'
import { createFakeChain } from './fakeChain.ts'
import { emptyHistory, foldNewest, type History } from './History.ts'
import { tellChanges } from './tellChanges.ts'

describe('what is said aloud of changes', () => {
  it('is nothing at first, and every kind of change afterwards', () => {
    const chain = createFakeChain()
    let history: History = emptyHistory
    const refresh = () => {
      const before = history
      history = foldNewest(history, chain.read({ limit: 50 }), chain.finalized())
      return tellChanges(before, history)
    }
    chain.mine(3)
    expect(refresh()).toBe('')
    expect(refresh()).toBe('')
    chain.send(2)
    expect(refresh()).toBe('2 new transactions')
    chain.mine(1)
    expect(refresh()).toBe('1 new transaction, 2 transactions succeeded')
    chain.reorg(1, ['pool', 'gone', 'gone'])
    expect(refresh()).toBe('1 transaction is pending again, 2 transactions were taken out')
    chain.returnLost()
    expect(refresh()).toBe('2 transactions are pending again')
  })
})
