import { setTimeout as sleep } from 'node:timers/promises'
import { createEmptyWorld, createEvmDriver, evmAddressesOf, startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { createRandom, type Random } from '../../../devnet/src/platform/createRandom.ts'
import { takeAway } from '../chaos/takeAway.ts'
import { healthOf, leaderOf } from '../processes/leaderOf.ts'
import { credentials, type Fleet, type Member, startFleet } from '../processes/startFleet.ts'
import { beginRandomStory, type RandomStory } from '../simulation/randomStory.ts'
import type { Engine, TestStore } from '../support/testStores.ts'
import type { Service } from './askService.ts'
import { checkSamples, type Sample } from './checkSamples.ts'
import { type Follower, followAccounts, readPatiently } from './followAccounts.ts'

const chainId = 31337
/** Of all addresses of the chain: those with keys, and the newest. */
const watched = { first: 12, last: 6 }

/** How often each thing has happened. */
interface PlanCounts {
  steps: number
  reorgs: number
  kills: number
  /** Connections that their reader ended; those that a server ended by its own end are not counted. */
  cuts: number
  /** Leaders that were stopped in the middle, replaced and continued; only of PostgreSQL, where there is another to lead. */
  freezes: number
}

export interface Plan {
  readonly engine: Engine
  readonly seed: number
  /** How many servers are over the store; all but a third one may index. */
  readonly servers: number
  /** Ends once all of these are reached. */
  readonly atLeast: PlanCounts
  /** So many steps are followed by one follower, whose histories are then compared. */
  readonly stepsOfOne: number
  /** In blocks. */
  readonly deepestReorg: number
  /** What is still running, to be ended whatever happens. */
  readonly cleanUps: (() => Promise<unknown>)[]
}

export interface PlanReport extends PlanCounts {
  readonly events: number
  readonly connections: number
  readonly histories: number
}

/**
 * Lets random things happen to a chain and to the servers over one store, while accounts are followed by their events.
 *
 * @throws {Error} A fold or a replay differs from the history; names the seed and what was done.
 */
export async function runPlan({
  engine,
  seed,
  servers,
  atLeast,
  stepsOfOne,
  deepestReorg,
  cleanUps
}: Plan): Promise<PlanReport> {
  const random = createRandom(seed)
  const anvil = await startAnvil()
  cleanUps.push(() => anvil.stop())
  const driver = createEvmDriver(anvil.rpcUrl, await createEmptyWorld(anvil.rpcUrl))
  // On chains that are for development no block is final, and heads may go down.
  const dev = random.below(2) === 0
  const story = await beginRandomStory(driver, random, { deepestReorg, lowersHead: dev })
  await story.warmUp()
  const store = await engine.create()
  cleanUps.push(() => store.remove())
  const chain = { chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50, traces: 'on', dev }
  const fleet = await startFleet(store.url, chain)
  cleanUps.push(() => fleet.end())
  await Promise.all(Array.from({ length: servers }, (_, index) => fleet.add(index < 2)))
  await eventually(
    'the chain is indexed',
    async () => (await Promise.all(fleet.members().map(healthOf))).every(health => health?.ready === true),
    60_000
  )

  // How often it is asked depends on the machine: what happens must not.
  const choose = chooser(fleet, createRandom(seed))
  const counts: PlanCounts = { steps: 0, reorgs: 0, kills: 0, cuts: 0, freezes: 0 }
  const totals = { events: 0, connections: 0, histories: 0 }
  const log: string[] = []
  const isOver = () =>
    (Object.keys(atLeast) as (keyof PlanCounts)[]).every(name => counts[name] >= atLeast[name])
  try {
    while (!isOver()) {
      const all = evmAddressesOf(driver.world)
      const addresses = [...all.slice(0, watched.first), ...all.slice(-watched.last)]
      const main = await followAccounts(addresses, choose)
      const others: Follower[] = []
      /** The histories that are read meanwhile have no parts: these are compared at rest only. */
      const withParts = new Set<Follower>()
      const samples = sampleHistories(addresses, choose, createRandom(seed + counts.steps))
      cleanUps.push(samples.stop)
      for (let step = 0; step < stepsOfOne && !isOver(); step++) {
        counts.steps++
        const changes = changeChain(story, random, counts)
        // These begin wherever the chain is just then.
        if (others.length < 3) {
          const parts = others.length === 0 ? {} : { include: ['transfers', 'internal'] }
          const address = random.pick(addresses as [string])
          const other = await followAccounts([address], () => ({ ...choose(), ...parts }))
          others.push(other)
          if ('include' in parts) withParts.add(other)
        }
        log.push(await disturb({ fleet, store, random, counts, followers: [main, ...others] }))
        log.push(await changes)
        if (random.below(3) === 0) await main.settle()
      }
      await driver.mine()
      const followers = [main, ...others]
      // First the histories: a block may be indexed between the two, and the events of every sample have to be there.
      await samples.stop()
      for (const follower of followers) await follower.settle()
      for (const follower of followers) {
        const own = samples.taken.filter(
          ({ address, cursor }) =>
            !withParts.has(follower) && follower.addresses.includes(address) && cursor >= follower.from
        )
        const found = await checkSamples(follower, own, choose)
        if (found.length > 0) throw new Error(`${found.length} differences: ${found.slice(0, 5).join('; ')}`)
        await follower.stop()
        totals.events += follower.events.length
        totals.connections += follower.counts.connections
        totals.histories += own.length
      }
    }
  } catch (error) {
    throw new Error(
      `seed ${seed}, dev ${dev}, after: ${log.slice(-12).join('; ')}: ${(error as Error).message}`,
      { cause: error }
    )
  }
  return { ...counts, ...totals }
}

/** One of the servers that should answer, by turns; the last one that did while none should. */
function chooser(fleet: Fleet, random: Random): () => Service {
  const headers = { authorization: `Basic ${btoa(`${credentials.projectId}:${credentials.serverKey}`)}` }
  let url = ''
  return () => {
    const [first, ...rest] = fleet.members().filter(({ state }) => state === 'up')
    if (first !== undefined) url = random.pick([first, ...rest]).url
    return { url, headers, chainId }
  }
}

async function changeChain(story: RandomStory, random: Random, counts: PlanCounts): Promise<string> {
  const done: string[] = []
  for (let count = 1 + random.below(3); count > 0; count--) {
    const what = await (random.below(8) === 0 ? story.clearPool() : story.event())
    done.push(what)
  }
  if (random.below(2) === 0) done.push(await story.reorg())
  counts.reorgs += done.filter(what => /^a reorg|rolled back/.test(what)).length
  return done.join(', ')
}

/** Does something to those who tell or to those who read: each of it once in the first steps, then at random. @returns what. */
async function disturb({
  fleet,
  store: { location },
  random,
  counts,
  followers
}: {
  readonly fleet: Fleet
  readonly store: TestStore
  readonly random: Random
  readonly counts: PlanCounts
  readonly followers: readonly Follower[]
}): Promise<string> {
  const followed = followers[random.below(followers.length)]
  const anyone = async (): Promise<Member> => {
    const leader = random.below(2) === 0 ? await leaderOf(fleet) : undefined
    return leader ?? random.pick(fleet.members() as unknown as [Member])
  }
  const kinds: readonly ['kill', ...('cut' | 'stop' | 'freeze')[]] =
    location.kind === 'postgres' ? ['kill', 'cut', 'stop', 'freeze', 'cut'] : ['kill', 'cut', 'stop', 'cut']
  switch (kinds[counts.steps - 1] ?? random.pick(kinds)) {
    case 'kill': {
      const member = await anyone()
      await fleet.kill(member)
      counts.kills++
      return `${member.name} killed, ${(await fleet.add(member.indexes)).name} comes`
    }
    case 'stop': {
      const member = await anyone()
      const code = await fleet.stop(member)
      if (code !== 0) throw new Error(`${member.name} was asked to end and ended with ${code}`)
      return `${member.name} ended, ${(await fleet.add(member.indexes)).name} comes`
    }
    case 'freeze': {
      const leader = await eventually('one of them indexes', () => leaderOf(fleet), 30_000)
      fleet.freeze(leader)
      // As the server that waits does by itself after 15 seconds of silence.
      if (location.kind === 'postgres') await takeAway(location.url, 'backend', 'leader')
      const next = await eventually('another one indexes', () => leaderOf(fleet), 30_000)
      // Of a server that hangs nobody is told; a reader that hears nothing connects elsewhere.
      followed?.cut()
      await sleep(random.below(500))
      fleet.thaw(leader)
      await eventually(
        `${leader.name} goes on and does not index`,
        async () => (await healthOf(leader))?.waiting !== undefined && (await leaderOf(fleet)) === next,
        30_000
      )
      counts.freezes++
      return `${leader.name} hangs, ${next.name} indexes in its place, ${leader.name} goes on`
    }
    case 'cut': {
      await sleep(random.below(150))
      followed?.cut()
      counts.cuts++
      return 'a connection cut'
    }
  }
}

/** Reads histories again and again, whatever happens meanwhile. */
function sampleHistories(addresses: readonly string[], choose: () => Service, random: Random) {
  const taken: Sample[] = []
  let isOver = false
  const run = async () => {
    for (; !isOver; await sleep(15)) {
      const address = random.pick(addresses as [string])
      taken.push({ address, ...(await readPatiently(choose, address)) })
    }
  }
  const ended = run()
  // It is awaited at the end.
  ended.catch(() => {})
  return {
    taken,
    async stop() {
      isOver = true
      await ended
    }
  }
}
