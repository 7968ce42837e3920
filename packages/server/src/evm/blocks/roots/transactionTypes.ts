import { isAbsent, type RawObject, readCount } from '../../../nodes/evm/rawFields.ts'
import type { RlpFields, RlpValue } from './rlpFields.ts'

/** How transactions of one EIP-2718 type, and their receipts, are written. */
export interface TransactionType {
  /** The names of the fields in the order in which they are written. */
  readonly fields: readonly string[]
  /** The signature of the sender follows. Otherwise the chain made the transaction, and a field names the sender, if there is one. */
  readonly isSigned: boolean
  /** Integers that follow the logs of a receipt, in blocks whose receipts have them. */
  readonly receiptFields: readonly string[]
}

/** The fields, by how their values are written. */
const fieldsByKind = {
  integer: [
    'chainId nonce gasPrice maxPriorityFeePerGas maxFeePerGas gas value maxFeePerBlobGas queueIndex l1BaseFee',
    'depositValue retryValue maxSubmissionFee maxRefund submissionFeeRefund'
  ].join(' '),
  optionalInteger: 'mint',
  flag: 'isSystemTx',
  hash: 'sourceHash requestId ticketId',
  hashes: 'blobVersionedHashes',
  address: 'from refundTo beneficiary',
  optionalAddress: 'to retryTo feeCurrency',
  bytes: 'input retryData',
  accesses: 'accessList',
  authorizations: 'authorizationList'
}

type Kind = keyof typeof fieldsByKind
const kinds = new Map(
  Object.entries(fieldsByKind).flatMap(([kind, names]) => names.split(' ').map(name => [name, kind as Kind]))
)

const signed = (fields: string, receiptFields?: string) => toType(true, fields, receiptFields)
const unsigned = (fields: string, receiptFields?: string) => toType(false, fields, receiptFields)
const feeMarket = 'chainId nonce maxPriorityFeePerGas maxFeePerGas gas to value input accessList'

/** A deposit of the OP stack, and a message of Scroll, which is written otherwise. */
export const depositType = 0x7e
/** Begins each block of Arbitrum Nitro. */
export const arbitrumInternalType = 0x6a

/** The types that are known. A further one is one entry here; the hash of a recorded transaction shows whether it is right. */
const types: ReadonlyMap<number, TransactionType> = new Map([
  // Ethereum: EIP-155, 2930, 1559, 4844, 7702.
  [0, signed('nonce gasPrice gas to value input')],
  [1, signed('chainId nonce gasPrice gas to value input accessList')],
  [2, signed(feeMarket)],
  [3, signed(`${feeMarket} maxFeePerBlobGas blobVersionedHashes`)],
  [4, signed(`${feeMarket} authorizationList`)],
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

/** @throws {NodeContradictionError} when a field is missing or malformed. */
export function readPayload({ fields }: TransactionType, tx: RlpFields): RlpValue[] {
  return fields.map(name => tx[kinds.get(name) as Kind](name))
}

function toType(isSigned: boolean, fields: string, receiptFields?: string): TransactionType {
  return { fields: fields.split(' '), isSigned, receiptFields: receiptFields?.split(' ') ?? [] }
}
