import type { Address } from '../../model/evm.ts'
import { decodeDetailed } from '../record/details.ts'

/** A record, and the id under which a row of the address index leads to it. */
export interface NamedRecord {
  readonly id: number
  readonly record: Uint8Array
}

/**
 * Finds the records that do not have an address byte for byte: about one of 300, since calldata is packed and authorities of
 * EIP-7702 are in none.
 * @param bytes - the records, concatenated. @param lengths - of each.
 */
export function recordsWithout(
  address: Uint8Array,
  ids: readonly number[],
  bytes: Buffer,
  lengths: readonly number[]
): readonly NamedRecord[] {
  const without: NamedRecord[] = []
  let start = 0
  let found = -1
  for (let row = 0; row < ids.length; row++) {
    const end = start + (lengths[row] ?? 0)
    // Found already where an earlier record lacks it.
    if (found < start) found = bytes.indexOf(address, start)
    if (found < 0) found = bytes.length
    if (found + address.length > end) without.push({ id: ids[row] ?? 0, record: bytes.subarray(start, end) })
    start = end
  }
  return without
}

/**
 * Checks whether a transaction has an account among its parties, as far as its record says.
 * @returns true also where an older version stored the record without all its details.
 */
export function mayBeParty(account: Address, { id, record }: NamedRecord): boolean {
  return decodeDetailed({ ids: [id], bytes: record }).every(({ transaction, details }) => {
    const { transfers, internal = [], operations } = details
    if (transfers === undefined || operations === undefined) return true
    return [
      ...[transaction.from, transaction.to, transaction.contractAddress],
      ...[...transfers, ...internal].flatMap(({ from, to }) => [from, to]),
      ...operations.map(({ sender }) => sender)
    ].includes(account)
  })
}
