import { encodeCall } from '../state/abi.ts'
import { type OwnershipReader, readAmount, wordCall } from './ownership.ts'

/**
 * `balanceOf(address)`. A contract that does not answer is silent, not empty.
 * @see EIP-20
 */
export const erc20Ownership: OwnershipReader = {
  call: ({ contract, owner }) => wordCall(contract, encodeCall('0x70a08231', owner)),
  read: readAmount
}
