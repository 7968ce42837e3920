import { setTimeout as sleep } from 'node:timers/promises'
import { seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { eventually, startPostgres } from '@chain-data/index/test'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { healthOf, leaderOf } from '../../test/processes/leaderOf.ts'
import { type Fleet, startFleet } from '../../test/processes/startFleet.ts'
import { formatSpread, type Spread, spread } from '../http/spread.ts'
import { watchLeader } from './watchLeader.ts'

const chainId = 31337
const kills = 25
const seed = 20261121
const blockEveryMs = 100
/** As outside of tests: what is committed is on the disk. */
const settings = {
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
  shared_buffers: '128MB'
}
const goalMs = 500

/**
 * Two servers over one PostgreSQL; the one that indexes is killed with SIGKILL, and a new one takes the free place, again
 * and again.
 */
export async function benchProcesses(print: (line: string) => void): Promise<object> {
  const random = createRandom(seed)
  const anvil = await startAnvil()
  const postgres = await startPostgres({ settings })
  let isOver = false
  let mining: Promise<void> | undefined
  let fleet: Fleet | undefined
  try {
    const { rpc } = await seedEvmWorld(anvil.rpcUrl, { pool: false })
    const url = await postgres.createDatabase()
    fleet = await startFleet(url, { chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 100 })
    await Promise.all([fleet.add(true), fleet.add(true)])
    await settled(fleet)
    mining = (async () => {
      while (!isOver) {
        await rpc('evm_mine')
        await sleep(blockEveryMs)
      }
    })()
    const watch = await watchLeader(url, chainId)
    const taken: { term: number; report: number; commit: number }[] = []
    for (let kill = 0; kill < kills; kill++) {
      await settled(fleet)
      // At any moment of what those that wait do every now and then.
      await sleep(random.below(2_500))
      const leader = await eventually('one of them indexes', () => leaderOf(fleet as Fleet))
      const next = watch.next()
      await sleep(20)
      const killedMs = performance.now()
      await fleet.kill(leader)
      const { termMs, reportMs, commitMs } = await next
      taken.push({ term: termMs - killedMs, report: reportMs - killedMs, commit: commitMs - killedMs })
      await fleet.add(true)
    }
    await watch.close()
    const figures = {
      term: spread(taken.map(({ term }) => term)),
      report: spread(taken.map(({ report }) => report)),
      commit: spread(taken.map(({ commit }) => commit))
    }
    print(`  ${kills} kills of the leader, milliseconds from SIGKILL: median (least-most)`)
    const tell = (what: string, found: Spread) => print(`  ${what}: ${formatSpread(found)}`)
    tell('new term, the old one can write no more', figures.term)
    tell(`first report of the next leader (goal: at most ${goalMs})`, figures.report)
    tell(`its first block, one comes every ${blockEveryMs} ms (goal: at most ${goalMs})`, figures.commit)
    return { seed, kills, blockEveryMs, settings, goalMs, takeoverMs: figures, each: taken }
  } finally {
    isOver = true
    await mining?.catch(() => undefined)
    await fleet?.end()
    await postgres.stop()
    await anvil.stop()
  }
}

/** One indexes, the rest wait and say what it says. */
async function settled(fleet: Fleet): Promise<void> {
  await eventually(
    'one indexes and the rest wait',
    async () => {
      const healths = await Promise.all(fleet.members().map(healthOf))
      const following = healths.filter(health => health?.phase === 'following')
      const waiting = following.filter(health => health?.waiting)
      return following.length === healths.length && waiting.length === healths.length - 1
    },
    60_000
  )
}
