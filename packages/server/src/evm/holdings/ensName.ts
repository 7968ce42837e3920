import type { Hex } from '@chain-data/index'
import { keccak256 } from '../../platform/keccak256.ts'

/** The longest name that is shown, in characters. */
const maxNameCharacters = 255

/**
 * Checks whether a name is written in the part of ENSIP-15 that needs no tables: at least two labels of `a` to `z`, `0` to `9`
 * and hyphens. A label with hyphens as its third and fourth character is refused, as by ENSIP-15: Punycode (`xn--`) begins so.
 */
export function isPlainName(name: string): boolean {
  if (name.length > maxNameCharacters) return false
  return /^(?!..--)[a-z0-9-]+(\.(?!..--)[a-z0-9-]+)+$/.test(name)
}

/**
 * Returns the node of a name, as the registry and resolvers know it.
 * @param name - normalized, with no empty label.
 * @see ENSIP-1
 */
export function namehash(name: string): Hex {
  const node = name
    .split('.')
    .reduceRight(
      (parent, label) => Buffer.from(keccak256(Buffer.concat([parent, keccak256(Buffer.from(label))]))),
      Buffer.alloc(32)
    )
  return `0x${node.toString('hex')}`
}
