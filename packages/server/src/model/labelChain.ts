import { chainPresets } from './chainPresets.ts'

/** Clusters of Solana that are well known. */
export const solanaChains: readonly { readonly chainId: number; readonly name: string }[] = [
  { chainId: 101, name: 'Solana' },
  { chainId: 102, name: 'Solana Testnet' },
  { chainId: 103, name: 'Solana Devnet' }
]

/** Names a chain of which only the id is known. */
export function nameless(chainId: number): string {
  return `Chain ${chainId}`
}

/**
 * Returns the name of a chain; absent where only the id is known.
 * @param name - that of the configuration; absent: the name that the chain is known by.
 */
export function nameOfChain(chainId: number, name?: string): string | undefined {
  const known = chainPresets.get(chainId) ?? solanaChains.find(chain => chain.chainId === chainId)
  const shown = name ?? known?.name
  return shown === nameless(chainId) ? undefined : shown
}

/** Names a chain for people: `Polygon (137)`, or `Chain 31337` where only the id is known. */
export function labelChain(chainId: number, name?: string): string {
  const known = nameOfChain(chainId, name)
  return known === undefined ? nameless(chainId) : `${known} (${chainId})`
}
