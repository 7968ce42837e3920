import type { Address } from '../model/evm.ts'
import { addressLength } from './RecordParts.ts'

/** Returns short keys of accounts, ascending: the last 32 bits of each address. Few addresses share one. */
export function accountKeys(addresses: Iterable<Address>): Uint32Array {
  return Uint32Array.from(addresses, address => Number.parseInt(address.slice(-8), 16)).sort()
}

/** Calls back with the key of each address in turn, and where its bytes end. */
export function eachKey(parties: Uint8Array, call: (key: number, end: number) => void): void {
  for (let end = addressLength; end <= parties.length; end += addressLength) {
    const [a = 0, b = 0, c = 0, d = 0] = [
      parties[end - 4],
      parties[end - 3],
      parties[end - 2],
      parties[end - 1]
    ]
    call(((a << 24) | (b << 16) | (c << 8) | d) >>> 0, end)
  }
}

/** Checks whether a key is one of some that ascend. */
export function hasKey(keys: Uint32Array, key: number): boolean {
  let [from, to] = [0, keys.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if ((keys[middle] ?? 0) < key) from = middle + 1
    else to = middle
  }
  return keys[from] === key
}
