import { type Devnet, evmAccount, solanaOwner } from '@chain-data/devnet'
import type { ChainSettings, SampleAccount } from '../src/settings.ts'

/** What the page is told of a devnet and the service over it. */
export function createPageEnvironment({
  devnet: { evm, solana, metadata },
  serviceUrl,
  projectId,
  clientKey
}: {
  devnet: Devnet
  serviceUrl: string
  projectId: string
  clientKey: string
}): Record<string, string> {
  const chains: ChainSettings[] = []
  const samples: SampleAccount[] = []
  if (evm !== undefined) {
    const { chainId } = evm.world
    chains.push({ id: chainId, family: 'evm', name: 'Devnet', symbol: 'ETH', decimals: 18 })
    const add = (account: string, name: string) =>
      samples.push({ chainId, address: evmAccount(evm.world, account).address, name })
    add('alice', 'tokens, NFTs and a long history')
    add('frank', 'received everything, never sent anything')
    add('collector', 'names and pictures that mean harm')
    add('nobody', 'proven empty')
  }
  if (solana !== undefined) {
    const { chainId } = solana.world
    chains.push({ id: chainId, family: 'solana', name: 'Solana devnet', symbol: 'SOL', decimals: 9 })
    const address = solanaOwner(solana.world, 'alice').address
    samples.push({ chainId, address, name: 'SPL tokens and Metaplex NFTs' })
    samples.push({ chainId, address: solanaOwner(solana.world, 'grace').address, name: 'damaged accounts' })
  }
  return {
    VITE_CHAIN_DATA_URL: serviceUrl,
    VITE_CHAIN_DATA_PROJECT: projectId,
    VITE_CHAIN_DATA_CLIENT_KEY: clientKey,
    VITE_CHAIN_DATA_CHAINS: JSON.stringify(chains),
    VITE_CHAIN_DATA_SAMPLES: JSON.stringify(samples),
    VITE_CHAIN_DATA_IMAGE_ORIGINS: metadata.url,
    VITE_CHAIN_DATA_POLL_MS: '2000'
  }
}
