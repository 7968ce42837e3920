import type { Address } from '@chain-data/index'
import { addressBytes, toHex } from '@chain-data/index/record'
import { RLP } from '@ethereumjs/rlp'
import { keccak256 } from '../../../platform/keccak256.ts'

/**
 * Computes the address of the contract that a transaction without a receiver creates.
 * @param nonce - of that transaction.
 */
export function createdAddress(creator: Address, nonce: bigint): Address {
  return toHex(keccak256(RLP.encode([addressBytes(creator), nonce])).subarray(12))
}
