import type { RecordDetails } from '../index/record/details.ts'
import type { AccountEvent, Address, ConfirmedTransaction, TokenTransfer } from '../model/evm.ts'
import type { TokenName } from './accountState.ts'

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

/** Value moves only where the transaction succeeded; its fee is paid either way. Value sent to oneself counts on both sides. */
export function nativeMoves({ transaction, internal = [] }: KnownTransaction, account: Address): NativeMoves {
  const { from, to, contractAddress, status, value, feeWei } = transaction
  const isMoved = status === 3
  const receiver = to ?? contractAddress
  return {
    received: isMoved && receiver === account ? value : 0n,
    sent: isMoved && from === account ? value : 0n,
    fees: from === account ? feeWei : 0n,
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

/** Counts the contracts that the account's code has created in one block. */
export function creationsIn(events: readonly AccountEvent[]): bigint {
  return sumOf(events, event => (event.kind === 'creation' ? BigInt(event.count) : 0n))
}

/** The change of an account's balance by transfers of one token. */
interface TokenChange {
  /** As logged transfers say it. */
  readonly logged: bigint
  /** As wrapping says it, which a contract may log instead of transfers, or as well. */
  readonly wrapped: bigint
}

export function tokenChange(
  transfers: readonly TokenTransfer[],
  token: TokenName,
  account: Address
): TokenChange {
  const key = tokenKey(token)
  const own = transfers.filter(transfer => tokenKey(tokenOf(transfer)) === key)
  const netOf = (transfer: TokenTransfer) =>
    (transfer.to === account ? movedBy(transfer) : 0n) - (transfer.from === account ? movedBy(transfer) : 0n)
  return {
    logged: sumOf(own, transfer => (transfer.isWrapping ? 0n : netOf(transfer))),
    wrapped: sumOf(own, transfer => (transfer.isWrapping ? netOf(transfer) : 0n))
  }
}

export function sumOf<T>(items: Iterable<T>, amountOf: (item: T) => bigint): bigint {
  let sum = 0n
  for (const item of items) sum += amountOf(item)
  return sum
}

export const zeroAddress: Address = '0x0000000000000000000000000000000000000000'

/** Sorts by contract, then standard, then id: ids have as many digits as the largest. */
export function tokenKey({ standard, contract, tokenId }: TokenName): string {
  return tokenId === undefined
    ? `${contract} ${standard}`
    : `${contract} ${standard} ${tokenId.toString(16).padStart(64, '0')}`
}

/** Names the balance that a transfer changes, or that a candidate for holdings hints at. */
export function tokenOf({
  standard,
  contract,
  tokenId
}: Pick<TokenTransfer, 'standard' | 'contract' | 'tokenId'>): TokenName {
  return standard === 'erc1155' && tokenId !== undefined
    ? { standard, contract, tokenId }
    : { standard, contract }
}

/** Returns how much of this balance a transfer moves: base units, or a number of tokens. */
export function movedBy({
  standard,
  amount = 0n,
  tokenId = 0n,
  lastTokenId = tokenId
}: TokenTransfer): bigint {
  return standard === 'erc721' ? lastTokenId - tokenId + 1n : amount
}
