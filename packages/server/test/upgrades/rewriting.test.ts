import { startAnvil } from '@chain-data/devnet'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { openStoreReader } from '../../src/index/openStoreReaders.ts'
import type { StoreLocation } from '../../src/index/parseStoreUrl.ts'
import { readHistory, withSnapshot } from '../../src/index/test/readAll.ts'
import { countRows, damageIndex } from '../healing/damageIndex.ts'
import { createPaidChain, type PaidChain, startHealing } from '../healing/startHealing.ts'
import { eventually } from '../support/indexHarness.ts'
import { oldSchemas } from './oldStores.ts'

const chainId = 31_337
const blocks = 9

let anvil: Awaited<ReturnType<typeof startAnvil>>
let chain: PaidChain
const paid: Awaited<ReturnType<PaidChain['pay']>>[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  chain = await createPaidChain(anvil.rpcUrl)
  for (let block = 0; block < blocks; block++) paid.push(await chain.pay())
})
afterAll(() => anvil.stop())

const urlOf = (location: StoreLocation) =>
  location.kind === 'sqlite' ? `sqlite:${location.folder}` : location.kind === 'postgres' ? location.url : ''

/** The last schema of each engine without checksums. */
const unsealed = oldSchemas.filter(({ engine, version }) => (engine.name === 'sqlite' ? 6 : 4) === version)

// Each waits for the next round of the background work.
it.concurrent.each(unsealed)(
  'blocks of an older index in $engine.name are fetched again and get checksums, over restarts',
  async ({ engine, takeBack }) => {
    const store = await engine.create()
    const first = await startHealing(store, [anvil.rpcUrl])
    await first.level(chain.rpc)
    await first.close()
    const { location, remove } = await takeBack(store.location, chainId)
    const old = { ...store, location, url: urlOf(location) }
    // Nobody can see that this record was changed.
    const { address, hash, block } = paid[2] ?? expect.fail('it was paid')
    const altered = 'UPDATE tx SET rec = (SELECT rec FROM tx WHERE id = '
    await damageIndex(location, `${altered}${65_536 * (block + 1)}) WHERE id = ${65_536 * block}`)

    const checkedFrom = () => countRows(location, 'SELECT coalesce(checked_from, 999) AS n FROM meta')
    let server = await startHealing(old, [anvil.rpcUrl])
    try {
      await server.level(chain.rpc)
      await eventually('some blocks have checksums', async () => (await checkedFrom()) <= 8, 20_000)
      await server.close()
      const reached = await checkedFrom()
      server = await startHealing(old, [anvil.rpcUrl])
      expect(await checkedFrom()).toBeLessThanOrEqual(reached)
      await eventually('all blocks have checksums', async () => (await checkedFrom()) === 0, 30_000)
      await eventually('the status says so', () => server.status()?.integrity?.checkedFrom === 0)
      expect((await server.history(address)).result?.map(record => record.hash)).toEqual([hash])
      expect(await countRows(location, 'SELECT count(*) AS n FROM block WHERE sum IS NULL')).toBe(0)
      // From now on it shows.
      await server.close()
      await damageIndex(location, `${altered}${65_536 * (block + 1)}) WHERE id = ${65_536 * block}`)
      const reader = await openStoreReader(location, chainId)
      const read = withSnapshot(reader, snapshot => readHistory(snapshot, address as `0x${string}`))
      await expect(read).rejects.toThrow(`the index is damaged: a record of block ${block}`)
      await reader.close()
    } finally {
      await server.close()
      await remove()
      await store.remove()
    }
  },
  patient(90_000)
)
