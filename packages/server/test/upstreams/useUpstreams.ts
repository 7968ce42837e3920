import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { createEvmSource, type EvmSource } from '../../src/evm/blocks/evmSource.ts'
import { createEvmRpc, type EvmRpcOptions, type EvmUpstreams } from '../../src/nodes/evm/rpc.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { type NodeProxy, startNodeProxy } from './startNodeProxy.ts'

export interface TestUpstreams {
  readonly proxies: NodeProxy[]
  readonly rpc: EvmUpstreams
  readonly source: EvmSource
  readonly lines: Record<string, unknown>[]
  /** Moves the pool's clock: pauses of the pool are over, the world's clock stands. */
  pass(ms: number): void
}

/** A seeded anvil for the tests of one file, and pools over proxies of it, which end with each test. */
export function useUpstreams() {
  let anvil: AnvilNode
  let driver: EvmDriver
  const cleanUps: (() => Promise<void> | void)[] = []

  beforeAll(async () => {
    anvil = await startAnvil()
    driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
  })
  afterAll(() => anvil.stop())
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  async function proxy(): Promise<NodeProxy> {
    const started = await startNodeProxy(anvil.rpcUrl)
    cleanUps.push(() => started.close())
    return started
  }

  async function pool(count: number, options: Partial<EvmRpcOptions> = {}): Promise<TestUpstreams> {
    const proxies = await Promise.all(Array.from({ length: count }, proxy))
    const lines: Record<string, unknown>[] = []
    let aheadMs = 0
    const rpc = createEvmRpc({
      chainId: 31337,
      rpcUrls: proxies.map(({ url }) => url),
      logger: createLogger({ level: 'debug', write: line => lines.push(JSON.parse(line)) }),
      timeoutMs: 5_000,
      clock: { now: () => Date.now() + aheadMs },
      ...options
    })
    cleanUps.push(() => rpc.close())
    return {
      proxies,
      rpc,
      source: createEvmSource({ rpc, finality: 'auto' }),
      lines,
      pass(ms) {
        aheadMs += ms
      }
    }
  }

  return {
    node: () => anvil,
    driver: () => driver,
    proxy,
    pool,
    later: (cleanUp: () => Promise<void> | void) => cleanUps.push(cleanUp),
    /** A block with at least two transactions. */
    crowdedBlock() {
      const block = driver.world.blocks.find(({ transactionHashes }) => transactionHashes.length >= 2)
      if (block === undefined) throw new Error('the seeded world has no block with two transactions')
      return block
    },
    headNumber: () => driver.world.blocks.length - 1
  }
}
