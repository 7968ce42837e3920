import { keccak_256 } from '@noble/hashes/sha3.js'

const known = new Map<string, string>()

/**
 * An EVM address with the letters of its EIP-55 checksum.
 *
 * @param address - `0x` and 40 hexadecimal digits, in any case.
 */
export function checksum(address: string): string {
  const digits = address.slice(2).toLowerCase()
  const found = known.get(digits)
  if (found !== undefined) return found
  const hash = Buffer.from(keccak_256(Buffer.from(digits))).toString('hex')
  const letters = [...digits].map((digit, at) =>
    Number.parseInt(hash[at] ?? '0', 16) >= 8 ? digit.toUpperCase() : digit
  )
  const checked = `0x${letters.join('')}`
  known.set(digits, checked)
  return checked
}
