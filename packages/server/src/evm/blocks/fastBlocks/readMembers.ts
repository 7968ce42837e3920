import { decline } from './decline.ts'
import type { Members } from './Members.ts'

/*
 * Which members are read of what nodes send. Each is spoken of by its number, which is its place in the list.
 */

/** What is read of a block. */
export const inBlock = {
  transactions: 0,
  number: 1,
  hash: 2,
  parentHash: 3,
  timestamp: 4,
  logsBloom: 5,
  transactionsRoot: 6,
  receiptsRoot: 7,
  baseFeePerGas: 8,
  miner: 9,
  withdrawals: 10
} as const

/** See `MemberNames`. */
export const fixedInBlock = { hash: 32, parentHash: 32, logsBloom: 256 }

/** What is read of a transaction. */
export const inTransaction = {
  hash: 0,
  blockHash: 1,
  blockNumber: 2,
  transactionIndex: 3,
  from: 4,
  to: 5,
  value: 6,
  gas: 7,
  nonce: 8,
  type: 9,
  input: 10,
  data: 11,
  gasPrice: 12,
  maxFeePerGas: 13,
  maxPriorityFeePerGas: 14,
  accessList: 15,
  chainId: 16,
  mint: 17,
  authorizationList: 18
} as const

export const fixedInTransaction = { hash: 32, blockHash: 32, from: 20, to: 20 }

/** What is read of a receipt. */
export const inReceipt = {
  logs: 0,
  transactionHash: 1,
  blockHash: 2,
  blockNumber: 3,
  transactionIndex: 4,
  from: 5,
  to: 6,
  gasUsed: 7,
  cumulativeGasUsed: 8,
  effectiveGasPrice: 9,
  status: 10,
  contractAddress: 11,
  logsBloom: 12,
  depositNonce: 13,
  l1Fee: 14,
  blobGasUsed: 15,
  blobGasPrice: 16
} as const

export const fixedInReceipt = { transactionHash: 32, blockHash: 32, from: 20, to: 20, logsBloom: 256 }

/** What is read of a log. */
export const inLog = {
  address: 0,
  topics: 1,
  data: 2,
  blockHash: 3,
  blockNumber: 4,
  transactionHash: 5,
  transactionIndex: 6,
  logIndex: 7
} as const

export const fixedInLog = { address: 20, blockHash: 32, transactionHash: 32 }

/** What is read of a withdrawal. */
export const inWithdrawal = { address: 0, amount: 1 } as const

export const fixedInWithdrawal = { address: 20 }

/** `input`, else `data`, else nothing: place of the first digit, and how many bytes follow. */
export function calldataOf(transaction: Members): { readonly first: number; readonly length: number } {
  const member = transaction.has(inTransaction.input) ? inTransaction.input : inTransaction.data
  if (!transaction.has(member)) return { first: 0, length: 0 }
  const first = transaction.digits(member)
  const digits = transaction.digitCount(member)
  if (digits % 2 !== 0) decline()
  return { first, length: digits / 2 }
}
