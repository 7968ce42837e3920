import { startAnvil } from '@chain-data/devnet'
import type { HistoryCertificate } from '@chain-data/protocol'
import { describe, expect, it } from 'vitest'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { engines } from '../support/testStores.ts'
import { everyAddress } from './everyAddress.ts'
import { beginRandomDeeds } from './randomDeeds.ts'
import { startCertifiedWorld } from './startCertifiedWorld.ts'

const seed = Number(process.env.CERTIFICATE_SEED ?? 9)
const rounds = 2
const blocksPerRound = 16
const deepestReorg = 8
/** A world without these would prove little. */
const sights = [
  'authorizations',
  'creations',
  'internal receipts',
  'internal payments',
  'tips',
  'burns',
  'proven',
  'explained logs-lie'
]

describe.each(engines)('in $name', engine => {
  it('the history of every address that ever appeared is proven complete, through reorgs and restarts', async () => {
    const random = createRandom(seed)
    const anvil = await startAnvil()
    const store = await engine.create()
    const world = await startCertifiedWorld({ ...anvil, store, chain: { traces: 'on' } })
    const ever = new Set<string>()
    const seen = createSights()
    try {
      const deeds = await beginRandomDeeds(world, anvil.rpcUrl, random)
      for (let round = 0; round < rounds; round++) {
        for (let block = 0; block < blocksPerRound; block++) {
          for (let left = random.below(8); left > 0; left--) await deeds.act().catch(ignoreRefused)
          await world.mine()
        }
        await world.level()
        for (const address of await everyAddress(world, true)) ever.add(address)
        await world.rpc('anvil_reorg', 1 + random.below(deepestReorg), [])
      }
      await world.level()
      await world.stopServer()
      for (const address of await everyAddress(world, true)) ever.add(address)
      const unproven: unknown[] = []
      for (const address of ever) {
        const certificate = await world.verify(address)
        if (certificate.verdict !== 'proven') unproven.push(certificate)
        seen.add(certificate)
      }
      expect(unproven.slice(0, 2), `seed ${seed}, ${unproven.length} unproven`).toEqual([])
      for (const what of sights) expect(seen.counts[what], `seed ${seed}: ${what}`).toBeGreaterThan(0)
      expect(ever.size).toBeGreaterThan(30)
    } finally {
      await world.close()
      await anvil.stop()
    }
  })
})

/** The node refuses what cannot succeed: it is no deed then. */
function ignoreRefused(error: unknown): void {
  if (!(error instanceof Error) || !/NODE_REFUSED|eth_send/.test(`${error.name} ${error.message}`))
    throw error
}

/** Counts what certificates were about: a world in which nothing happens proves nothing. */
function createSights() {
  const counts: Record<string, number> = {}
  const count = (what: string, isSeen: boolean) => {
    counts[what] = (counts[what] ?? 0) + (isSeen ? 1 : 0)
  }
  return {
    counts,
    add({ sent, native: { parts }, tokens, nfts, findings }: HistoryCertificate) {
      count('authorizations', sent.authorizations > 0)
      count('creations', sent.creations > 0)
      count('internal receipts', parts.internalReceived !== '0')
      count('internal payments', parts.internalSent !== '0')
      count('tips', parts.tips !== '0')
      count('burns', parts.burned !== '0')
      for (const { verdict, explanation = '' } of [...tokens, ...nfts])
        count(`${verdict} ${explanation}`.trim(), true)
      count('findings', findings.length > 0)
    }
  }
}
