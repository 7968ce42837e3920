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
 * Names a chain for people: `Polygon (137)`, or `Chain 31337` where only the id is known.
 * @param name - that of the configuration; absent: the name that the chain is known by.
 */
export function labelChain(chainId: number, name?: string): string {
  const known = chainPresets.get(chainId) ?? solanaChains.find(chain => chain.chainId === chainId)
  const shown = name ?? known?.name ?? nameless(chainId)
  return shown === nameless(chainId) ? shown : `${shown} (${chainId})`
}
