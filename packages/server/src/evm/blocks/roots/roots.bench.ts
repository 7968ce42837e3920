import { toHex } from '@chain-data/index/record'
import { Transaction, Wallet } from 'ethers'
import { it } from 'vitest'
import { keccak256 } from '../../../platform/keccak256.ts'
import type { VerifiedBlock } from '../verification/verifiedBlock.ts'
import { verifyHeader, verifyReceipts } from '../verify.ts'
import { encodeReceipt } from './encodeTransaction.ts'
import { loadRecoverSender } from './recoverSender.ts'
import { trieRoot } from './trieRoot.ts'
import { verifyReceiptsRoot } from './verifyReceiptsRoot.ts'
import {
  encodeTransactions,
  verifyHashes,
  verifySenders,
  verifyTransactionsRoot
} from './verifyTransactionsRoot.ts'

/*
 * What it costs to hold a block against its header, beside verifying it in itself: 200 token transfers of type 2, signed by
 * ten accounts, with one log of two accounts each.
 */

const count = 200
const hex = (value: number, digits = 1) => `0x${value.toString(16).padStart(digits, '0')}`
const blockHash = hex(16, 64)
const at = (i: number) => ({ blockHash, blockNumber: '0x10', transactionIndex: hex(i) })
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef'
const wallets = Array.from({ length: 10 }, (_, i) => new Wallet(hex(i + 1, 64)))

const transactions = await Promise.all(
  Array.from({ length: count }, async (_, i) => {
    const wallet = wallets[i % wallets.length] as Wallet
    const fields = { nonce: i, gasLimit: 65_000, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n }
    const data = `0xa9059cbb${hex(i, 64).slice(2)}${hex(1_000, 64).slice(2)}`
    const to = hex(7, 40)
    const signed = Transaction.from(
      await wallet.signTransaction({ ...fields, type: 2, chainId: 1, to, data })
    )
    const { r, s, yParity } = signed.signature as NonNullable<typeof signed.signature>
    return {
      ...{ ...at(i), hash: signed.hash, type: '0x2', chainId: '0x1', nonce: hex(i), gas: hex(65_000) },
      ...{ maxFeePerGas: hex(2_000_000_000), maxPriorityFeePerGas: '0x1', to, value: '0x0', input: data },
      ...{ accessList: [], r, s, yParity: hex(yParity), from: wallet.address.toLowerCase() }
    }
  })
)
const receipts = transactions.map(({ hash, from }, i) => ({
  ...{ ...at(i), transactionHash: hash, type: '0x2', status: '0x1', logsBloom: `0x${'0'.repeat(512)}` },
  ...{
    gasUsed: hex(50_000),
    cumulativeGasUsed: hex(50_000 * (i + 1)),
    effectiveGasPrice: hex(1_000_000_001)
  },
  logs: [
    {
      ...{ ...at(i), transactionHash: hash, logIndex: hex(i), address: hex(7, 40), data: hex(1_000, 64) },
      topics: [transferTopic, `0x${from.slice(2).padStart(64, '0')}`, hex(i, 64)]
    }
  ]
}))
const header = {
  ...verifyHeader(
    { number: '0x10', hash: blockHash, parentHash: hex(15, 64), timestamp: '0x1', transactions },
    16
  )
}
const encoded = encodeTransactions(header, true)
const raw = {
  ...header.raw,
  baseFeePerGas: hex(1_000_000_000),
  transactionsRoot: toHex(trieRoot(encoded.map(({ bytes }) => bytes))),
  receiptsRoot: toHex(trieRoot(receipts.map(each => encodeReceipt(each, { type: '0x2' }, 'receipt'))))
}
const whole = { ...header, raw }
const block: VerifiedBlock = {
  ...whole,
  transactions: header.transactions.map((each, i) => ({ ...each, receipt: { ...receipts[i] } }))
}
const blank = receipts.map(({ logsBloom: _, ...each }) => each)
const recover = await loadRecoverSender()
const bytes = new Uint8Array(740)

it(`a block of ${count} transactions costs`, async ({ bench }) => {
  await bench.compare(
    bench('verification in itself', () => {
      verifyReceipts(header, blank)
    }),
    bench('encoding, hashes and root of its transactions', () => {
      const encoded = encodeTransactions(whole, true)
      verifyHashes(whole, encoded)
      verifyTransactionsRoot(whole, encoded)
    }),
    bench('the root of its receipts', () => {
      verifyReceiptsRoot(block, true)
    }),
    bench('its senders', () => {
      verifySenders(whole, encoded, recover, true)
    }),
    bench('Keccak of 740 bytes, 200 times', () => {
      for (let i = 0; i < count; i++) keccak256(bytes)
    })
  )
})
