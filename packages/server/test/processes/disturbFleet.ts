import { eventually } from '@chain-data/index/test'
import type { Random } from '../../../devnet/src/platform/createRandom.ts'
import { takeAway } from '../chaos/takeAway.ts'
import type { TestStore } from '../support/testStores.ts'
import type { Changes } from './changeChain.ts'
import { leaderOf } from './leaderOf.ts'
import type { Fleet, Member } from './startFleet.ts'

/** What can be done to servers over one store. */
export type Disturbance =
  | 'kill the leader'
  | 'kill one'
  | 'stop the leader'
  | 'freeze the leader'
  | 'freeze one'
  | 'add one'
  /** Only of PostgreSQL: the rest has no server that could be lost. */
  | 'cut all off'
  | 'crash the database'

const mostMembers = 4

/** What is possible over a store, each at least once in a run that is long enough: in this order, then at random. */
export function disturbancesOf({ location }: TestStore): readonly [Disturbance, ...Disturbance[]] {
  const always = [
    'kill the leader',
    'freeze the leader',
    'stop the leader',
    'kill one',
    'freeze one',
    'add one'
  ] as const
  if (location.kind === 'sqlite') return always
  return ['kill the leader', 'crash the database', 'freeze the leader', ...always.slice(2), 'cut all off']
}

/**
 * Does something to a fleet, and sees to it that two servers that may index are left.
 * @returns what was done, to be read when something fails.
 */
export async function disturbFleet(
  what: Disturbance,
  {
    fleet,
    store,
    changes,
    random
  }: {
    readonly fleet: Fleet
    readonly store: TestStore
    readonly changes: Changes
    readonly random: Random
  }
): Promise<string> {
  const { location } = store
  const leader = () => eventually('one of them indexes', () => leaderOf(fleet), 30_000)
  const anyone = () => random.pick(fleet.members() as readonly Member[] as [Member, ...Member[]])

  async function replace(member: Member, end: () => Promise<unknown>): Promise<string> {
    await end()
    const mayIndex = fleet.members().filter(({ indexes }) => indexes).length
    const next = await fleet.add(mayIndex < 2 || random.below(3) > 0)
    return `${what}: ${member.name}; ${next.name} comes`
  }

  /** Whoever comes back must notice that its place was taken, if it was. */
  async function freeze(member: Member): Promise<string> {
    fleet.freeze(member)
    const isReplaced = location.kind === 'postgres' && random.below(2) === 0
    if (isReplaced) await takeAway(location.url, 'backend', 'leader')
    await changes.more(2)
    fleet.thaw(member)
    return `${what}: ${member.name}${isReplaced ? ', the leader is cut off meanwhile' : ''}`
  }

  switch (what) {
    case 'kill the leader':
    case 'kill one': {
      const member = what === 'kill one' ? anyone() : await leader()
      return replace(member, () => fleet.kill(member))
    }
    case 'stop the leader': {
      const member = await leader()
      return replace(member, async () => {
        const code = await fleet.stop(member)
        if (code !== 0) throw new Error(`${member.name} was asked to end and ended with ${code}`)
      })
    }
    case 'freeze the leader':
      return freeze(await leader())
    case 'freeze one':
      return freeze(anyone())
    case 'add one': {
      if (fleet.members().length >= mostMembers) await fleet.stop(anyone())
      return `${what}: ${(await fleet.add(true)).name}`
    }
    case 'cut all off': {
      if (location.kind !== 'postgres') throw new Error(`${location.kind} has no connections to cut`)
      fleet.disturb()
      await takeAway(location.url, 'backend')
      await changes.more(1)
      fleet.disturb()
      return what
    }
    case 'crash the database': {
      if (store.server === undefined) throw new Error(`${location.kind} has no server to crash`)
      fleet.disturb()
      await store.server.crash()
      // Nobody can be told anything of the index meanwhile.
      await changes.more(2)
      await store.server.start()
      fleet.disturb()
      return what
    }
  }
}
