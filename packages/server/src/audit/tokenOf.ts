import type { TokenName } from '../model/accountState.ts'
import type { Address, TokenTransfer } from '../model/evm.ts'

export const zeroAddress: Address = '0x0000000000000000000000000000000000000000'

/** Sorts by contract, then standard, then id: ids have as many digits as the largest. */
export function tokenKey({ standard, contract, tokenId }: TokenName): string {
  return tokenId === undefined
    ? `${contract} ${standard}`
    : `${contract} ${standard} ${tokenId.toString(16).padStart(64, '0')}`
}

/** The balance that a transfer changes, or a candidate for holdings hints at. */
export function tokenOf({
  standard,
  contract,
  tokenId
}: Pick<TokenTransfer, 'standard' | 'contract' | 'tokenId'>): TokenName {
  return standard === 'erc1155' && tokenId !== undefined
    ? { standard, contract, tokenId }
    : { standard, contract }
}

/** How much of this balance a transfer moves: base units, or so many tokens. */
export function movedBy({
  standard,
  amount = 0n,
  tokenId = 0n,
  lastTokenId = tokenId
}: TokenTransfer): bigint {
  return standard === 'erc721' ? lastTokenId - tokenId + 1n : amount
}
