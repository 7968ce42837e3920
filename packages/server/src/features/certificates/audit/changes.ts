import type { AccountEvent, Address, TokenTransfer } from '@chain-data/index'
import { sumOf } from '../../../evm/blocks/nativeChange.ts'
import type { TokenName } from './accountState.ts'

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
