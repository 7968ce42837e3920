import type { TransactionRecord } from '@chain-data/client/fetch'
import type { HistorySnapshot } from '@chain-data/client/history'
import { describe, expect, it } from 'vitest'
import { noChanges, noteChanges } from './ListChanges.ts'
import { tellChanges } from './tellChanges.ts'

/** A snapshot of records that are written as `hash` while pending and as `hash@block` afterwards. */
function listOf(text: string, hasOlder = false): HistorySnapshot {
  const records = text.split(' ').flatMap(each => (each === '' ? [] : [recordOf(each)]))
  return { state: 'ready', records, hasOlder, isLoadingOlder: false, reorgs: 0 }
}

function recordOf(text: string): TransactionRecord {
  const [hash = '', block] = text.split('@')
  const common = { hash, from: '0xa', to: '0xb', value: '0x1', data: '0x', gasLimit: 1, nonce: 1, type: 0 }
  if (block === undefined) return { ...common, timestamp: 1, status: 1 } as TransactionRecord
  return {
    ...{ ...common, timestamp: 1, status: 3, blockNumber: Number(block) },
    ...{ gasSpent: '0x1', gasPrice: '0x1', fees: '0x1' }
  } as TransactionRecord
}

/** Shows lists one after the other. */
function follow(...lists: readonly HistorySnapshot[]) {
  let changes = noChanges
  let said = ''
  for (const [place, list] of lists.entries()) {
    const before = lists[place - 1] ?? { state: 'loading', hasOlder: true, isLoadingOlder: false, reorgs: 0 }
    const next = noteChanges(changes, before, list)
    said = tellChanges({ changes, records: before.records }, { changes: next, records: list.records })
    changes = next
  }
  return {
    ...{ said, gone: changes.gone.map(({ hash }) => hash) },
    ...{ returned: [...changes.returned], arrived: [...changes.arrived] }
  }
}

describe('what happens to a list', () => {
  it('is nothing at first', () => {
    expect(follow(listOf('b a@1'))).toEqual({ gone: [], returned: [], arrived: [], said: '' })
  })

  it('names what is new, and nothing that was there before, also of older pages', () => {
    const lists = [listOf('c@3 b@2', true), listOf('d c@3 b@2', true), listOf('d c@3 b@2 a@1')]
    expect(follow(...lists).arrived).toEqual(['d'])
    expect(follow(...lists.slice(0, 2)).said).toBe('1 new transaction')
    expect(follow(...lists).said).toBe('')
  })

  it('says which pending record a reorg took out of which block, and forgets it when it is mined again', () => {
    const lists = [listOf('b@2 a@1'), listOf('a@1'), listOf('b a@1'), listOf('b@3 a@1')]
    expect(follow(...lists.slice(0, 2))).toMatchObject({ gone: ['b'], said: '1 transaction was taken out' })
    expect(follow(...lists.slice(0, 3))).toMatchObject({
      ...{ gone: [], returned: [['b', 2]], said: '1 transaction is pending again' }
    })
    expect(follow(...lists)).toMatchObject({ gone: [], returned: [], said: '1 transaction succeeded' })
  })

  it('does not call gone what is only not held any more', () => {
    expect(follow(listOf('c@3 b@2 a@1'), listOf('e@5 d@4', true)).gone).toEqual([])
    expect(follow(listOf('c@3 b@2 a@1'), listOf('d@4 b@2', true)).gone).toEqual(['c'])
  })

  it('is told aloud in one sentence', () => {
    const said = follow(listOf('c b a@1'), listOf('d@2 c@2 b@2 a@1')).said
    expect(said).toBe('1 new transaction, 2 transactions succeeded')
    expect(follow(listOf('c@2 b@2 a@1'), listOf('c a@1')).said).toBe(
      '1 transaction is pending again, 1 transaction was taken out'
    )
  })
})
