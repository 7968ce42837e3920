import { it } from 'vitest'
import { address, erc20Transfer, rawBlock, wordOf } from '../../../../test/blocks/rawBlock.ts'
import { encodeBlock } from '../../../index/record/encodeBlock.ts'
import { normalizeBlock } from '../normalize.ts'
import { verifyHeader, verifyReceipts } from '../verify.ts'
import { createHeaderScan } from './scanHeader.ts'
import { createReceiptsScan } from './scanReceipts.ts'

/*
 * One block from the bytes of its two results to the rows of the store, beside parsing the same bytes, which is the least
 * that reading them in the ordinary way can cost. 150 transactions, every second one a token transfer.
 *
 * This runner makes calls between modules dear, which the bytes pay most for: in the server they cost about half as much beside
 * the rest.
 */

const number = 16
const transactions = 150
const { block, receipts } = rawBlock(
  number,
  Array.from({ length: transactions }, (_, i) => {
    const fees = {
      type: '0x2',
      maxFeePerGas: '0x77359400',
      maxPriorityFeePerGas: '0x3b9aca00',
      accessList: []
    }
    const [from, to] = [address(1_000 + i), address(2_000 + i)]
    if (i % 2 === 0) return { transaction: { ...fees, from, to } }
    const input = `0xa9059cbb${wordOf(to).slice(2)}${wordOf('0x5').slice(2)}`
    const token = address(500 + (i % 40))
    return { transaction: { ...fees, from, to: token, input }, logs: [erc20Transfer(token, from, to)] }
  })
)
const texts = [block, receipts].map(part => JSON.stringify(part)) as [string, string]
const [blockBytes, receiptBytes] = texts.map(text => Buffer.from(text)) as [Buffer, Buffer]
const scanHeader = createHeaderScan()
const scanReceipts = createReceiptsScan()

function parse(): [unknown, unknown] {
  return [JSON.parse(blockBytes.toString('utf8')), JSON.parse(receiptBytes.toString('utf8'))]
}

it(`a block of ${transactions} transactions costs`, async ({ bench }) => {
  await bench.compare(
    bench('to be parsed', () => {
      parse()
    }),
    bench('to be read in the ordinary way', () => {
      const [rawBlock, rawReceipts] = parse()
      encodeBlock(normalizeBlock(verifyReceipts(verifyHeader(rawBlock, number), rawReceipts)).block)
    }),
    bench('to be read from bytes', () => {
      const header = scanHeader(blockBytes, number)
      if (header === undefined || scanReceipts(header, receiptBytes) === undefined)
        throw new Error('declined')
    })
  )
})
