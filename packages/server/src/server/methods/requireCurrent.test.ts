import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreReader, StoreWriter, SyncStatus } from '@chain-data/index'
import {
  buildChain,
  commitChain,
  hashOf,
  openSqliteReader,
  openSqliteWriter,
  people
} from '@chain-data/index/test'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Refusal } from '../../platform/refusal.ts'
import { notBackfilled, openSettled } from './requireCurrent.ts'

const plans = ['a', 'b', 'c'].map(name => [{ name, parties: people.slice(0, 2) }])
const blocks = buildChain(plans)
const following: SyncStatus = {
  ...{ chainId: 1, phase: 'following', indexedFrom: 0, backfilled: true, degraded: false },
  poolCovered: true
}
const signal = new AbortController().signal

let folder: string
let writer: StoreWriter
let reader: StoreReader
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-settled-'))
  writer = await openSqliteWriter(folder, { chainId: 1, genesisHash: hashOf('genesis') })
  reader = await openSqliteReader(folder, 1, { maxSnapshots: 1 })
  await commitChain(writer, blocks)
})
afterEach(async () => {
  await reader.close()
  await writer.close()
  await rm(folder, { recursive: true })
})

/** A clock that goes on by `stepMs` with each look at it. */
function steppingClock(stepMs: number) {
  let nowMs = 0
  return {
    now() {
      nowMs += stepMs
      return nowMs
    }
  }
}

it('a view from the middle of a reorg is never given, although the status that came last says all is well', async () => {
  await writer.markBackfilled()
  await writer.rollbackTo(blocks[0]!.ref)
  const chain = { reader, status: () => following }
  // The one snapshot that may be open is given back each time.
  await expect(openSettled(chain, { signal }, steppingClock(1_000))).rejects.toMatchObject({
    reason: 'UPSTREAM_UNAVAILABLE'
  })
  const waiting = openSettled(chain, { signal }, { now: () => 0 })
  const grown = buildChain(plans.slice(1), { parent: blocks[0]!.ref, fork: 'b' })
  await commitChain(writer, grown)
  await writer.markSettled()
  const { snapshot } = await waiting
  expect((await snapshot.indexedRange())?.to).toEqual(grown.at(-1)?.ref)
  await snapshot.close()
})

it('a view from the middle of a reorg is refused at once while the chain is stalled', async () => {
  await writer.markBackfilled()
  await writer.rollbackTo(blocks[0]!.ref)
  const chain = { reader, status: (): SyncStatus => ({ ...following, phase: 'stalled' }) }
  await expect(openSettled(chain, { signal }, { now: () => 0 })).rejects.toThrow(Refusal)
})

it('a reorg during the first backfill, which has gaps anyhow, holds nobody up', async () => {
  await writer.rollbackTo(blocks[0]!.ref)
  const chain = {
    reader,
    status: (): SyncStatus => ({ ...following, phase: 'backfilling', backfilled: false })
  }
  const { snapshot } = await openSettled(chain, { signal }, { now: () => 0 })
  await snapshot.close()
})

it('a status that turns to catching up after the look begins is waited out, since it may tell of what the view has behind it', async () => {
  await writer.markBackfilled()
  const told: SyncStatus['phase'][] = ['following', 'backfilling', 'backfilling', 'following']
  const chain = { reader, status: (): SyncStatus => ({ ...following, phase: told.shift() ?? 'following' }) }
  const { snapshot, status } = await openSettled(chain, { signal }, { now: () => 0 })
  expect(status.phase).toBe('following')
  expect(told).toEqual([])
  await snapshot.close()
})

it('so is one that does not know yet that the first backfill has ended', async () => {
  await writer.markBackfilled()
  const early: SyncStatus = { ...following, phase: 'backfilling', backfilled: false }
  const told = [early, early, early]
  const chain = { reader, status: () => told.shift() ?? following }
  const { snapshot, status } = await openSettled(chain, { signal }, { now: () => 0 })
  expect(status.phase).toBe('following')
  await snapshot.close()
})

it('where that lasts, the view is given with the status as it is', async () => {
  await writer.markBackfilled()
  const chain = { reader, status: (): SyncStatus => ({ ...following, phase: 'backfilling' }) }
  const { snapshot, status } = await openSettled(chain, { signal }, steppingClock(1_000))
  expect(status.phase).toBe('backfilling')
  await snapshot.close()
})

it('a first backfill that has stored more than was reported of it is level with its node: its end is waited for', async () => {
  const early: SyncStatus = { ...following, phase: 'backfilling', backfilled: false, head: 1 }
  const over = await openSettled({ reader, status: () => early }, { signal }, steppingClock(1_000))
  // What a status would name as well: no lag, and not ready.
  const refusal = await notBackfilled(over.snapshot, early)
  expect(refusal.data).toEqual({ head: 2, indexedTo: 2 })
  await over.snapshot.close()

  let told = early
  const waiting = openSettled({ reader, status: () => told }, { signal }, { now: () => 0 })
  await writer.markBackfilled()
  told = following
  const { snapshot, status } = await waiting
  expect(status).toBe(following)
  await snapshot.close()
})
