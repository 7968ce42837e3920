import type { Address } from '../../model/evm.ts'
import { encodeCall } from '../state/abi.ts'
import type { ContractCall } from '../state/contractCall.ts'
import { type OwnershipReader, readAmount, wordCall } from './ownership.ts'
import { uriCall } from './tokenUri.ts'

/**
 * `balanceOf(address,uint256)`
 * @see EIP-1155
 */
export const erc1155Ownership: OwnershipReader = {
  call: ({ contract, owner, tokenId = 0n }) => wordCall(contract, encodeCall('0x00fdd58e', owner, tokenId)),
  read: readAmount
}

/** `uri(uint256)`; `{id}` is left for whoever fetches it. */
export function erc1155UriCall(contract: Address, tokenId: bigint): ContractCall {
  return uriCall(contract, encodeCall('0x0e89341c', tokenId))
}
