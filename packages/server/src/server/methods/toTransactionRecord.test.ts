import type { ConfirmedTransaction, PendingTransaction } from '@chain-data/index'
import { describe, expect, it } from 'vitest'
import { createAddressFormat } from '../../platform/addressFormat.ts'
import { toTransactionRecord } from './createRecordWriter.ts'

// EIP-55's own examples.
const sender = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
const receiver = '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359'
const lower = (address: string) => address.toLowerCase() as `0x${string}`
const hash = `0x${'ab'.repeat(32)}` as const
const format = createAddressFormat()

const core = {
  hash,
  from: lower(sender),
  to: lower(receiver),
  value: 0n,
  data: '0x',
  gasLimit: 21_000n,
  nonce: 0n
} as const
const coreRecord = { hash, from: sender, to: receiver, value: '0x0', data: '0x', gasLimit: 21_000, nonce: 0 }

describe('a record of a pending transaction', () => {
  it('has the first-seen second and no fees', () => {
    const pending: PendingTransaction = {
      ...core,
      type: 0,
      status: 1,
      gasPrice: 255n,
      firstSeenSeconds: 1_700_000_000
    }
    expect(toTransactionRecord(pending, format)).toEqual({
      ...coreRecord,
      type: 0,
      status: 1,
      gasPrice: '0xff',
      timestamp: 1_700_000_000
    })
  })

  it('of type 2 has no gasPrice, but what it offers at most', () => {
    const pending: PendingTransaction = {
      ...core,
      type: 2,
      status: 0,
      accessList: [{ address: lower(receiver), storageKeys: [hash] }],
      maxFeePerGas: 16n,
      maxPriorityFeePerGas: 0n,
      firstSeenSeconds: 1
    }
    expect(toTransactionRecord(pending, format)).toEqual({
      ...coreRecord,
      type: 2,
      status: 0,
      accessList: [{ address: receiver, storageKeys: [hash] }],
      maxFeePerGas: '0x10',
      maxPriorityFeePerGas: '0x0',
      timestamp: 1
    })
  })
})

describe('a record of a confirmed transaction', () => {
  const confirmed: ConfirmedTransaction = {
    ...core,
    type: 1,
    accessList: [],
    blockNumber: 7,
    index: 3,
    timestampSeconds: 1_600_000_000,
    status: 4,
    gasPrice: 10n,
    gasSpent: 21_000n,
    feeWei: 210_000n
  }

  it('has gas and fees, also when it failed, and no place in the block', () => {
    expect(toTransactionRecord(confirmed, format)).toEqual({
      ...coreRecord,
      type: 1,
      accessList: [],
      status: 4,
      timestamp: 1_600_000_000,
      gasSpent: '0x5208',
      gasPrice: '0xa',
      fees: '0x33450',
      blockNumber: 7
    })
  })

  it('of a creation names the contract instead of a receiver', () => {
    const { to: _to, ...creation } = confirmed
    const record = toTransactionRecord({ ...creation, contractAddress: lower(receiver) }, format)
    expect(record).toMatchObject({ contractAddress: receiver })
    expect(record).not.toHaveProperty('to')
  })

  it('keeps every digit of 64-bit integers', () => {
    const record = toTransactionRecord(
      { ...confirmed, nonce: 2n ** 64n - 2n, gasLimit: 2n ** 53n - 1n },
      format
    )
    expect(record).toMatchObject({ nonce: 2n ** 64n - 2n, gasLimit: 2 ** 53 - 1 })
  })
})
