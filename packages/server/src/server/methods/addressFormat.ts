import { getAddress } from 'ethers'
import type { Address } from '../../model/evm.ts'
import { BoundedMap } from '../../platform/boundedMap.ts'

/** Writes an address as the wire has it: EIP-55 checksummed. */
export type FormatAddress = (address: Address) => string

const remembered = 50_000

/** A checksum costs a hash, and histories name the same few addresses again and again: the last ones are kept. */
export function createAddressFormat(): FormatAddress {
  const known = new BoundedMap<Address, string>(remembered)
  return address => {
    const found = known.get(address)
    if (found !== undefined) return found
    const formatted = getAddress(address)
    known.set(address, formatted)
    return formatted
  }
}
