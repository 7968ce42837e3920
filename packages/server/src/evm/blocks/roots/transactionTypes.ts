import { isAbsent, type RawObject, readCount } from '../../../nodes/evm/rawFields.ts'
import type { RlpFields, RlpValue } from './rlpFields.ts'
import { readCalls, readKeyAuthorization, readSponsor, readTempoAuthorizations } from './tempoTransaction.ts'

/** How transactions of one EIP-2718 type, and their receipts, are written. */
export interface TransactionType {
  /** The names of the fields in the order in which they are written. */
  readonly fields: readonly string[]
  /**
   * The signature of the sender that follows: parity, `r` and `s`, or the bytes of one of Tempo. With `none` the chain made the
   * transaction, and a field names the sender, if there is one.
   */
  readonly signature: 'none' | 'point' | 'tempo'
  /** The names of the fields that follow the signature; the sender signed them with the others. */
  readonly laterFields: readonly string[]
  /** Integers that follow the logs of a receipt, in blocks whose receipts have them. */
  readonly receiptFields: readonly string[]
}

/** The fields, by how their values are written. */
const fieldsByKind = {
  integer: [
    'chainId nonce gasPrice maxPriorityFeePerGas maxFeePerGas gas value maxFeePerBlobGas queueIndex l1BaseFee',
    'depositValue retryValue maxSubmissionFee maxRefund submissionFeeRefund nonceKey'
  ].join(' '),
  optionalInteger: 'mint timeoutTimestamp validBefore validAfter',
  flag: 'isSystemTx',
  hash: 'sourceHash requestId ticketId',
  hashes: 'blobVersionedHashes',
  address: 'from refundTo beneficiary',
  optionalAddress: 'to retryTo feeCurrency feeToken',
  bytes: 'input retryData',
  accesses: 'accessList',
  authorizations: 'authorizationList'
}

type Reader = (tx: RlpFields, name: string) => RlpValue

/** How the value of each field is read. */
const readers = new Map<string, Reader>([
  ...Object.entries(fieldsByKind).flatMap(([kind, names]) =>
    names
      .split(' ')
      .map((name): [string, Reader] => [name, (tx, name) => tx[kind as keyof typeof fieldsByKind](name)])
  ),
  ['calls', readCalls],
  ['feePayerSignature', readSponsor],
  ['aaAuthorizationList', readTempoAuthorizations],
  ['keyAuthorization', readKeyAuthorization]
])
/** A field that is not written where it is missing. */
const appendedField = 'keyAuthorization'

const signed = (fields: string, receiptFields?: string) => toType('point', fields, receiptFields)
const unsigned = (fields: string, receiptFields?: string) => toType('none', fields, receiptFields)
const feeMarket = 'chainId nonce maxPriorityFeePerGas maxFeePerGas gas to value input accessList'

/** A deposit of the OP stack, and a message of Scroll, which is written otherwise. */
export const depositType = 0x7e
/** Begins each block of Arbitrum Nitro. */
export const arbitrumInternalType = 0x6a

/** Tempo's own type. */
export const tempoType = 0x76
/** Stable's own type. */
export const stableType = 0x3f
const tempoFields = [
  'chainId maxPriorityFeePerGas maxFeePerGas gas calls accessList nonceKey nonce validBefore validAfter feeToken',
  'feePayerSignature aaAuthorizationList keyAuthorization'
].join(' ')

/** The types that are known. A further one is one entry here; the hash of a recorded transaction shows whether it is right. */
const types: ReadonlyMap<number, TransactionType> = new Map([
  // Ethereum: EIP-155, 2930, 1559, 4844, 7702.
  [0, signed('nonce gasPrice gas to value input')],
  [1, signed('chainId nonce gasPrice gas to value input accessList')],
  [2, signed(feeMarket)],
  [3, signed(`${feeMarket} maxFeePerBlobGas blobVersionedHashes`)],
  [4, signed(`${feeMarket} authorizationList`)],
  // Stable. @see https://github.com/subsquid/squid-sdk/blob/b1bb0b3aba67339c8d4ecd54fc5ae75ddf83fafe/evm/evm-rpc/src/verification.ts
  [stableType, { ...signed(feeMarket), laterFields: ['nonceKey', 'timeoutTimestamp'] }],
  // Arbitrum Nitro. @see https://github.com/OffchainLabs/go-ethereum/blob/master/core/types/arb_types.go
  [0x64, unsigned('chainId requestId from to value')],
  [0x65, unsigned('chainId from nonce gasPrice gas to value input')],
  [0x66, unsigned('chainId requestId from gasPrice gas to value input')],
  [
    0x68,
    unsigned('chainId nonce from gasPrice gas to value input ticketId refundTo maxRefund submissionFeeRefund')
  ],
  [
    0x69,
    unsigned(
      'chainId requestId from l1BaseFee depositValue gasPrice gas retryTo retryValue beneficiary maxSubmissionFee refundTo retryData'
    )
  ],
  [arbitrumInternalType, unsigned('chainId input')],
  // Tempo. @see https://github.com/tempoxyz/tempo/blob/main/crates/primitives/src/transaction/tempo_transaction.rs
  [tempoType, toType('tempo', tempoFields)],
  // Celo. @see https://github.com/celo-org/celo-proposals/blob/master/CIPs/cip-0064.md
  [0x7b, signed(`${feeMarket} feeCurrency`, 'baseFee')],
  // The OP stack; receipts have these fields from Canyon on. @see https://specs.optimism.io/protocol/deposits.html
  [
    depositType,
    unsigned('sourceHash from to mint value gas isSystemTx input', 'depositNonce depositReceiptVersion')
  ]
])

/** @see https://github.com/scroll-tech/go-ethereum/blob/develop/core/types/l1_message_tx.go */
const scrollMessage = unsigned('queueIndex gas to value input from')

/** Finds how a transaction and its receipt are written; absent: its type is not known. */
export function findType(raw: RawObject, where: string): TransactionType | undefined {
  const type = readType(raw, where)
  return type === depositType && !isAbsent(raw.queueIndex) ? scrollMessage : types.get(type)
}

/** The number of a transaction's EIP-2718 type; 0 where the node has none. */
export function readType({ type }: RawObject, where: string): number {
  return isAbsent(type) ? 0 : readCount(type, where, 'type')
}

/**
 * Reads the values of fields in the order in which they are written.
 * @throws {NodeContradictionError} when a field is missing or malformed.
 */
export function readFields(names: readonly string[], tx: RlpFields): RlpValue[] {
  const written = names.filter(name => name !== appendedField || tx.has(name))
  return written.map(name => (readers.get(name) as Reader)(tx, name))
}

function toType(
  signature: TransactionType['signature'],
  fields: string,
  receiptFields?: string
): TransactionType {
  return {
    ...{ signature, fields: fields.split(' '), laterFields: [] },
    receiptFields: receiptFields?.split(' ') ?? []
  }
}
