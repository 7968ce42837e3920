import { EventEmitter, once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MessageChannel } from 'node:worker_threads'
import { StoreError, StoreInUseError, type StoreWriter, type StoreWriterOptions } from '@chain-data/index'
import {
  describeBlocks,
  describeLifetime,
  describeReport,
  type OpenStore,
  testIdentity
} from '@chain-data/index/contract'
import { encodeBlock, packBlocks } from '@chain-data/index/record'
import {
  buildChain,
  dumpStore,
  loseSqliteRow,
  openSqliteReader,
  openSqliteWriter,
  people
} from '@chain-data/index/test'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { connectWriter, serveWriter, type WriterConnection } from './writerPort.ts'

/** A writer that is collected as garbage would give its lock back too, although nobody closed it. */
const reachable = new Set<StoreWriter>()

/** Both ends in one thread: what travels is cloned and handed over all the same. */
function connect(open: typeof openSqliteWriter = openSqliteWriter, layout: object = {}): WriterConnection {
  const { port1, port2 } = new MessageChannel()
  serveWriter(port2, async (location, identity, options) => {
    if (location.kind !== 'sqlite') throw new Error('only SQLite is tested here')
    const writer = await open(location.folder, identity, { ...options, ...layout })
    reachable.add(writer)
    return writer
  })
  return connectWriter(port1)
}

const openBehindPorts: OpenStore = async (layout = {}) => {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-store-'))
  const opened: { close(): Promise<void> }[] = []
  const kept = <T extends { close(): Promise<void> }>(made: T): T => {
    opened.push(made)
    return made
  }
  const connections: WriterConnection[] = []
  return {
    async openWriter(identity = testIdentity) {
      const connection = connect(openSqliteWriter, layout)
      connections.push(connection)
      return kept(await connection.open({ kind: 'sqlite', folder }, identity, { lockWaitMs: 0 }))
    },
    openReader: async () => kept(await openSqliteReader(folder, testIdentity.chainId)),
    dump: async () => dumpStore(folder, testIdentity.chainId).text,
    loseRow: async row => {
      const putBack = loseSqliteRow(folder, testIdentity.chainId, row)
      return async () => putBack()
    },
    async dispose() {
      for (const each of opened.splice(0)) await each.close()
      for (const connection of connections) connection.close()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

// What travels is the same in the other parts of the contract.
describe('a store whose writer is behind a port', () => {
  describeBlocks(openBehindPorts)
  describeReport(openBehindPorts)
  describeLifetime(openBehindPorts)
})

describe('connectWriter', () => {
  let folder: string
  const connections: WriterConnection[] = []
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'chain-data-port-'))
  })
  afterEach(() => {
    for (const connection of connections.splice(0)) connection.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const connected = (open?: typeof openSqliteWriter) => {
    const connection = connect(open)
    connections.push(connection)
    return connection
  }
  const location = () => ({ kind: 'sqlite' as const, folder })

  it('hands the buffers of blocks over instead of copying them', async () => {
    const writer = await connected().open(location(), testIdentity)
    const packed = packBlocks(buildChain([[{ name: 'a', parties: [people[7]!] }]]).map(encodeBlock))
    await writer.commitBlocks(packed)
    expect(packed.records.byteLength).toBe(0)
    expect((await writer.state()).head).toEqual(packed.headers[0]?.ref)
    await writer.close()
  })

  it('gives failures of the store their class, context, cause and stack back', async () => {
    const first = await connected().open(location(), testIdentity)
    const refusal = await connected()
      .open(location(), testIdentity, { lockWaitMs: 0 })
      .catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(StoreInUseError)
    await first.close()
    const cause = Object.assign(new Error('disk full'), { code: 'ENOSPC' })
    const failing = connected(async () => {
      throw new StoreError('no room', { blockNumber: 7 }, { cause })
    })
    const failure = await failing.open(location(), testIdentity).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreError)
    expect(failure).not.toBeInstanceOf(StoreInUseError)
    expect(failure).toMatchObject({
      ...{ name: 'StoreError', message: 'no room', context: { blockNumber: 7 }, retryable: false },
      cause: { name: 'Error [ENOSPC]', message: 'disk full' },
      stack: expect.stringContaining('writerPort.test.ts')
    })
  })

  it('waits for its turn over there, and ends the waiting with the reason of the signal', async () => {
    const first = await connected().open(location(), testIdentity)
    const stopping = new AbortController()
    const second = connected().open(location(), testIdentity, {
      ...{ lockWaitMs: 60_000, signal: stopping.signal }
    })
    const reason = new Error('no longer')
    stopping.abort(reason)
    await expect(second).rejects.toBe(reason)
    await first.close()
    const third = await connected().open(location(), testIdentity, { lockWaitMs: 0 })
    await third.close()
  })

  it('closes a writer that opens only after whoever asked for it has gone', async () => {
    const steps = new EventEmitter()
    const [asked, opened] = [once(steps, 'asked'), once(steps, 'opened')]
    const connection = connected(async (at, identity, { signal } = {}) => {
      steps.emit('asked')
      if (signal !== undefined) await once(signal, 'abort')
      const writer = await openSqliteWriter(at, identity)
      steps.emit('opened')
      return writer
    })
    const opening = connection.open(location(), testIdentity)
    opening.catch(() => undefined)
    await asked
    connection.close()
    await expect(opening).rejects.toThrow('the thread that writes the store has ended')
    await opened
    const next = await connected().open(location(), testIdentity, { lockWaitMs: 10_000 })
    await next.close()
  })

  it('logs that a silent writer was fenced', async () => {
    const fenced = { chainId: 31_337, backendPid: 7, silentMs: 15_000 }
    const told: unknown[] = []
    const writer = await connected(async (at, identity, options) => {
      const { onFenced } = (options ?? {}) as StoreWriterOptions
      onFenced?.(fenced)
      return openSqliteWriter(at, identity)
    }).open(location(), testIdentity, { onFenced: each => told.push(each) })
    expect(told).toEqual([fenced])
    await writer.close()
  })

  it('closes a writer whose connection ends, also one that was still waited for', async () => {
    const [one, two] = [connected(), connected()]
    await one.open(location(), testIdentity)
    const waiting = two.open(location(), testIdentity, { lockWaitMs: 60_000 })
    two.close()
    await expect(waiting).rejects.toThrow('the thread that writes the store has ended')
    one.close()
    const next = await connected().open(location(), testIdentity, { lockWaitMs: 10_000 })
    await next.close()
  })

  it('refuses calls of a writer that was closed, while the next one works on the same connection', async () => {
    const connection = connected()
    const first = await connection.open(location(), testIdentity)
    await first.close()
    const second: StoreWriter = await connection.open(location(), testIdentity)
    await expect(first.state()).rejects.toThrow('the store is closed')
    await expect(second.state()).resolves.toMatchObject({ backfilled: false })
    await second.close()
  })
})
