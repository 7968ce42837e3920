import { startAnvil } from '@chain-data/devnet'
import type { IndexerConfig } from '../../src/server/indexer/runIndexer.ts'
import { startGanache } from '../support/startGanache.ts'
import { startHardhat } from '../support/startHardhat.ts'

/** A node that is mined on demand, and what an indexer has to know of it. */
export interface ChaosNode {
  readonly name: 'anvil' | 'ganache' | 'hardhat'
  readonly rpcUrl: string
  /** What its indexer is told besides the URLs. */
  readonly config: Pick<IndexerConfig, 'finality' | 'waivers'>
  stop(): Promise<void>
}

const ganacheLogs = {
  check: 'logIndex',
  reason: 'ganache counts logs per transaction, not per block'
} as const

/** Every node the suites run on, the one with all abilities first. */
export const chaosNodes: readonly { readonly name: ChaosNode['name']; start(): Promise<ChaosNode> }[] = [
  {
    name: 'anvil',
    start: async () => {
      const { rpcUrl, stop } = await startAnvil()
      return { name: 'anvil', rpcUrl, config: { finality: 'auto' }, stop }
    }
  },
  // These two call every block final at once: `auto` would take each reorg for one behind final blocks.
  {
    name: 'ganache',
    start: async () => ({
      name: 'ganache',
      config: { finality: finalDepth, waivers: [ganacheLogs] },
      ...(await startGanache())
    })
  },
  {
    name: 'hardhat',
    start: async () => ({
      name: 'hardhat',
      config: { finality: finalDepth },
      ...(await startHardhat())
    })
  }
]

/** How far below its head anvil calls blocks final; the same is told the indexer for the others. */
export const finalDepth = 64
