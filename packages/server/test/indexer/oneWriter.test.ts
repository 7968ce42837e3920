import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { startIndexer } from '../../src/indexer/startIndexer.ts'
import { createLogger } from '../../src/platform/logger.ts'
import { eventually, temporaryFolder } from '../support/indexHarness.ts'

let anvil: AnvilNode
let driver: EvmDriver
const cleanUps: (() => Promise<void>)[] = []
beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
})
afterAll(() => anvil.stop())
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

it('a second indexer in another thread waits without writing, shows how far the first is, and takes over at its end', async () => {
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  const lines: Record<string, unknown>[] = []
  const start = () => {
    const indexer = startIndexer({
      ...{ chainId: 31337, rpcUrls: [anvil.rpcUrl], startBlock: 0, finality: 'auto', pollIntervalMs: 50 },
      storeFolder: folder.path,
      logger: createLogger({ level: 'info', write: line => lines.push(JSON.parse(line)) })
    })
    cleanUps.push(() => indexer.stop())
    return indexer
  }
  const first = start()
  await eventually('the first follows', () => first.status().phase === 'following')
  const second = start()
  await eventually('the second says why it waits', () =>
    /another process or thread/.test(second.status().problem ?? '')
  )
  expect(second.status()).toMatchObject({ phase: 'stalled', backfilled: true })
  await driver.mine({ blocks: 2 })
  const newest = driver.world.blocks.length - 1
  await eventually(
    'the second sees what the first writes',
    () => second.status().indexedTo?.number === newest
  )
  expect(second.status().phase).toBe('stalled')
  const starts = () => lines.filter(({ msg }) => msg === 'indexing starts').length
  expect(starts()).toBe(1)
  expect(lines.filter(({ msg }) => msg === 'the indexer is started again')).toEqual([])
  await first.stop()
  await eventually('the second follows', () => second.status().phase === 'following')
  expect(starts()).toBe(2)
  expect(lines.filter(({ msg }) => /another indexer/.test(String(msg)))).toHaveLength(1)
})
