import { RLP } from '@ethereumjs/rlp'
import { keccak256 } from '../../../platform/keccak256.ts'
import type { RlpValue } from './rlpFields.ts'

/** A value with its key in half bytes. */
interface Entry {
  readonly path: Uint8Array
  readonly value: Uint8Array
}

/**
 * Returns the root of the Merkle Patricia trie that holds each value under the RLP of its index, as a header commits to
 * transactions, receipts and withdrawals.
 * @see Ethereum Yellow Paper, appendix D
 */
export function trieRoot(values: readonly Uint8Array[]): Uint8Array {
  const entries = values.map((value, index) => ({ path: toPath(RLP.encode(index)), value }))
  entries.sort((a, b) => Buffer.compare(a.path, b.path))
  return keccak256(RLP.encode(entries.length === 0 ? new Uint8Array() : nodeOf(entries, 0)))
}

/** @param entries - sorted, with paths that agree in their first `depth` half bytes. */
function nodeOf(entries: readonly Entry[], depth: number): RlpValue[] {
  const [first, last] = [entries[0], entries.at(-1)] as [Entry, Entry]
  if (entries.length === 1) return [compact(first.path.subarray(depth), 2), first.value]
  let end = depth
  // No key begins with another one, so the paths part before the shorter one ends.
  while (first.path[end] === last.path[end]) end++
  if (end > depth) return [compact(first.path.subarray(depth, end), 0), referTo(nodeOf(entries, end))]
  const branch: RlpValue[] = []
  for (let digit = 0, from = 0; digit < 16; digit++) {
    let to = from
    while (to < entries.length && entries[to]?.path[depth] === digit) to++
    branch.push(from === to ? new Uint8Array() : referTo(nodeOf(entries.slice(from, to), depth + 1)))
    from = to
  }
  return [...branch, new Uint8Array()]
}

/** A node of fewer than 32 bytes stands in its parent; any other is referred to by its hash. */
function referTo(node: RlpValue[]): RlpValue {
  const encoded = RLP.encode(node)
  return encoded.length < 32 ? node : keccak256(encoded)
}

function toPath(key: Uint8Array): Uint8Array {
  const path = new Uint8Array(2 * key.length)
  for (const [i, byte] of key.entries()) path.set([byte >> 4, byte & 15], 2 * i)
  return path
}

/** Packs half bytes after a flag of one: 2 for a leaf, 0 for an extension, and 1 more where their number is odd. */
function compact(path: Uint8Array, flag: number): Uint8Array {
  const isOdd = path.length % 2
  const halves = isOdd ? [flag + 1, ...path] : [flag, 0, ...path]
  return Uint8Array.from(
    { length: halves.length / 2 },
    (_, i) => ((halves[2 * i] ?? 0) << 4) | (halves[2 * i + 1] ?? 0)
  )
}
