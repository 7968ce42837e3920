import type { Address } from '../../model/evm.ts'
import { decodeAddress, encodeCall } from '../state/abi.ts'
import type { ContractCall } from '../state/contractCall.ts'
import { type OwnershipReader, wordCall } from './ownership.ts'
import { uriCall } from './tokenUri.ts'

/**
 * `ownerOf(uint256)`. A revert means that the token does not exist (any more): EIP-721 demands it.
 * @see EIP-721
 */
export const erc721Ownership: OwnershipReader = {
  call: ({ contract, tokenId = 0n }) => wordCall(contract, encodeCall('0x6352211e', tokenId)),
  read(result, { owner }) {
    if (result.kind === 'failed') return { kind: 'unreadable' }
    if (result.kind === 'reverted') return { kind: 'none' }
    if (result.data === '') return { kind: 'silent' }
    const holder = decodeAddress(result.data)
    if (holder === undefined) return { kind: 'unreadable' }
    return holder === owner ? { kind: 'held', amount: 1n } : { kind: 'none' }
  }
}

/** `tokenURI(uint256)` */
export function erc721UriCall(contract: Address, tokenId: bigint): ContractCall {
  return uriCall(contract, encodeCall('0xc87b56dd', tokenId))
}
