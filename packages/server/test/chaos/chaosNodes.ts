import { startAnvil } from '@chain-data/devnet'
import type { IndexerConfig } from '../../src/server/indexer/startIndexer.ts'
import { startHardhat } from '../support/startHardhat.ts'
import { onlyHardhat } from '../support/testClients.ts'

/** A node that is mined on demand, and what an indexer has to know of it. */
export interface ChaosNode {
  readonly name: 'anvil' | 'hardhat'
  readonly rpcUrl: string
  /** What its indexer is told besides the URLs. */
  readonly config: Pick<IndexerConfig, 'finality' | 'waivers'>
  stop(): Promise<void>
}

/** Every node the suites run on, the one with all abilities first. */
export const chaosNodes: readonly { readonly name: ChaosNode['name']; start(): Promise<ChaosNode> }[] = [
  {
    name: 'anvil',
    start: async () => {
      const { rpcUrl, stop } = await startAnvil()
      return { name: 'anvil', rpcUrl, config: { finality: 'auto' }, stop }
    }
  },
  // It calls every block final at once: `auto` would take each reorg for one behind final blocks.
  ...onlyHardhat.map(name => ({
    name,
    start: async () => ({ name, config: { finality: finalDepth }, ...(await startHardhat()) })
  }))
]

/** How far below its head anvil calls blocks final; the same is told the indexer for hardhat. */
export const finalDepth = 64
