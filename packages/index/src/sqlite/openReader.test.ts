import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { buildChain, hashOf, people } from '../../test/buildChain.ts'
import { commitChain } from '../../test/commitChain.ts'
import { readHistory } from '../../test/readAll.ts'
import type { StoreReader } from '../port/store.ts'
import { openSqliteReader, type SqliteReaderOptions } from './openReader.ts'
import { openSqliteWriter } from './openWriter.ts'

const alice = people[3]!
let folder: string
let reader: StoreReader | undefined

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-reader-'))
  const writer = await openSqliteWriter(folder, { chainId: 1, genesisHash: hashOf('genesis') })
  await commitChain(
    writer,
    buildChain([Array.from({ length: 400 }, (_, i) => ({ name: `tx ${i}`, parties: [alice] }))])
  )
  await writer.close()
})
afterEach(async () => {
  await reader?.close()
  await rm(folder, { recursive: true, force: true })
})

async function open(options: SqliteReaderOptions): Promise<StoreReader> {
  reader = await openSqliteReader(folder, 1, options)
  return reader
}

describe('when every snapshot is in use', () => {
  it('the one that was not read from for longest gives way to who waits, and says so', async () => {
    const store = await open({ maxSnapshots: 2, idleMs: 30 })
    const slow = (await store.openSnapshot()).records(alice)[Symbol.asyncIterator]()
    await slow.next()
    const busy = await store.openSnapshot()
    let isWaiting = true
    const waiting = store.openSnapshot().finally(() => {
      isWaiting = false
    })
    while (isWaiting) expect(await readHistory(busy, alice)).toHaveLength(400)
    await expect(slow.next()).rejects.toThrow(
      'the snapshot is gone: it was read too slowly while others waited'
    )
    expect(await readHistory(busy, alice)).toHaveLength(400)
    expect(await readHistory(await waiting, alice)).toHaveLength(400)
  })

  it('none gives way that waits for its own turn to be read on', async () => {
    const store = await open({ maxSnapshots: 1, idleMs: 10 })
    const first = await store.openSnapshot({ pause: () => sleep(50) })
    const waiting = store.openSnapshot()
    expect(await readHistory(first, alice)).toHaveLength(400)
    await first.close()
    expect(await readHistory(await waiting, alice)).toHaveLength(400)
  })

  it('none gives way that is not idle: who waits gets the first one that is closed', async () => {
    const store = await open({ maxSnapshots: 1, idleMs: 3_600_000 })
    const first = await store.openSnapshot()
    const waiting = store.openSnapshot()
    expect(await readHistory(first, alice)).toHaveLength(400)
    await first.close()
    expect(await readHistory(await waiting, alice)).toHaveLength(400)
  })
})

it('a snapshot ends at an age, so that the log beside the file cannot grow for ever', async () => {
  const store = await open({ maxSnapshots: 1, maxAgeMs: -1 })
  const snapshot = await store.openSnapshot()
  await expect(snapshot.indexedRange()).rejects.toThrow('the snapshot is too old')
  // Its connection has gone back already.
  await store.openSnapshot()
})
