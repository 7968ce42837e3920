import { deriveRows } from '@chain-data/index/record'
import { describe, expect, it } from 'vitest'
import { readAuthorizations } from '../../src/evm/blocks/authorizations.ts'
import { type DecodedRows, readBlock, toRows } from '../../src/evm/blocks/readBlock.ts'
import { createRootChecks, type RootChecks } from '../../src/evm/blocks/roots/createRootChecks.ts'
import { loadRecoverSender } from '../../src/evm/blocks/roots/recoverSender.ts'
import { BrokenChecksError } from '../../src/evm/blocks/verification/blockChecks.ts'
import { createWaivers } from '../../src/evm/blocks/verification/contradiction.ts'
import { rootParts } from '../../src/model/rootParts.ts'
import { isUnknownPart, type Waiver } from '../../src/model/waivableChecks.ts'
import { NodeContradictionError } from '../../src/platform/errors.ts'
import { changesOf } from './oddMembers.ts'
import { address, blockHash, erc20Transfer, type Raw, type RawBlock, rawBlock } from './rawBlock.ts'

const number = 16
const recover = await loadRecoverSender()
type Read = Pick<RawBlock, 'block'> & { readonly receipts: unknown }

/** Reads a block as the indexer does. */
function read(
  { block, receipts }: Read,
  waivers: readonly Waiver[],
  roots?: RootChecks
): Promise<DecodedRows> {
  // As it comes from a node: nothing is undefined.
  const [raw, rawReceipts] = JSON.parse(JSON.stringify([block, receipts])) as [unknown, unknown]
  return readBlock(
    raw,
    number,
    (verified, authorizations) => toRows(verified, authorizations, roots !== undefined),
    { waivers: createWaivers(waivers), roots },
    {
      receipts: () => rawReceipts,
      authorizations: async ({ transactions }) => ({ signed: readAuthorizations(transactions, recover) })
    }
  )
}

async function refusal(
  block: Read,
  waivers: readonly Waiver[],
  roots?: RootChecks
): Promise<NodeContradictionError> {
  const outcome = await read(block, waivers, roots).catch((error: unknown) => error)
  if (outcome instanceof NodeContradictionError) return outcome
  throw outcome instanceof Error ? outcome : new Error('it was read')
}

const logs = [erc20Transfer(address(500), address(1), address(2))]
const whole = rawBlock(number, [{ logs }, { logs }, {}], { miner: address(7), baseFeePerGas: '0x7' })
const { block, receipts } = whole
const [first = {}, second = {}, third = {}] = receipts
const [log = {}] = second.logs as Raw[]

const withTransaction = (change: Raw, place = 1): Read => {
  const changed = { ...block.transactions[place], ...change }
  return { block: { ...block, transactions: block.transactions.with(place, changed) }, receipts }
}
const withReceipt = (change: Raw): Read => ({ block, receipts: [first, { ...second, ...change }, third] })
const withLog = (change: Raw): Read => withReceipt({ logs: [{ ...log, ...change }] })

/** Each kind of refusal that no other waiver excuses, with the waiver that it names and how many transactions are indexed then. */
const refusals: readonly (readonly [
  name: string,
  block: Read,
  check: 'unknownReceipt' | 'unknownBlock',
  indexed: number
])[] = [
  ['a receipt of another height', withReceipt({ blockNumber: '0x9', from: address(8) }), 'unknownReceipt', 3],
  ['a receipt of another block', withReceipt({ blockHash: blockHash(9) }), 'unknownReceipt', 3],
  ['a receipt with a hash that is none', withReceipt({ blockHash: '0x1' }), 'unknownReceipt', 3],
  ['a receipt with an index that is none', withReceipt({ transactionIndex: 'x' }), 'unknownReceipt', 3],
  ['a receipt with a receiver that is none', withReceipt({ to: '0x12' }), 'unknownReceipt', 3],
  ['a receipt with gas that is none', withReceipt({ gasUsed: 'much' }), 'unknownReceipt', 3],
  ['a receipt with a status that is none', withReceipt({ status: 'good' }), 'unknownReceipt', 3],
  ['a receipt with a bloom that is none', withReceipt({ logsBloom: 'x' }), 'unknownReceipt', 3],
  ['logs that are no list', withReceipt({ logs: {} }), 'unknownReceipt', 3],
  ['a log of another block', withLog({ blockHash: blockHash(9) }), 'unknownReceipt', 3],
  ['a log of another transaction', withLog({ transactionHash: blockHash(5) }), 'unknownReceipt', 3],
  ['a log without an address', withLog({ address: undefined }), 'unknownReceipt', 3],
  ['a log with half a topic', withLog({ topics: ['0x12'] }), 'unknownReceipt', 3],
  ['a receipt without a transaction hash', withReceipt({ transactionHash: null }), 'unknownBlock', 3],
  ['a receipt that is none', { block, receipts: [first, 7, third] }, 'unknownBlock', 3],
  ['receipts that are no list', { block, receipts: {} }, 'unknownBlock', 3],
  ['receipts in another order', { block, receipts: [second, first, third] }, 'unknownBlock', 3],
  ['no transactions', { block: { ...block, transactions: undefined as never }, receipts }, 'unknownBlock', 0],
  ['a transaction of another block', withTransaction({ blockHash: blockHash(9) }), 'unknownBlock', 0],
  ['a transaction of another height', withTransaction({ blockNumber: '0x9' }), 'unknownBlock', 0],
  ['a transaction without a hash', withTransaction({ hash: null }), 'unknownBlock', 0],
  ['a transaction with a value that is none', withTransaction({ value: 'much' }), 'unknownBlock', 0],
  ['an index that has no room', withTransaction({ transactionIndex: '0x10000' }, 2), 'unknownBlock', 0],
  ['a withdrawal without an amount', { block: { ...block, withdrawals: [{}] }, receipts }, 'unknownBlock', 0]
]

describe('a block that contradicts itself', () => {
  it.each(refusals)('is refused with the waiver that indexes it: %s', async (_, odd, check, indexed) => {
    const error = await refusal(odd, [])
    expect(error.message).toMatch(new RegExp(`\\(waiver ${check} indexes the .* unknown\\)$`))
    if (!(error instanceof BrokenChecksError)) throw error
    expect(error.waivers).toMatchObject([{ check, fromBlock: number, toBlock: number }])
    const { rows } = await read(odd, error.waivers)
    expect(rows).toMatchObject({ hasUnknown: true, hasVerifiedRoots: false, transactionCount: indexed })
    // The waiver is for this block alone.
    const later = error.waivers.map(waiver => ({ ...waiver, fromBlock: number + 1, toBlock: null }))
    await refusal(odd, later)
  })

  it('whose receipts no node has is indexed without them', async () => {
    for (const lacking of [null, []]) {
      const error = await refusal({ block, receipts: lacking }, [])
      expect(error.context.isMissing).toBe(true)
      expect(error.message).toMatch(/if no node has them, the waiver unknownBlock indexes the block with/)
      const waivers = [{ check: 'unknownBlock', reason: 'no node has them' }] as const
      const { rows } = await read({ block, receipts: lacking }, waivers)
      expect(rows).toMatchObject({ hasUnknown: true, transactionCount: 3 })
      // A node that lags is no receipt that contradicts its block.
      await refusal({ block, receipts: lacking }, [{ check: 'unknownReceipt', reason: 'some are wrong' }])
    }
  })

  it('in its place in the chain needs another node', async () => {
    for (const change of [{ number: '0x9' }, { hash: null }, { parentHash: '0x1' }, { timestamp: 'now' }]) {
      const odd = { block: { ...block, ...change }, receipts }
      const waivers = [{ check: 'unknownBlock', reason: 'a test' }] as const
      expect((await refusal(odd, waivers)).message).toMatch(/; no setting helps: use another node$/)
    }
  })

  it('in a root is indexed unverified', async () => {
    for (const part of rootParts) {
      const roots = await createRootChecks({ parts: [part] })
      const error = await read(whole, [], roots).catch((failure: unknown) => failure)
      // The made-up block has no withdrawals root.
      if (part === 'withdrawals') continue
      expect((error as Error).message).toMatch(/; "verify": "basic" indexes it unverified$/)
    }
    expect((await read(whole, [])).rows).toMatchObject({ hasUnknown: false, hasVerifiedRoots: false })
  })

  it('in several receipts has each of them unknown, and no other', async () => {
    const odd = { block, receipts: [{ ...first, blockNumber: '0x9' }, second, { ...third, status: 'x' }] }
    const { rows } = await read(odd, [{ check: 'unknownReceipt', reason: 'a test' }])
    expect(rows.transactionCount).toBe(3)
    // Sender and receiver of each, and of the second one both sides of its transfer.
    const { partyIds } = deriveRows(rows.ref.number, rows)
    expect([...rows.ids].map(id => partyIds.filter(each => each === id).length)).toEqual([2, 4, 2])
  })
})

describe('whatever stands in one member of a block', () => {
  const owners: readonly (readonly [string, Raw])[] = [
    ['header', block],
    ['transaction', block.transactions[1] ?? {}],
    ['receipt', second],
    ['log', log]
  ]
  it.each(owners)('a refusal names what lets it in: a member of the %s', async (_, owner) => {
    const text = JSON.stringify(whole)
    const checks = new Set<string>()
    for (const name of Object.keys(owner)) {
      for (const changed of new Set(changesOf(text, owner, name))) {
        let odd: Read
        try {
          odd = JSON.parse(changed) as Read
        } catch {
          continue
        }
        const waivers: Waiver[] = []
        for (let round = 0; ; round++) {
          expect(round, changed).toBeLessThan(6)
          const outcome = await read(odd, waivers).catch((error: unknown) => error)
          if (outcome instanceof BrokenChecksError) waivers.push(...outcome.waivers)
          else if (outcome instanceof NodeContradictionError) {
            expect(outcome.message).toMatch(/; no setting helps: use another node$/)
            break
          } else {
            const isUnknown = waivers.some(({ check }) => isUnknownPart(check))
            expect((outcome as DecodedRows).rows.hasUnknown, changed).toBe(isUnknown)
            break
          }
        }
        for (const { check } of waivers) checks.add(check)
      }
    }
    expect(checks.size).toBeGreaterThan(0)
  })
})
