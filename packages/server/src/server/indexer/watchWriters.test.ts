import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Hash, StoreError, type StoreReader, type StoreWriter, type SyncStatus } from '@chain-data/index'
import { openSqliteReader, openSqliteWriter } from '@chain-data/index/test'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { patient } from '../../../../../.config/patience.ts'
import { createLogger } from '../../platform/logger.ts'
import { type WatchedChain, type WriterWatches, watchWriters } from './watchWriters.ts'

const genesisHash: Hash = `0x${'6e'.repeat(32)}`
const following = { phase: 'following', head: 9, poolCovered: true, poolAgeMs: 0 } as const

let folder: string
let lines: Record<string, unknown>[]
const cleanUps: (() => unknown)[] = []
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-'))
  cleanUps.push(() => rm(folder, { recursive: true, force: true }))
  lines = []
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function chain(chainId: number, changes: Partial<WatchedChain> = {}): Promise<WatchedChain> {
  const reader = await openSqliteReader(folder, chainId)
  cleanUps.push(() => reader.close())
  return { chainId, reader, startBlock: 2, ...changes }
}

async function write(chainId: number): Promise<StoreWriter> {
  const writer = await openSqliteWriter(folder, { chainId, genesisHash })
  cleanUps.push(() => writer.close())
  return writer
}

function watch(chains: readonly WatchedChain[], silentAfterMs = 60_000): WriterWatches {
  const logger = createLogger({ level: 'info', write: line => lines.push(JSON.parse(line)) })
  const watches = watchWriters(chains, { logger, lookEveryMs: 5, silentAfterMs })
  cleanUps.push(() => watches.stop())
  return watches
}

async function until(read: (() => SyncStatus) | undefined, test: (status: SyncStatus) => boolean) {
  const deadline = performance.now() + patient(10_000)
  for (;;) {
    const status = read?.()
    if (status !== undefined && test(status)) return status
    if (performance.now() > deadline) throw new Error(`not in time: ${JSON.stringify(status)}`)
    await new Promise(resolve => setTimeout(resolve, 5))
  }
}

it('each of many chains is shown as its own writer says, once that one has been heard twice', async () => {
  const genesis: [number, Hash][] = []
  const ids = [11, 12, 13, 14, 15, 16]
  const chains = await Promise.all(ids.map(id => chain(id, { onGenesis: hash => genesis.push([id, hash]) })))
  const writers = await Promise.all(ids.map(write))
  for (const writer of writers) await writer.report(following)
  const { statuses } = watch(chains)
  expect(statuses.map(read => read())).toEqual(
    ids.map(chainId => ({
      ...{ chainId, phase: 'starting', waiting: true, indexing: false, indexedFrom: 2, startBlock: 2 },
      ...{ backfilled: false, degraded: false, poolCovered: false }
    }))
  )
  for (const [place, writer] of writers.entries()) {
    if (ids[place] === 13) continue
    const heard = until(statuses[place], ({ phase }) => phase === 'following')
    for (let isOver = false; !isOver; ) {
      await writer.report(following)
      const pause = new Promise<boolean>(resolve => setTimeout(resolve, 20, false))
      isOver = await Promise.race([heard.then(() => true), pause])
    }
    expect(await heard).toMatchObject({ head: 9, waiting: true, indexing: false, poolCovered: true })
  }
  // Nobody has heard this one say the same twice.
  expect(statuses[2]?.()).toMatchObject({ chainId: 13, phase: 'starting' })
  expect(genesis.sort()).toEqual(ids.filter(id => id !== 13).map(id => [id, genesisHash]))
})

it('a chain that nobody indexes, with an index or without, is stalled, and says why', async () => {
  const writer = await write(21)
  await writer.report(following)
  await writer.markBackfilled()
  const { statuses } = watch([await chain(21), await chain(22)], 50)
  const isStalled = ({ phase }: SyncStatus) => phase === 'stalled'
  expect(await until(statuses[0], isStalled)).toMatchObject({ backfilled: true, indexing: false })
  const { problem } = await until(statuses[1], isStalled)
  expect(problem).toMatch(/^this process does not index, and none that does has said for more than 50 ms/)
  expect(lines).toEqual([])
})

it('a store that cannot be read is said once, told as the problem, and looked at again', async () => {
  const real = await chain(31)
  let isAway = true
  const openSnapshot: StoreReader['openSnapshot'] = async () => {
    if (isAway) throw new StoreError('the database is away')
    return real.reader.openSnapshot()
  }
  const { statuses } = watch([{ ...real, reader: { ...real.reader, openSnapshot } }], 50)
  expect(await until(statuses[0], ({ phase }) => phase === 'stalled')).toMatchObject({
    problem: 'the database is away'
  })
  isAway = false
  await until(statuses[0], ({ problem }) => problem?.startsWith('this process does not index') === true)
  expect(lines.map(({ msg, chainId }) => [msg, chainId])).toEqual([
    ['the store cannot be read', 31],
    ['the store can be read again', 31]
  ])
})

it('a chain whose store hangs holds up none of the others, and nothing is told once it is stopped', async () => {
  const ids = [41, 42, 43, 44, 45, 46]
  const chains = await Promise.all(ids.map(id => chain(id)))
  let fail: (error: Error) => void = () => undefined
  const hanging = new Promise<never>((_, reject) => {
    fail = reject
  })
  const [first, ...others] = chains
  if (first === undefined) throw new Error('no chain')
  const watches = watch(
    [{ ...first, reader: { ...first.reader, openSnapshot: () => hanging } }, ...others],
    50
  )
  for (const read of watches.statuses.slice(1)) await until(read, ({ phase }) => phase === 'stalled')
  expect(watches.statuses[0]?.()).toMatchObject({ chainId: 41, phase: 'starting' })
  watches.stop()
  fail(new StoreError('the connection is closed'))
  await hanging.catch(() => undefined)
  await new Promise(resolve => setTimeout(resolve, 20))
  expect(lines).toEqual([])
  expect(watches.statuses[0]?.()).toMatchObject({ phase: 'starting' })
})
