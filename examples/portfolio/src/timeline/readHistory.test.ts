import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createFakeChain, type Fate } from './fakeChain.ts'
import { type Anchor, emptyHistory, type History } from './History.ts'
import { type HistorySource, readOlder, refreshHistory } from './readHistory.ts'

type Chain = ReturnType<typeof createFakeChain>

/** A reader of a chain; `meanwhile` runs before each of its reads. */
function createReader(chain: Chain, meanwhile: () => void = () => {}, anchor?: Anchor) {
  let history: History = emptyHistory
  let reads = 0
  const source: HistorySource = {
    read: async page => {
      reads++
      meanwhile()
      return chain.read(page)
    },
    readFinalized: async () => {
      meanwhile()
      return chain.finalized()
    },
    readAnchor: () => anchor,
    held: () => history,
    hold: next => {
      history = next
    }
  }
  return {
    refresh: () => refreshHistory(source),
    older: () => readOlder(source),
    history: () => history,
    hashes: () => history.records.map(({ hash }) => hash),
    reads: () => reads
  }
}

const hashesOf = (chain: Chain) => chain.history().map(({ hash }) => hash)

async function readWhole(reader: ReturnType<typeof createReader>) {
  for (let page = 0; page < 200 && !reader.history().isComplete; page++) await reader.older()
}

describe('reading a history', () => {
  it('grows page by page until the first record, and says so', async () => {
    const chain = createFakeChain()
    for (let block = 0; block < 8; block++) chain.mine(10)
    const reader = createReader(chain)
    await reader.refresh()
    expect(reader.hashes()).toEqual(hashesOf(chain).slice(0, 25))
    await readWhole(reader)
    expect(reader.hashes()).toEqual(hashesOf(chain))
    expect(reader.reads()).toBe(4)
  })

  it('stays as long as it is until older records are asked for', async () => {
    const chain = createFakeChain()
    chain.mine(90)
    const reader = createReader(chain)
    for (let refresh = 0; refresh < 3; refresh++) await reader.refresh()
    expect(reader.hashes()).toHaveLength(25)
    expect(reader.reads()).toBe(3)
  })

  it('turns a pending record into a confirmed one, and keeps the others as they are', async () => {
    const chain = createFakeChain()
    chain.mine(3)
    chain.send(1)
    const reader = createReader(chain)
    await reader.refresh()
    const [pending, ...rest] = reader.history().records
    chain.mine(0)
    await reader.refresh()
    const [mined, ...same] = reader.history().records
    expect([pending?.status, mined?.status, mined?.hash]).toEqual([1, 3, pending?.hash])
    for (const [place, record] of same.entries()) expect(record).toBe(rest[place])
    expect(reader.history().arrived.size).toBe(0)
  })

  it('says which pending record a reorg took out of which block, and forgets it when it is mined again', async () => {
    const chain = createFakeChain()
    chain.mine(2)
    chain.mine(1)
    const reader = createReader(chain)
    await reader.refresh()
    const [newest] = reader.hashes()
    chain.reorg(1, ['gone'])
    await reader.refresh()
    expect(reader.history().gone.map(({ hash }) => hash)).toEqual([newest])
    chain.returnLost()
    await reader.refresh()
    expect(reader.history().gone).toEqual([])
    expect([...reader.history().returned]).toEqual([[newest, 2]])
    chain.mine(0)
    await reader.refresh()
    expect(reader.history().returned.size).toBe(0)
    expect(reader.hashes()).toEqual(hashesOf(chain))
  })

  it('names what is new to the reader, and nothing that was there before', async () => {
    const chain = createFakeChain()
    chain.mine(60)
    const reader = createReader(chain)
    await reader.refresh()
    chain.send(1)
    await reader.refresh()
    await reader.older()
    expect([...reader.history().arrived]).toEqual(['0x61'])
  })

  it('closes the gap when more has happened than one call shows', async () => {
    const chain = createFakeChain()
    chain.mine(100)
    const reader = createReader(chain)
    await reader.refresh()
    for (let block = 0; block < 8; block++) chain.mine(150)
    await reader.refresh()
    expect(reader.hashes().slice(0, 1225)).toEqual(hashesOf(chain).slice(0, 1225))
    expect(reader.reads()).toBe(4)
  })

  it('goes on where a reorg removes the record that a gap is being closed from', async () => {
    const chain = createFakeChain()
    chain.mine(100)
    let reads = 0
    const reader = createReader(chain, () => {
      if (++reads === 5) chain.reorg(1, ['gone'])
    })
    await reader.refresh()
    for (let block = 0; block < 8; block++) chain.mine(150)
    await reader.refresh()
    expect(reads).toBe(5)
    await reader.refresh()
    expect(hashesOf(chain).slice(0, reader.hashes().length)).toEqual(reader.hashes())
  })

  it('does not take a balance of before a reorg that the next page has told of', async () => {
    const chain = createFakeChain()
    chain.mine(40)
    chain.mine(30)
    const anchor = { balanceWei: 1n, blockNumber: 2, blockHash: '0xold', timestampSeconds: 1 }
    const reader = createReader(chain, () => {}, anchor)
    await reader.refresh()
    expect(reader.history().anchor).toBe(anchor)
    chain.reorg(1, ['gone'])
    await reader.older()
    expect(reader.history()).toMatchObject({ reorgs: 1, anchor: undefined })
    await reader.refresh()
    expect(reader.history()).toMatchObject({ reorgs: 1, anchor: undefined })
  })

  it('does not go on below a record that a reorg has moved into an older block', async () => {
    const chain = createFakeChain()
    chain.mine(1)
    for (let block = 0; block < 4; block++) chain.mine(1)
    const reader = createReader(chain)
    await reader.refresh()
    expect(reader.history()).toMatchObject({ isComplete: true, settledTo: 1 })
    // 0x5 comes to stand below 0x2; what is new leaves no room for it in the next read.
    chain.reorg(4, ['mined again'])
    chain.mine(26)
    await reader.refresh()
    await readWhole(reader)
    expect(reader.hashes()).toEqual(hashesOf(chain))
  })

  it('reads what a reorg replaced anew when it removed the record that the next page begins after', async () => {
    const chain = createFakeChain()
    chain.mine(40)
    chain.mine(15)
    chain.mine(15)
    const reader = createReader(chain)
    await reader.refresh()
    chain.reorg(2, ['gone', 'pool'])
    await readWhole(reader)
    expect(reader.hashes()).toEqual(hashesOf(chain))
  })

  it('never shows a record twice, and ends with the truth, whatever the chain does meanwhile', async () => {
    const count = fc.nat(35)
    const chainStep = fc.oneof(
      fc.record({ kind: fc.constant('send' as const), count: fc.nat(4) }),
      fc.record({ kind: fc.constant('mine' as const), count }),
      fc.record({ kind: fc.constant('drop' as const) }),
      fc.record({ kind: fc.constant('return' as const) }),
      fc.record({
        kind: fc.constant('reorg' as const),
        depth: fc.integer({ min: 1, max: 4 }),
        fates: fc.array(fc.constantFrom<Fate>('pool', 'gone', 'mined again'), { minLength: 1, maxLength: 5 })
      })
    )
    const readerStep = fc.constantFrom('refresh' as const, 'older' as const, 'both' as const)
    const steps = fc.array(fc.tuple(readerStep, fc.array(chainStep, { maxLength: 6 })), { maxLength: 25 })
    await fc.assert(
      fc.asyncProperty(steps, async plan => {
        const chain = createFakeChain()
        const waiting: (typeof plan)[number][1] = []
        const act = () => {
          const step = waiting.shift()
          if (step?.kind === 'send') chain.send(step.count)
          else if (step?.kind === 'mine') chain.mine(step.count)
          else if (step?.kind === 'drop') chain.drop()
          else if (step?.kind === 'return') chain.returnLost()
          else if (step?.kind === 'reorg') chain.reorg(step.depth, step.fates)
        }
        const reader = createReader(chain, act)
        for (const [readerSteps, chainSteps] of plan) {
          waiting.push(...chainSteps)
          // The poll and the reader's scrolling may overlap. A reorg may refuse either of them, as it does the service's callers.
          const kinds = readerSteps === 'both' ? (['refresh', 'older'] as const) : [readerSteps]
          await Promise.allSettled(kinds.map(kind => reader[kind]()))
          const hashes = reader.hashes()
          expect(new Set(hashes).size).toBe(hashes.length)
          const { gone } = reader.history()
          expect(gone.filter(({ hash }) => hashes.includes(hash))).toEqual([])
        }
        while (waiting.length > 0) act()
        // Each refresh reads at least a page more than could have changed, whatever was missed before.
        for (let refresh = 0; refresh < 20; refresh++) await reader.refresh()
        expect(hashesOf(chain).slice(0, reader.hashes().length)).toEqual(reader.hashes())
        await readWhole(reader)
        expect(reader.history().records).toEqual(chain.history())
      }),
      { seed: 1, numRuns: 200 }
    )
  })
})
