import type { Address, Hash, Hex } from '../model/evm.ts'
import { StoreError } from '../platform/errors.ts'

/** Returns the 20 bytes of an address in any case, as keys hold them. */
export function addressBytes(address: Address): Buffer {
  return exactBytes(address, 20)
}

/** Returns the 32 bytes of a hash. */
export function hashBytes(hash: Hash): Buffer {
  return exactBytes(hash, 32)
}

/** Returns bytes as lower-case hex. */
export function toHex(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}`
}

function exactBytes(hex: Hex, length: number): Buffer {
  const bytes = Buffer.from(hex.slice(2), 'hex')
  if (bytes.length !== length || hex.length !== 2 + length * 2) {
    throw new StoreError(`"${hex.slice(0, 80)}" cannot be a key: expected ${length} bytes of hex`)
  }
  return bytes
}
