import type { ChainDataKey } from './QueryOptions.ts'

/** The key of a call; members that are absent do not count. */
export function createKey(name: ChainDataKey[1], members: Readonly<Record<string, unknown>>): ChainDataKey {
  return ['chain-data', name, lowerCased(members) as ChainDataKey[2]]
}

/** Hex means the same in any case, base58 does not. */
function lowerCased(value: unknown): unknown {
  if (typeof value === 'string') return /^0x[0-9a-f]+$/i.test(value) ? value.toLowerCase() : value
  if (Array.isArray(value)) return value.map(lowerCased)
  if (typeof value !== 'object' || value === null) return value
  const present = Object.entries(value).filter(([, member]) => member !== undefined)
  return Object.fromEntries(present.map(([name, member]) => [name, lowerCased(member)]))
}
