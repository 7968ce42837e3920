import { createEmptyWorld, createEvmDriver, startAnvil } from '@chain-data/devnet'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { historyOf, poolOf, runTestIndexer } from '../support/indexHarness.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

it('a transaction with blobs has its fee cap and its hashes in the pool as in a block', async () => {
  const anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  const driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
  const folder = await temporaryFolder()
  cleanUps.push(folder.remove)
  const indexer = runTestIndexer(folder.path, { rpcUrls: [anvil.rpcUrl] })
  cleanUps.push(() => indexer.stop())

  const sent = await driver.send({ label: 'blobs', type: 3, from: 'alice', to: `0x${'5a'.repeat(20)}` })
  const said = {
    ...{ hash: sent.hash, type: 3, maxFeePerBlobGas: sent.maxFeePerBlobGasWei },
    blobVersionedHashes: sent.blobVersionedHashes
  }
  expect(said.blobVersionedHashes).toHaveLength(1)
  await eventually('it is pending', async () => (await poolOf(folder.path, sent.from)).length > 0)
  expect(await poolOf(folder.path, sent.from)).toMatchObject([{ ...said, status: 1 }])

  await driver.mine()
  const history = () => historyOf(folder.path, sent.from.toLowerCase())
  await eventually('it is mined', async () => (await history()).length > 0)
  expect(await history()).toMatchObject([{ ...said, status: 3 }])
})
