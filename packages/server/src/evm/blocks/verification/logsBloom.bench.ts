import { it } from 'vitest'
import { verifyHeader, verifyReceipts } from '../verify.ts'

/*
 * What it costs to hold the receipts of a block against it, beside parsing the same bytes, which comes first in any
 * case. 200 transactions, 300 transfers of 40 tokens between accounts of which one in four comes back.
 */

const transactions = 200
const logs = 300
const hex = (value: number, digits: number) => `0x${value.toString(16).padStart(digits, '0')}`
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const blockHash = hex(16, 64)
let account = 0

/** Receipts state no blooms of their own, so that the accounts can change without hashing here. */
function receiptsText(): string {
  const receipts = Array.from({ length: transactions }, (_, i) => {
    const place = {
      blockHash,
      blockNumber: '0x10',
      transactionHash: hex(i + 1, 64),
      transactionIndex: hex(i, 1)
    }
    const first = Math.ceil((i * logs) / transactions)
    const next = Math.ceil(((i + 1) * logs) / transactions)
    return {
      ...place,
      from: hex(5_000 + i, 40),
      to: hex(i % 40, 40),
      gasUsed: '0x5208',
      cumulativeGasUsed: hex(21_000 * (i + 1), 1),
      effectiveGasPrice: '0x3b9aca00',
      status: '0x1',
      type: '0x2',
      contractAddress: null,
      logs: Array.from({ length: next - first }, (_, j) => ({
        ...place,
        address: hex((first + j) % 40, 40),
        topics: [transferTopic, hex(j % 2 ? 7 : ++account, 64), hex(++account, 64)],
        data: hex(1_000 + j, 64),
        logIndex: hex(first + j, 1),
        removed: false
      }))
    }
  })
  return JSON.stringify(receipts)
}

const header = verifyHeader(
  {
    number: '0x10',
    hash: blockHash,
    parentHash: hex(15, 64),
    timestamp: '0x1',
    transactions: Array.from({ length: transactions }, (_, i) => ({
      hash: hex(i + 1, 64),
      transactionIndex: hex(i, 1)
    }))
  },
  16
)
const text = receiptsText()
const parsed = JSON.parse(text) as unknown
// More blocks than the memo of hashes holds accounts of, so that most are new whenever a block comes round again.
const fresh = Array.from({ length: 60 }, () => JSON.parse(receiptsText()) as unknown)
let next = 0

it(`a block of ${transactions} transactions with ${logs} logs costs`, async ({ bench }) => {
  await bench.compare(
    bench('JSON.parse of its receipts', () => {
      JSON.parse(text)
    }),
    bench('verification, accounts never seen before', () => {
      verifyReceipts(header, fresh[next++ % fresh.length])
    }),
    bench('verification, every account seen before', () => {
      verifyReceipts(header, parsed)
    })
  )
})
