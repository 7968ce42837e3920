import type { TransactionRecord } from '@chain-data/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { engines } from '../../support/testStores.ts'
import { type DeepService, startDeepService } from '../startDeepService.ts'
import type { StateWorld } from './buildStateWorld.ts'
import { openStateWorld } from './openStateWorld.ts'
import { startRecordedNode } from './startRecordedNode.ts'

let world: StateWorld
const ends: (() => Promise<unknown>)[] = []
beforeAll(async () => {
  world = await openStateWorld(2_000)
})
afterAll(async () => {
  for (const end of ends.splice(0).reverse()) await end()
})

async function serve(traits: Parameters<typeof startRecordedNode>[1], chain = {}): Promise<DeepService> {
  const node = await startRecordedNode(world.chain, traits)
  ends.push(node.close)
  const store = await engines[0].create()
  ends.push(store.remove)
  const options = { nodeUrl: node.url, store: store.url, chain: { verify: 'basic', ...chain } }
  const service = await startDeepService(options)
  ends.push(service.close)
  return service
}

const deepChain = { startBlock: 'latest', deepHistory: 'node', traces: 'on' }
/** Records without what the stretch changes. */
const unplaced = (records: readonly TransactionRecord[]) =>
  records.map(record => ({ ...record, blockNumber: undefined }))

describe('a recorded chain', () => {
  it('is answered by the ways there are as an index of all of it is', async () => {
    const full = await serve({}, { traces: 'on' })
    const ots = await serve({ traceFilter: false }, deepChain)
    const stretched = await serve({ head: 23_000_000, hasOts: false }, deepChain)
    expect(full.indexedFrom()).toBe(0)
    expect(stretched.indexedFrom()).toBe(23_000_000 - 64)
    for (const [kind, address] of Object.entries(world.people)) {
      const whole = await full.history(address)
      expect(whole.length, kind).toBeGreaterThan(3)
      expect(await ots.history(address), kind).toEqual(whole)
      expect(unplaced(await stretched.history(address)), kind).toEqual(unplaced(whole))
    }
  })
})
