import type { TransactionRecord } from '@chain-data/protocol'
import type { ConfirmedTransaction, EvmTransaction, PendingTransaction } from '../../model/evm.ts'
import type { FormatAddress } from './addressFormat.ts'

/**
 * A transaction as `svc_getTransactionsByAddress` returns it.
 *
 * @see spec/openrpc.json TransactionRecord: which field is there for which status and type.
 */
export function toTransactionRecord(
  transaction: PendingTransaction | ConfirmedTransaction,
  formatAddress: FormatAddress
): TransactionRecord<number | bigint> {
  return 'blockNumber' in transaction
    ? toConfirmedRecord(transaction, formatAddress)
    : toPendingRecord(transaction, formatAddress)
}

function toPendingRecord(
  transaction: PendingTransaction,
  formatAddress: FormatAddress
): TransactionRecord<number | bigint> {
  const { status, firstSeenSeconds, gasPrice } = transaction
  return {
    ...sharedFields(transaction, formatAddress),
    timestamp: firstSeenSeconds,
    status,
    ...(gasPrice === undefined ? {} : { gasPrice: quantity(gasPrice) })
  }
}

function toConfirmedRecord(
  transaction: ConfirmedTransaction,
  formatAddress: FormatAddress
): TransactionRecord<number | bigint> {
  const { status, timestampSeconds, gasPrice, gasSpent, feeWei, blockNumber, contractAddress } = transaction
  return {
    ...sharedFields(transaction, formatAddress),
    timestamp: timestampSeconds,
    status,
    gasSpent: quantity(gasSpent),
    gasPrice: quantity(gasPrice),
    fees: quantity(feeWei),
    blockNumber,
    ...(contractAddress === undefined ? {} : { contractAddress: formatAddress(contractAddress) })
  }
}

function sharedFields(transaction: EvmTransaction, formatAddress: FormatAddress) {
  const { hash, from, to, value, data, gasLimit, nonce, type } = transaction
  const { accessList, maxFeePerGas, maxPriorityFeePerGas } = transaction
  return {
    hash,
    from: formatAddress(from),
    ...(to === undefined ? {} : { to: formatAddress(to) }),
    value: quantity(value),
    data,
    gasLimit: integer(gasLimit),
    type,
    nonce: integer(nonce),
    ...(accessList === undefined
      ? {}
      : {
          accessList: accessList.map(({ address, storageKeys }) => ({
            address: formatAddress(address),
            storageKeys: [...storageKeys]
          }))
        }),
    ...(maxPriorityFeePerGas === undefined ? {} : { maxPriorityFeePerGas: quantity(maxPriorityFeePerGas) }),
    ...(maxFeePerGas === undefined ? {} : { maxFeePerGas: quantity(maxFeePerGas) })
  }
}

/** Minimal 0x-hex (EIP-1474). */
function quantity(value: bigint): string {
  return `0x${value.toString(16)}`
}

const largestExact = BigInt(Number.MAX_SAFE_INTEGER)

/** A plain number where it is exact, which almost every one is: those are written much faster. */
function integer(value: bigint): number | bigint {
  return value <= largestExact ? Number(value) : value
}
