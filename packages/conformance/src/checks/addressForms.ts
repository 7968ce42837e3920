import { checksum } from '../wire/checksum.ts'

/** One address in every case in which callers write it. The last one has a checksum that is wrong where it has letters. */
export function addressForms(address: string): readonly string[] {
  const digits = address.slice(2)
  const right = checksum(address)
  const swapped = [...right.slice(2)].map(digit =>
    digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase()
  )
  return [`0x${digits.toLowerCase()}`, `0x${digits.toUpperCase()}`, right, `0x${swapped.join('')}`]
}
