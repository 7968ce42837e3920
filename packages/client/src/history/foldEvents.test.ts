import { describe, expect, test } from 'vitest'
import type { TransactionRecord } from '../Client.ts'
import { foldEvents } from './foldEvents.ts'

/** Records that are written as `hash@block`, or as `hash:nonce` while pending and `hash?nonce` while queued. */
function recordsOf(text: string): TransactionRecord[] {
  return text.split(' ').map(each => {
    const [hash = '', number] = each.split(/[@:?]/)
    const isInBlock = each.includes('@')
    const status = isInBlock ? 3 : each.includes(':') ? 1 : 0
    const place = isInBlock ? { blockNumber: Number(number), nonce: 1 } : { nonce: Number(number) }
    return { hash, status, ...place } as TransactionRecord
  })
}

/** Events that are written as the records that they bring, or as `-hash` where they remove one. */
function eventsOf(text: string) {
  return text.split(' ').map(each => {
    if (each.startsWith('-')) return { kind: 'removed', hash: each.slice(1) }
    const [record] = recordsOf(each)
    return { kind: 'added', ...(record && { record }) }
  })
}

describe('the events up to a level', () => {
  test.each([
    [
      'bring the records of a block above older ones, the last one first',
      'b@2 a@1',
      'c@3 d@3',
      'd@3 c@3 b@2 a@1'
    ],
    ['bring pending records by nonce, queued ones below the others', 'a@1', 'p:7 r?9 q:8', 'q:8 p:7 r?9 a@1'],
    ['bring pending records of one nonce by hash', 'q:7 a@1', 'r:7 p:7', 'p:7 q:7 r:7 a@1'],
    ['move a pending record that is not queued any more', 'q:8 p?7 a@1', 'p:7', 'q:8 p:7 a@1'],
    ['move a pending record into its block, below what stays pending', 'q:8 p:7 a@1', 'p@2', 'q:8 p@2 a@1'],
    ['move a record of a block that was undone back to the pool', 'b@2 a@1', 'b:5', 'b:5 a@1'],
    [
      'replace undone blocks, whatever moves within them',
      'd@3 c@3 b@2 a@1',
      'c@2 b@3 e@3 -d',
      'e@3 b@3 c@2 a@1'
    ],
    ['replace undone blocks below the last record, of which none was held', 'b@3', 'x@2 b@3', 'b@3 x@2'],
    ['remove nothing that is not held', 'b@2 a@1', '-x', 'b@2 a@1']
  ])('%s', (_title, before, events, after) => {
    for (const hasOlder of [true, false]) {
      expect(foldEvents(eventsOf(events), recordsOf(before), hasOlder)).toEqual(recordsOf(after))
    }
  })

  test('leave the other records the same objects', () => {
    const before = recordsOf('b@2 a@1')
    expect(
      foldEvents(eventsOf('c@3'), before, true)
        ?.slice(1)
        .every((each, at) => each === before[at])
    ).toBe(true)
  })
})

describe('nothing is told', () => {
  test('by an event that lacks its record, or is of a kind that is not known', () => {
    for (const kind of ['added', 'merged']) {
      expect(foldEvents([{ kind, hash: 'a' }], recordsOf('a@1'), false)).toBeUndefined()
    }
  })

  test('where the list ends among pending records', () => {
    const [before, events] = [recordsOf('q:8 p:7'), eventsOf('o:6')]
    expect(foldEvents(events, before, true)).toBeUndefined()
    expect(foldEvents(events, before, false)).toEqual(recordsOf('q:8 p:7 o:6'))
  })
})
