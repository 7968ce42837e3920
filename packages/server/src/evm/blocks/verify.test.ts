import { describe, expect, it } from 'vitest'
import { NodeContradictionError } from '../../platform/errors.ts'
import { verifyHeader, verifyReceipts } from './verify.ts'

const hash = (digit: string) => `0x${digit.repeat(64)}`
const transactions = ['1', '2', '3'].map((digit, index) => ({
  hash: hash(digit),
  blockHash: hash('9'),
  blockNumber: '0x10',
  transactionIndex: `0x${index}`
}))
const block = { number: '0x10', hash: hash('9'), parentHash: hash('8'), timestamp: '0x65', transactions }
const receipts = transactions.map(({ hash: transactionHash, ...place }) => ({ transactionHash, ...place }))
const changed = <T>(list: readonly T[], place: number, change: object) =>
  list.map((item, i) => (i === place ? { ...item, ...change } : item))

describe('verifyHeader', () => {
  it('accepts a block that agrees with itself', () => {
    const header = verifyHeader(block, 16)
    expect(header).toMatchObject({
      ref: { number: 16, hash: hash('9') },
      parentHash: hash('8'),
      timestampSeconds: 101
    })
    expect(header.transactions.map(({ index }) => index)).toEqual([0, 1, 2])
  })

  it("keeps the node's places when they leave gaps, and counts where there are none", () => {
    const gaps = changed(transactions, 2, { transactionIndex: '0x7' })
    expect(verifyHeader({ ...block, transactions: gaps }, 16).transactions[2]?.index).toBe(7)
    const bare = transactions.map(({ transactionIndex: _, ...rest }) => rest)
    expect(verifyHeader({ ...block, transactions: bare }, 16).transactions[2]?.index).toBe(2)
  })

  it.each<[string, unknown, RegExp]>([
    ['nothing', null, /^block 16 is null/],
    [
      'another block',
      { ...block, number: '0x11' },
      /^block 16: the node answered block 17; no setting helps: use another node$/
    ],
    ['a pending block', { ...block, hash: null }, /^block 16: hash is null/],
    ['a block without parent', { ...block, parentHash: undefined }, /parentHash is nothing/],
    [
      'hashes only',
      { ...block, transactions: [hash('1')] },
      /^block 16: transaction 0 is .* \(waiver unknownBlock indexes/
    ],
    ['no transactions member', { ...block, transactions: undefined }, /transactions is nothing/],
    [
      'a transaction of another block',
      { ...block, transactions: changed(transactions, 1, { blockHash: hash('7') }) },
      /transaction 1 is of block 0x7777/
    ],
    [
      'a transaction of another height',
      { ...block, transactions: changed(transactions, 1, { blockNumber: '0x11' }) },
      /transaction 1 is of block 17/
    ]
  ])('refuses %s', (_, raw, message) => {
    expect(() => verifyHeader(raw, 16)).toThrow(NodeContradictionError)
    expect(() => verifyHeader(raw, 16)).toThrow(message)
  })
})

it('verifyHeader lists the waivable checks that a block breaks, for its receipts to be added', () => {
  expect(verifyHeader(block, 16).broken).toEqual([])
  const reversed = { ...block, transactions: [...transactions].reverse() }
  expect(verifyHeader(reversed, 16).broken).toEqual([
    { check: 'transactionIndex', what: 'transaction 1 has index 1 after index 2', count: 2 }
  ])
})

describe('verifyReceipts', () => {
  const header = verifyHeader(block, 16)

  it('puts each receipt to its transaction', () => {
    const verified = verifyReceipts(header, receipts)
    expect(verified.transactions.map(({ receipt }) => receipt)).toEqual(receipts)
  })

  it.each<[string, unknown, RegExp]>([
    ['null', null, /the node does not have its receipts/],
    ['an empty list', [], /0 receipts for 3 transactions/],
    ['too few', receipts.slice(0, 2), /2 receipts for 3 transactions/],
    ['too many', [...receipts, receipts[0]], /4 receipts for 3 transactions/],
    ['two swapped', [receipts[1], receipts[0], receipts[2]], /receipt 0 is for 0x22.*not for 0x11/],
    ['one missing', changed(receipts, 1, {}).map((r, i) => (i === 1 ? null : r)), /none for 0x22/],
    ['one of another block', changed(receipts, 2, { blockHash: hash('7') }), /receipt 2 is of block 0x7777/],
    [
      'one without block',
      changed(receipts, 2, { blockHash: undefined }),
      /receipt 2: blockHash is missing \(waiver receiptBlockHash\)/
    ],
    ['one of another height', changed(receipts, 0, { blockNumber: '0xf' }), /receipt 0 is of block 15/],
    ['one of another place', changed(receipts, 0, { transactionIndex: '0x1' }), /receipt 0 has index 1/]
  ])('refuses %s', (_, raw, message) => {
    expect(() => verifyReceipts(header, raw)).toThrow(NodeContradictionError)
    expect(() => verifyReceipts(header, raw)).toThrow(message)
  })
})
