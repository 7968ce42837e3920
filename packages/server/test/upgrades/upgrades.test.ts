import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { guardChild } from '../../../devnet/src/platform/childGuard.ts'
import { createRandom } from '../../../devnet/src/platform/createRandom.ts'
import { openStoreReader } from '../../src/index/openStoreReaders.ts'
import { openStoreWriter } from '../../src/index/openStoreWriter.ts'
import type { StoreLocation } from '../../src/index/parseStoreUrl.ts'
import { buildChain, people } from '../../src/index/test/buildChain.ts'
import { commitChain } from '../../src/index/test/commitChain.ts'
import { expectedHistory } from '../../src/index/test/expectedHistory.ts'
import { gather, readHistory, readPages, withSnapshot } from '../../src/index/test/readAll.ts'
import type { IndexedBlock } from '../../src/model/evm.ts'
import { seed } from '../chaos/chaosSizes.ts'
import { oldSchemas } from './oldStores.ts'
import { blocks, identity, plans, rewriteOldBlocks, stored } from './upgradedChain.ts'

/**
 * Lives that die, and the steps among which they do: the first one among those of the migrations, the others also while blocks
 * are written anew. Of SQLite each migration has three steps; of PostgreSQL the first pieces open the connection and take the lock.
 */
const deaths = {
  sqlite: { lives: 2, first: 1, stepsEach: 3, rewriting: 240 },
  postgres: { lives: 3, first: 6, stepsEach: 6, rewriting: 32 }
}
let killedWhileRewriting = 0

describe.concurrent.each(oldSchemas)(
  '$engine.name, from schema $version',
  ({ engine, version, newest, takeBack }) => {
    it(
      'an index whose upgrade is killed in the middle, again and again, is upgraded and answers as before',
      async ({ onTestFinished }) => {
        const made = await engine.create()
        onTestFinished(made.remove)
        const maker = await openStoreWriter(made.location, identity)
        await commitChain(maker, stored, { finalized: 2 })
        await maker.close()
        const { location, remove } = await takeBack(made.location, identity.chainId)
        onTestFinished(remove)

        const random = createRandom(seed + version)
        const { lives, first, stepsEach, rewriting } = deaths[engine.name]
        const migrating = (newest - version) * stepsEach
        for (let life = 1; life <= lives; life++) {
          const step = first + random.below(life === 1 ? migrating : migrating + rewriting)
          const { signal, printed } = await upgradeAndDie(location, step)
          if (life === 1) expect(signal).toBe('SIGKILL')
          // A step may be beyond what the life before has left to do.
          const told = signal === null ? ['opened\nrewritten\n'] : ['', 'opened\n']
          expect(told, `seed ${seed}`).toContain(printed)
          if (signal === 'SIGKILL' && printed !== '') killedWhileRewriting++
        }

        const writer = await openStoreWriter(location, identity, { lockWaitMs: 20_000 })
        onTestFinished(() => writer.close())
        const kept = version === 0 ? [] : stored
        expect((await writer.state()).head).toEqual(kept.at(-1)?.ref)
        await expectAnswers(location, kept)
        await rewriteOldBlocks(writer)
        expect((await writer.state()).checkedFrom).toBe(version === 0 ? undefined : 0)
        await expectAnswers(location, kept)
        await commitChain(writer, blocks.slice(kept.length))
        await expectAnswers(location, blocks)
        // Back below the blocks that were there before the upgrade.
        await writer.rollbackTo(blocks[4]!.ref)
        const fork = buildChain(plans.slice(5, 9), { parent: blocks[4]!.ref, fork: 'b' })
        await commitChain(writer, fork)
        await expectAnswers(location, [...blocks.slice(0, 5), ...fork])
      },
      patient(60_000)
    )
  }
)

it('every released schema is there, and some writers were killed while they wrote blocks anew', () => {
  expect(killedWhileRewriting).toBeGreaterThan(3)
  expect(oldSchemas.map(({ engine, version }) => `${engine.name} ${version}`)).toEqual([
    ...[0, 1, 2, 3, 4, 5, 6].map(version => `sqlite ${version}`),
    ...[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(version => `postgres ${version}`)
  ])
})

async function upgradeAndDie(location: StoreLocation, step: number) {
  const program = fileURLToPath(new URL('upgradeLife.ts', import.meta.url))
  const child = spawn(
    process.execPath,
    ['--conditions=@chain-data/source', program, JSON.stringify(location), String(step)],
    { stdio: ['ignore', 'pipe', 'inherit'] }
  )
  guardChild(child)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text
  })
  const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  return { signal, printed }
}

async function expectAnswers(location: StoreLocation, expected: readonly IndexedBlock[]): Promise<void> {
  const reader = await openStoreReader(location, identity.chainId)
  try {
    for (const address of people) {
      await withSnapshot(reader, async snapshot => {
        const history = expectedHistory(expected, address)
        expect(await readHistory(snapshot, address)).toStrictEqual(history)
        expect(await readPages(snapshot, address, 2)).toStrictEqual(history)
        expect(await snapshot.countHistory(address, 1_000)).toBe(history.length)
        expect(await snapshot.recount(address)).toEqual({ isComplete: true, missing: [], unresolved: 0 })
        const candidates = await gather(snapshot.holdingCandidates(address))
        const owned = expected
          .flatMap(({ transactions }) => transactions)
          .flatMap(transaction => transaction.candidates)
          .filter(({ owner }) => owner === address)
        expect(candidates).toEqual(expect.arrayContaining(owned))
        for (const { hash } of history) {
          expect(await snapshot.lookUpHash(hash)).toMatchObject({ kind: 'confirmed' })
        }
      })
    }
  } finally {
    await reader.close()
  }
}
