import type { AccountEvent, Address, ConfirmedTransaction } from '@chain-data/index'
import type { RecordDetails } from '@chain-data/index/record'

/** A transaction with what is known of what happened in it. */
export interface KnownTransaction extends RecordDetails {
  readonly transaction: ConfirmedTransaction
}

/** The parts of a change of the native balance that one transaction makes, in wei. */
interface NativeMoves {
  readonly received: bigint
  readonly sent: bigint
  readonly fees: bigint
  readonly internalReceived: bigint
  readonly internalSent: bigint
}

/**
 * Value moves only where the transaction succeeded; its fee is paid either way. Value sent to oneself counts on both sides.
 * Nothing is known to have moved where the receipt is unknown.
 */
export function nativeMoves({ transaction, internal = [] }: KnownTransaction, account: Address): NativeMoves {
  const { from, to, contractAddress, status, value, feeWei } = transaction
  const isMoved = status === 3
  const receiver = to ?? contractAddress
  return {
    received: isMoved && receiver === account ? value : 0n,
    sent: isMoved && from === account ? value : 0n,
    fees: from === account ? (feeWei ?? 0n) : 0n,
    internalReceived: sumOf(internal, transfer => (transfer.to === account ? transfer.value : 0n)),
    internalSent: sumOf(internal, transfer => (transfer.from === account ? transfer.value : 0n))
  }
}

export function nativeChange(moves: NativeMoves): bigint {
  return moves.received - moves.sent - moves.fees + moves.internalReceived - moves.internalSent
}

/** Returns how the events of one block change the native balance. */
export function nativeChangeOfEvents(events: readonly AccountEvent[]): bigint {
  return sumOf(events, event => {
    if (!('amount' in event)) return 0n
    return event.kind === 'burn' ? -event.amount : event.amount
  })
}

export function sumOf<T>(items: Iterable<T>, amountOf: (item: T) => bigint): bigint {
  let sum = 0n
  for (const item of items) sum += amountOf(item)
  return sum
}
