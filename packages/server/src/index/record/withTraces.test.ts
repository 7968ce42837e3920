import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AccountEvents, IndexedBlock, InternalTransfer, TokenTransfer } from '../../model/evm.ts'
import { StoreError } from '../../platform/errors.ts'
import { arbitraryAddress, arbitraryPlans } from '../test/arbitraries.ts'
import { buildChain, people } from '../test/buildChain.ts'
import { type BlockRows, encodeBlock } from './encodeBlock.ts'
import { type BlockTraces, withTraces } from './withTraces.ts'

const seed = Number(process.env.CHAIN_DATA_SEED ?? Date.now() % 2 ** 31)
const anyone = fc.oneof(fc.constantFrom(...people), arbitraryAddress)
const transfer: fc.Arbitrary<TokenTransfer> = fc.record({
  standard: fc.constant('erc20'),
  contract: anyone,
  from: anyone,
  to: anyone,
  amount: fc.bigInt({ min: 0n, max: 2n ** 80n })
})
const internal: fc.Arbitrary<InternalTransfer> = fc.record({
  kind: fc.constantFrom('call', 'create', 'selfdestruct'),
  from: anyone,
  to: anyone,
  value: fc.bigInt({ min: 1n, max: 2n ** 80n })
})
const accountEvents: fc.Arbitrary<AccountEvents> = fc.record({
  address: anyone,
  events: fc.tuple(fc.record({ kind: fc.constant('creation'), count: fc.nat() }))
})
const events = fc.uniqueArray(accountEvents, { maxLength: 4, selector: ({ address }) => address })

/** Blocks, of which some transactions transferred tokens, with traces of each, which most often tell nothing. */
const traced = arbitraryPlans.chain(plans => {
  const blocks = buildChain(plans)
  return fc.tuple(
    ...blocks.map(block => {
      const { length } = block.transactions
      const lists = fc.array(
        fc.oneof({ weight: 2, arbitrary: fc.constant([]) }, fc.array(internal, { maxLength: 3 })),
        {
          minLength: length,
          maxLength: length
        }
      )
      const transfers = fc.array(fc.array(transfer, { maxLength: 2 }), {
        minLength: length,
        maxLength: length
      })
      return fc.record({ transfers, internal: lists, events }).map(made => ({
        block: {
          ...block,
          transactions: block.transactions.map((each, place) => ({
            ...each,
            transfers: made.transfers[place] ?? []
          }))
        },
        traces: { internal: made.internal, events: made.events }
      }))
    })
  )
})

/** The same from values. */
function expectedRows(block: IndexedBlock, traces: BlockTraces): BlockRows {
  const joined = new Map((block.events ?? []).map(each => [each.address, each.events]))
  for (const { address, events: more } of traces.events) {
    joined.set(address, [...(joined.get(address) ?? []), ...more])
  }
  return encodeBlock({
    ...block,
    isTraced: true,
    events: Array.from(joined, ([address, list]) => ({ address, events: list })),
    transactions: block.transactions.map((each, place) => {
      const inside = traces.internal[place] ?? []
      return {
        ...each,
        internal: inside,
        parties: [...new Set([...each.parties, ...inside.flatMap(({ from, to }) => [from, to])])]
      }
    })
  })
}

const asText = (rows: BlockRows) =>
  Object.entries(rows)
    .map(([name, value]) => {
      if (!ArrayBuffer.isView(value)) return `${name}: ${JSON.stringify(value)}`
      return `${name}: ${Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('hex')}`
    })
    .sort()

describe(`traces over a block (CHAIN_DATA_SEED=${seed})`, () => {
  it('give the rows of a block that was traced from the beginning, and change nothing that was given', () => {
    fc.assert(
      fc.property(traced, list => {
        for (const { block, traces } of list) {
          const rows = encodeBlock(block)
          const before = asText(rows)
          expect(asText(withTraces(rows, traces))).toEqual(asText(expectedRows(block, traces)))
          expect(asText(rows)).toEqual(before)
        }
      }),
      { seed, numRuns: 200 }
    )
  })

  const [block] = buildChain([[{ name: 'a', parties: people.slice(0, 2) }]])
  if (block === undefined) throw new Error('no block')
  const rows = encodeBlock(block)

  it('are refused where they are of another number of transactions', () => {
    expect(() => withTraces(rows, { internal: [], events: [] })).toThrow(StoreError)
    expect(() => withTraces(rows, { internal: [[], []], events: [] })).toThrow(StoreError)
  })

  it('are refused where the block has some', () => {
    const once = withTraces(rows, { internal: [[]], events: [] })
    expect(() => withTraces(once, { internal: [[]], events: [] })).toThrow(StoreError)
    expect(() => withTraces({ ...once, isTraced: false }, { internal: [[]], events: [] })).toThrow(StoreError)
  })
})
