import { afterAll, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { isFull, report, seed } from '../chaos/chaosSizes.ts'
import { engines } from '../support/testStores.ts'
import { runPlan } from './runPlan.ts'

const atLeast = isFull
  ? { steps: 0, reorgs: 200, kills: 100, cuts: 100, freezes: 50 }
  : { steps: 4, reorgs: 1, kills: 1, cuts: 1, freezes: 1 }
const stepsOfOne = isFull ? 10 : 4
const deepestReorg = isFull ? 64 : 12

const cleanUps: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Short ones run beside each other: much of the time they wait. */
describe.each(engines)('over $name', { concurrent: !isFull }, engine => {
  const ownSeed = seed + engines.indexOf(engine)
  // Of PostgreSQL two answer and may lead; one process reads and writes a file of SQLite.
  const servers = engine.name === 'postgres' ? 2 : 1

  it(
    'the fold of the events is the history at every cursor, whatever happens to the chain, the servers and the connections',
    async () => {
      const counts = await runPlan({
        engine,
        seed: ownSeed,
        servers,
        atLeast: servers > 1 ? atLeast : { ...atLeast, freezes: 0 },
        stepsOfOne,
        deepestReorg,
        cleanUps
      })
      report('live/plans.test.ts', { engine: engine.name, ...counts, differences: 0 })
      expect(counts.histories).toBeGreaterThan(0)
      expect(counts.events).toBeGreaterThan(0)
    },
    patient(isFull ? 3 * 3_600_000 : 120_000)
  )
})
