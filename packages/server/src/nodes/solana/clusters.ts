/** A cluster that everybody knows, and the chain id that it has by convention. */
export interface KnownCluster {
  readonly name: string
  readonly chainId: number
  readonly genesisHash: string
}

const clusters: readonly KnownCluster[] = [
  { name: 'mainnet-beta', chainId: 101, genesisHash: '5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d' },
  { name: 'testnet', chainId: 102, genesisHash: '4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY' },
  { name: 'devnet', chainId: 103, genesisHash: 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxkPkZBG' }
]

/** Returns the well-known cluster with this genesis hash; `undefined` for another one. */
export function clusterOfGenesis(genesisHash: string): KnownCluster | undefined {
  return clusters.find(cluster => cluster.genesisHash === genesisHash)
}

/** Returns the well-known cluster with this chain id; `undefined` for another id. */
export function clusterOfChainId(chainId: number): KnownCluster | undefined {
  return clusters.find(cluster => cluster.chainId === chainId)
}
