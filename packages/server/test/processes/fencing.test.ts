import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { testIdentity } from '@chain-data/index/contract'
import {
  chainSchema,
  commitChain,
  dumpPostgresStore,
  eventually,
  openPostgresWriter
} from '@chain-data/index/test'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { guardChild } from '../../../devnet/src/platform/childGuard.ts'
import { isFull } from '../chaos/chaosSizes.ts'
import { takeAway } from '../chaos/takeAway.ts'
import { engines } from '../support/testStores.ts'
import { auditWrites } from './auditWrites.ts'
import { firstBlocks, type LeaderDeed, leaderDeeds, nextBlocks } from './leaderDeeds.ts'

const { chainId } = testIdentity
/** More than any deed takes: then it has been carried out before its leader freezes. */
const mostSteps = 12

const [, postgres] = engines
const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A database with an index of the first blocks, whose writes are noted. */
async function prepare() {
  const { url } = await postgres.create()
  const writer = await openPostgresWriter(url, testIdentity)
  await commitChain(writer, firstBlocks)
  const audit = await auditWrites(url, chainId)
  await writer.close()
  return { url, audit }
}

/** A leader in a process of its own; see `oldLeader.ts`. */
async function startOldLeader(url: string, deed: LeaderDeed, freezesAt: number, place: Place) {
  const program = fileURLToPath(new URL('oldLeader.ts', import.meta.url))
  const words = ['--conditions=@chain-data/source', program, url, deed, String(freezesAt), place]
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] })
  guardChild(child)
  cleanUps.push(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  const closed = once(child, 'close')
  const says = (what: string) =>
    eventually(`the old leader ${what}`, () => output.includes(`${what}\n`), 20_000)
  await says('leads')
  return {
    /** @returns whether it froze; else it had nothing to do at that step any more. */
    async froze() {
      const heard = () => /^(freezes|took)/m.exec(output)?.[1]
      return (await eventually('the old leader freezes or ends', heard, 20_000)) === 'freezes'
    },
    /** @returns all that it said. */
    async goOn() {
      child.kill('SIGCONT')
      await closed
      return output
    }
  }
}

/** Where anything that a deed writes would show. */
async function everythingIn(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(`SET search_path TO ${chainSchema(chainId)}`)
    const { rows } = await client.query<{ line: string }>(
      `SELECT concat('pool ', encode(hash, 'hex')) AS line FROM pool
       UNION ALL SELECT concat('report ', beat, ' ', problem) FROM writer_report
       UNION ALL SELECT concat('reorged ', encode(prefix, 'hex')) FROM reorged
       UNION ALL SELECT concat('meta ', meta) FROM meta ORDER BY line`
    )
    return [(await dumpPostgresStore(url, chainId)).text, ...rows.map(({ line }) => line)].join('\n')
  } finally {
    await client.end()
  }
}

/** What the next leader does. */
async function lead(url: string, options: { readonly silentMs?: number } = {}): Promise<void> {
  const writer = await openPostgresWriter(url, testIdentity, { lockWaitMs: 20_000, ...options })
  const { head } = await writer.state()
  // What had arrived as a whole may have been carried out before.
  if (head?.number === 9) await commitChain(writer, nextBlocks('next leader'))
  await writer.close()
}

/**
 * Only counts the term on, as the next leader does first: where the lock was lost and the connection was not, as between a
 * pooler and its server, this alone keeps the old one out.
 * @returns whether it could.
 */
async function endTerm(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, lock_timeout: 1_000 })
  await client.connect()
  try {
    await client.query(`UPDATE ${chainSchema(chainId)}.leader SET term = term + 1`)
    return true
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code === '55P03') return false
    throw error
  } finally {
    await client.end()
  }
}

/** How the place of a leader is taken. */
const ways = [
  'its connection ended',
  'put out for its silence',
  'its term ended, its connection alive'
] as const
/** How much of a step is sent. */
const places = ['before', 'within'] as const
type Place = (typeof places)[number]

/** Of every deed in every way all steps; in the short run only some that lie in the middle. */
const cases: readonly {
  readonly deed: LeaderDeed
  readonly place: Place
  readonly way: (typeof ways)[number]
  readonly steps: readonly number[]
}[] = isFull
  ? (Object.keys(leaderDeeds) as LeaderDeed[]).flatMap(deed =>
      ways.flatMap(way =>
        places.map(place => ({ deed, place, way, steps: Array.from({ length: mostSteps }, (_, i) => i + 1) }))
      )
    )
  : [
      { deed: 'commit', place: 'within', way: ways[1], steps: [4] },
      { deed: 'commit', place: 'before', way: ways[2], steps: [4] }
    ]

describe.each(cases)('frozen $place a step of a $deed, $way', ({ deed, place, way, steps }) => {
  it(
    'a leader whose place was taken meanwhile writes nothing once it goes on',
    async () => {
      const outcomes: string[] = []
      for (const step of steps) {
        const { url, audit } = await prepare()
        const old = await startOldLeader(url, deed, step, place)
        if (!(await old.froze())) break
        // A transaction that is under way holds the term fast; only the end of its connection ends that.
        if (way === 'put out for its silence') await lead(url, { silentMs: 500 })
        else if (way === 'its connection ended' || !(await endTerm(url))) {
          // The process still holds its socket: the server cannot know.
          await takeAway(url, 'backend', 'leader')
          await lead(url)
        }
        const before = await everythingIn(url)
        const said = await old.goOn()
        outcomes.push(`step ${step} ${/^(has written|was refused: \w+)/m.exec(said)?.[0]}`)
        expect(await everythingIn(url), `step ${step}: ${said}`).toBe(before)
        expect(said, `step ${step}`).toMatch(/^was refused: Store(Unavailable|InUse)Error/m)
        expect(await audit.faults(), `step ${step}`).toEqual([])
      }
      process.stdout.write(`frozen ${place} a step of a ${deed}, ${way}: ${outcomes.join(', ')}\n`)
      expect(outcomes.length).toBeGreaterThan(0)
    },
    patient(60_000 + steps.length * 20_000)
  )
})
