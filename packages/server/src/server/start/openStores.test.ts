import { expect, it } from 'vitest'
import { parseConfig } from '../config/config.ts'
import { openStores } from './openStores.ts'

it.each([
  ['sqlite::memory:', 64],
  ['postgres://user@127.0.0.1:1/database', 7]
])('of %s so many views may be open at the same time: %i', async (store, answersAtOnce) => {
  const config = parseConfig({
    store,
    storeConnections: 7,
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ chainId: 1, rpcUrls: ['http://127.0.0.1:1'] }] }
  })
  const stores = await openStores(config)
  expect(stores.answersAtOnce).toBe(answersAtOnce)
  await stores.close()
})
