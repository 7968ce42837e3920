import { startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { afterAll, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { isFull, seed } from '../chaos/chaosSizes.ts'
import { checkIndex, none } from '../chaos/checkIndex.ts'
import { type ChaosChain, createChaosChain } from '../chaos/createChaosChain.ts'
import { runTestIndexer } from '../support/indexHarness.ts'
import { dumpIndex, engines } from '../support/testStores.ts'
import { type Audit, auditWrites } from './auditWrites.ts'
import { callFleet, type Load } from './callFleet.ts'
import { changeChain } from './changeChain.ts'
import { disturbancesOf, disturbFleet } from './disturbFleet.ts'
import { healthOf } from './leaderOf.ts'
import { recordTruth } from './recordTruth.ts'
import { type Fleet, startFleet } from './startFleet.ts'

const chainId = 31337
/** `PROCESSES_STEPS=<number>` for another length by hand. */
const steps = Number(process.env.PROCESSES_STEPS ?? (isFull ? 60 : 3))
const callers = isFull ? 5 : 3
const changePauseMs = 150
/** So many answers have to come after each step, from whoever is left. */
const answersAfterStep = 12

const cleanUps: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** Short ones run beside each other: much of the time they wait. */
const beside = { concurrent: !isFull }

describe.each(engines)('over one store in $name', beside, engine => {
  it(
    'servers that come and go at random answer right, one leads at a time, and the index is one that was never disturbed',
    async () => {
      const random = createRandom(seed)
      const anvil = await startAnvil()
      cleanUps.push(() => anvil.stop())
      const chain = await createChaosChain({ ...anvil, name: 'anvil', config: { finality: 'auto' } }, random)
      await chain.grow(15)
      const truth = await recordTruth(chain.rpc)
      const store = await engine.create()
      cleanUps.push(() => store.remove())
      const fleet = await startFleet(store.url, { chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50 })
      cleanUps.push(() => fleet.end())

      // The last one answers only.
      await Promise.all([true, true, false].map(fleet.add))
      await level(fleet, chain)
      const audit = store.location.kind === 'postgres' ? await auditWrites(store.url, chainId) : undefined
      const load = callFleet(fleet, { chain, truth, random: createRandom(seed + 1), callers })
      cleanUps.push(() => load.stop())
      const changes = changeChain(chain, truth, createRandom(seed + 2), changePauseMs)
      cleanUps.push(() => changes.stop())

      const log: string[] = []
      const kinds = disturbancesOf(store)
      for (let step = 0; step < steps; step++) {
        const what = kinds[step] ?? random.pick(kinds)
        log.push(await disturbFleet(what, { fleet, store, changes, random }))
        const before = load.answered()
        const recent = () => `seed ${seed}, after: ${log.slice(-6).join('; ')}`
        const isServed = () => load.answered() >= before + answersAfterStep || load.wrongs.length > 0
        await eventually(`answers, ${recent()}`, isServed, 30_000)
        expect(load.wrongs, recent()).toEqual([])
      }

      await changes.stop()
      await level(fleet, chain)
      await load.stop()
      expect(load.wrongs, `seed ${seed}, after: ${log.join('; ')}`).toEqual([])
      for (const member of fleet.members()) expect(await fleet.stop(member), member.name).toBe(0)
      await report(engine.name, { load, chain, audit, disturbances: log.length })
      expect((await audit?.faults()) ?? []).toEqual([])
      expect(await checkIndex(store.location, chain)).toEqual(none)

      const straight = await engines[0].create()
      cleanUps.push(() => straight.remove())
      const indexer = runTestIndexer(straight.location, { rpcUrls: [anvil.rpcUrl] })
      cleanUps.push(() => indexer.stop())
      await indexer.until('the head is indexed', ({ indexedTo }) => indexedTo?.number === chain.head())
      const [dump, wanted] = await Promise.all(
        [store, straight].map(({ location }) => dumpIndex(location, chainId))
      )
      expect(dump?.sha256).toBe(wanted?.sha256)
    },
    patient(60_000 + steps * 20_000)
  )
})

/** All of them follow the node and have its newest block. */
async function level(fleet: Fleet, chain: ChaosChain): Promise<void> {
  for (const member of fleet.members()) {
    let seen: unknown
    await eventually(
      `${member.name} has block ${chain.head()}`,
      async () => {
        const health = await healthOf(member)
        seen = health
        return health?.phase === 'following' && health.indexedTo === chain.head()
      },
      30_000
    ).catch((error: Error) => {
      throw new Error(`${error.message}; the last look: ${JSON.stringify(seen)}`)
    })
  }
}

async function report(
  engine: string,
  run: {
    readonly load: Load
    readonly chain: ChaosChain
    readonly audit: Audit | undefined
    readonly disturbances: number
  }
): Promise<void> {
  const { load, chain, audit, disturbances } = run
  const counts = [...load.counts].sort().map(([what, count]) => `${what} ${count}`)
  const audited = await audit?.counts()
  if (audited !== undefined) counts.push(`terms ${audited.terms}, writing statements ${audited.writes}`)
  const repeat = `SEED=${seed} npm run ${isFull ? 'test:chaos' : 'test'} -- packages/server/test/processes`
  process.stdout.write(
    `processes: engine ${engine}, disturbances ${disturbances}, blocks ${chain.head()}, ${counts.join(', ')} | repeat: ${repeat}\n`
  )
}
