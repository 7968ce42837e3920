import { eventually } from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { readHistory } from './askService.ts'
import { checkSamples, type Sample } from './checkSamples.ts'
import type { Change, HistoryRecord } from './foldChanges.ts'
import { followAccounts } from './followAccounts.ts'
import {
  type Fault,
  type ScriptedSource,
  type ScriptStep,
  type SentEvent,
  startScriptedSource
} from './startScriptedSource.ts'

const address = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const addresses = [address]
const pending = (hash: string, nonce: number, status = 1): HistoryRecord => ({ hash, nonce, status })
const mined = (hash: string, nonce: number, blockNumber: number): HistoryRecord => ({
  ...{ hash, nonce, blockNumber },
  status: 3
})
const inBlock = (kind: Change['kind'], record: HistoryRecord): Change => ({
  ...{ kind, addresses, record },
  block: { blockNumber: record.blockNumber ?? 0, blockHash: `0xb${record.blockNumber}` }
})

/** Written by hand: what each change makes of the history. */
const script: readonly ScriptStep[] = [
  { change: { kind: 'added', addresses, record: pending('0x1', 0) }, history: [pending('0x1', 0)] },
  {
    change: { kind: 'added', addresses, record: pending('0x3', 2, 0) },
    history: [pending('0x1', 0), pending('0x3', 2, 0)]
  },
  {
    change: { kind: 'added', addresses, record: pending('0x2', 1) },
    history: [pending('0x2', 1), pending('0x1', 0), pending('0x3', 2, 0)]
  },
  {
    change: { kind: 'updated', addresses, record: pending('0x3', 2) },
    history: [pending('0x3', 2), pending('0x2', 1), pending('0x1', 0)]
  },
  {
    change: inBlock('confirmed', mined('0x1', 0, 7)),
    history: [pending('0x3', 2), pending('0x2', 1), mined('0x1', 0, 7)]
  },
  {
    change: inBlock('confirmed', mined('0x2', 1, 7)),
    history: [pending('0x3', 2), mined('0x2', 1, 7), mined('0x1', 0, 7)]
  },
  {
    change: { kind: 'removed', addresses, hash: '0x3', reason: 'replaced', replacedBy: '0x4' },
    history: [mined('0x2', 1, 7), mined('0x1', 0, 7)]
  },
  {
    change: inBlock('added', mined('0x4', 2, 8)),
    history: [mined('0x4', 2, 8), mined('0x2', 1, 7), mined('0x1', 0, 7)]
  },
  {
    change: inBlock('added', mined('0x5', 9, 8)),
    history: [mined('0x5', 9, 8), mined('0x4', 2, 8), mined('0x2', 1, 7), mined('0x1', 0, 7)]
  },
  {
    change: { kind: 'unconfirmed', addresses, record: pending('0x4', 2) },
    history: [pending('0x4', 2), mined('0x5', 9, 8), mined('0x2', 1, 7), mined('0x1', 0, 7)]
  },
  {
    change: { kind: 'removed', addresses, hash: '0x5', reason: 'reorged' },
    history: [pending('0x4', 2), mined('0x2', 1, 7), mined('0x1', 0, 7)]
  },
  {
    change: { kind: 'final', addresses, hash: '0x1', block: { blockNumber: 7, blockHash: '0xb7' } },
    history: [pending('0x4', 2), mined('0x2', 1, 7), mined('0x1', 0, 7)]
  },
  {
    change: { kind: 'final', addresses, hash: '0x2', block: { blockNumber: 7, blockHash: '0xb7' } },
    history: [pending('0x4', 2), mined('0x2', 1, 7), mined('0x1', 0, 7)],
    finalized: 7
  }
]

let source: ScriptedSource
afterEach(() => source.close())

/** Follows the whole script, with histories read after each change and a connection cut in the middle. @returns what is wrong. */
async function check(fault: Fault = {}): Promise<string> {
  source = await startScriptedSource(script, fault)
  const choose = () => source
  const follower = await followAccounts(addresses, choose, { patienceMs: 150 })
  const samples: Sample[] = []
  try {
    for (const place of script.keys()) {
      source.advance()
      samples.push({ address, ...(await readHistory(source, address)) })
      if (place % 4 === 2) source.cut()
      if (place % 4 === 3) await follower.settle()
    }
    await follower.settle()
    await eventually('the end of the script', () => follower.position() >= '13', 1_000)
    const found = await checkSamples(follower, samples, choose)
    await follower.stop()
    return found.join('; ')
  } catch (error) {
    await follower.stop().catch(() => {})
    return (error as Error).message
  }
}

const at = (events: readonly SentEvent[], id: string) => events.findIndex(event => event.id === id)
const without = (id: string) => (events: readonly SentEvent[]) => events.filter(event => event.id !== id)
const altered = (id: string, change: (data: string) => string) => (events: readonly SentEvent[]) =>
  events.map(event => (event.id === id ? { id, data: change(event.data) } : event))

function swapped(events: readonly SentEvent[]): readonly SentEvent[] {
  const [first, second] = [at(events, '08'), at(events, '09')]
  // The first waits for the second.
  if (first < 0 || second < 0) return events.filter(({ id }) => id !== '08')
  const [a, b] = [events[first]!, events[second]!]
  return events.with(first, { id: a.id, data: b.data }).with(second, { id: b.id, data: a.data })
}

describe('the checker', () => {
  it('finds nothing wrong with a source that keeps the promise', async () => {
    expect(await check()).toBe('')
  })

  const faults: readonly [string, Fault, RegExp][] = [
    ['an event is left out', { stream: without('02') }, /not in time|updated 0x3: it is not in the pool/],
    [
      'an event comes twice',
      { stream: events => events.flatMap(event => (event.id === '08' ? [event, event] : [event])) },
      /the id 08 comes after 08/
    ],
    [
      'an event comes twice under another id',
      {
        stream: events =>
          events.flatMap(event => (event.id === '08' ? [event, { ...event, id: '08b' }] : [event]))
      },
      /added 0x4: it is in the history already/
    ],
    ['two events of a block change places', { stream: swapped }, /not in time.*first at/],
    [
      'a record differs in one byte',
      { stream: altered('06', data => data.replace('"status":3', '"status":4')) },
      /not in time.*first at/
    ],
    [
      'an event names accounts that nobody watches',
      { stream: altered('06', data => data.replace(address, `0x${'1'.repeat(40)}`)) },
      /which is not watched/
    ],
    [
      'an event is told otherwise when it is told again',
      {
        stream: (events, connection) =>
          connection < 4 ? events : altered('09', data => data.replace('"nonce":9', '"nonce":8'))(events)
      },
      /event 8 is 09 .* it was 09/
    ],
    [
      'a stream resumes one event too late',
      { resume: position => (position > 2 ? position + 1 : position) },
      /not in time|not in the pool/
    ],
    [
      'a stream resumes one event too early',
      { resume: position => (position > 2 ? position - 1 : position) },
      /the id 03 comes after 03/
    ],
    [
      'a history names a cursor that is too old',
      { cursor: position => (position === 6 ? 5 : position) },
      /at 05: the history is not the fold of the 5 events before it, of 1\d, but of 6/
    ],
    [
      'a history names a cursor that is too new',
      { cursor: position => (position === 6 ? 7 : position) },
      /at 07: the history is not the fold of the 7 events before it, of 1\d, but of 6/
    ],
    [
      'a history is written in another way',
      { history: body => body.replace('"nonce":9', '"nonce": 9') },
      /in another way/
    ],
    [
      'a transaction ends that is not there',
      { stream: altered('11', data => data.replace('0x5', '0x6')) },
      /removed 0x6: it is not in the history/
    ],
    [
      'a record becomes final twice',
      {
        stream: events => [
          ...events,
          ...events.filter(({ id }) => id === '13').map(event => ({ ...event, id: '14' }))
        ]
      },
      /final 0x2: it is final already/
    ],
    ['a final record is not told of', { stream: without('12') }, /0x1 in block 7 is not final, block 7 is/]
  ]
  it.each(faults)('notices when %s', async (_what, fault, complaint) => {
    expect(await check(fault)).toMatch(complaint)
  })
})
