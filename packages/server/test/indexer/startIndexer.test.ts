import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import type { SyncStatus } from '@chain-data/index'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createLogger } from '../../src/platform/logger.ts'
import { createThreads } from '../../src/server/indexer/createThreads.ts'
import {
  type Indexer,
  type StartIndexerOptions,
  startIndexer
} from '../../src/server/indexer/startIndexer.ts'
import { differences } from '../support/indexHarness.ts'
import { startFaultProxy } from '../support/startFaultProxy.ts'
import { walkChain } from '../support/walkChain.ts'

let anvil: AnvilNode
let driver: EvmDriver
const cleanUps: (() => Promise<void>)[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
})
afterAll(() => anvil.stop())
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function folder(): Promise<string> {
  const { path, remove } = await temporaryFolder()
  cleanUps.push(remove)
  return path
}

function start(storeFolder: string, options: Partial<StartIndexerOptions> = {}) {
  const lines: Record<string, unknown>[] = []
  const statuses: SyncStatus[] = []
  const indexer = startIndexer({
    chainId: 31337,
    rpcUrls: [anvil.rpcUrl],
    store: { kind: 'sqlite', folder: storeFolder },
    startBlock: 0,
    finality: 'auto',
    pollIntervalMs: 25,
    logger: createLogger({ level: 'debug', write: line => lines.push(JSON.parse(line)) }),
    onStatus: status => statuses.push(status),
    ...options
  })
  cleanUps.push(() => indexer.stop())
  return { indexer, lines, statuses }
}

async function atHead(indexer: Indexer): Promise<void> {
  const { hash } = (await driver.rpc('eth_getBlockByNumber', 'latest', false)) as { hash: string }
  await eventually(`block ${hash} is indexed`, () => {
    const { indexedTo, backfilled } = indexer.status()
    return backfilled && indexedTo?.hash === hash
  })
}

describe('startIndexer', () => {
  it('indexes in a thread of its own and tells status and log of it', async () => {
    const path = await folder()
    const { indexer, lines, statuses } = start(path)
    expect(indexer.status()).toMatchObject({ chainId: 31337, phase: 'starting', backfilled: false })
    await atHead(indexer)
    expect(await differences(path, await walkChain(driver.rpc))).toEqual([])
    expect(statuses.at(-1)).toEqual(indexer.status())
    expect(statuses.map(({ phase }) => phase)).not.toContain('stalled')
    expect(lines.find(({ msg }) => msg === 'the first backfill is complete')).toMatchObject({
      component: 'indexer',
      chainId: 31337
    })
    await indexer.stop()
    await indexer.stop()
  })

  it('knows at once what an earlier run left, even while the node is away', async () => {
    const path = await folder()
    const first = start(path)
    await atHead(first.indexer)
    const { indexedTo } = first.indexer.status()
    await first.indexer.stop()
    const proxy = await startFaultProxy(anvil.rpcUrl)
    cleanUps.push(() => proxy.close())
    proxy.setDown(true)
    const { indexer } = start(path, { rpcUrls: [proxy.url] })
    await eventually('it stalls', () => indexer.status().phase === 'stalled')
    expect(indexer.status()).toMatchObject({ indexedTo, backfilled: true, indexedFrom: 0 })
  })

  it('stops in good order in the middle of a backfill, and can be started again at once', async () => {
    const path = await folder()
    const { indexer } = start(path, { roundBlocks: 3, window: 1 })
    await eventually('it has begun', () => indexer.status().indexedTo !== undefined)
    await indexer.stop()
    const again = start(path)
    await atHead(again.indexer)
    expect(await differences(path, await walkChain(driver.rpc))).toEqual([])
    expect(again.lines.filter(({ level }) => level === 50)).toEqual([])
  })

  it('reports a thread that cannot work, starts it again, and recovers with it', async () => {
    const parent = await folder()
    const path = join(parent, 'store')
    await writeFile(path, 'a file where the folder should be')
    const { indexer, lines } = start(path)
    await eventually('it stalls', () => indexer.status().phase === 'stalled')
    expect(indexer.status().problem).toMatch(/folder/)
    expect(indexer.status().problem).not.toContain(parent)
    // A thread that starts again says so at once, which must not hide why the one before it ended.
    const phases: string[] = []
    await eventually('it has been started again', () => {
      phases.push(indexer.status().phase)
      return lines.filter(({ msg }) => msg === 'the indexer is started again').length > 1
    })
    expect(new Set(phases)).toEqual(new Set(['stalled']))
    await rm(path)
    await mkdir(path)
    await atHead(indexer)
    expect(indexer.status()).not.toHaveProperty('problem')
    expect(lines.some(({ msg }) => msg === 'the indexer is started again')).toBe(true)
  })

  it('survives a thread that crashes', async () => {
    const parent = await folder()
    const entry = join(parent, 'thread.mjs')
    await writeFile(entry, "throw new Error('out of order')")
    const { indexer, lines } = start(join(parent, 'store'), { threadEntry: pathToFileURL(entry) })
    await eventually('it stalls', () => indexer.status().phase === 'stalled')
    expect(indexer.status().problem).toBe('the indexer ended unexpectedly')
    const crash = lines.find(({ msg }) => msg === 'the indexer crashed')
    expect(crash).toMatchObject({ chainId: 31337, error: { message: 'out of order' } })
    const thread = new URL('../../src/server/indexer/indexerThread.ts', import.meta.url)
    await writeFile(entry, `import ${JSON.stringify(thread.href)}`)
    await atHead(indexer)
  })

  it('survives a thread of the writer that crashes', async () => {
    const parent = await folder()
    const entry = join(parent, 'writer.mjs')
    const thread = JSON.stringify(new URL('../../src/server/indexer/writerThread.ts', import.meta.url).href)
    await writeFile(
      entry,
      `import { parentPort } from 'node:worker_threads'
       parentPort.once('message', ({ port }) => port.on('message', ({ call }) => {
         if (call === 'markBackfilled') throw new Error('out of order')
       }))
       await import(${thread})`
    )
    const logger = createLogger({ level: 'error', write: () => {} })
    const writers = createThreads('writer', { logger, most: 1, entry: pathToFileURL(entry) })
    const path = join(parent, 'store')
    const { indexer, lines } = start(path, { writers })
    await eventually('it stalls', () => indexer.status().phase === 'stalled')
    expect(indexer.status().problem).toBe('the thread that writes the store has ended; expected it to run')
    await writeFile(entry, `import ${thread}`)
    await atHead(indexer)
    expect(lines.some(({ msg }) => msg === 'the indexer is started again')).toBe(true)
    expect(await differences(path, await walkChain(driver.rpc))).toEqual([])
  })

  it('tells class and place of an error that nobody caught in the thread, the place in the log only', async () => {
    const parent = await folder()
    const entry = join(parent, 'thread.mjs')
    const thread = new URL('../../src/server/indexer/indexerThread.ts', import.meta.url)
    await writeFile(
      entry,
      `class StrangeError extends Error {}
       setTimeout(function inTheThread() { throw Object.assign(new StrangeError('odd'), { code: 'E_ODD' }) }, 0)
       await import(${JSON.stringify(thread.href)})`
    )
    const { indexer, lines } = start(join(parent, 'store'), {
      threadEntry: pathToFileURL(entry),
      rpcUrls: ['http://127.0.0.1:1']
    })
    const failed = await eventually('it fails', () => lines.find(({ msg }) => msg === 'indexing failed'))
    expect(failed.error).toMatchObject({
      name: 'StrangeError [E_ODD]',
      message: 'odd',
      stack: expect.stringMatching(/at .*inTheThread.*thread\.mjs/)
    })
    await eventually('it stalls', () => indexer.status().problem !== undefined)
    expect(indexer.status().problem).not.toMatch(/inTheThread|thread\.mjs/)
  })

  it('can be stopped while it waits to start a crashed thread again', async () => {
    const parent = await folder()
    const entry = join(parent, 'thread.mjs')
    await writeFile(entry, "throw new Error('out of order')")
    const { indexer, lines } = start(join(parent, 'store'), { threadEntry: pathToFileURL(entry) })
    await eventually('it waits', () => lines.some(({ msg }) => msg === 'the indexer is started again'))
    await indexer.stop()
    expect(indexer.status().phase).toBe('stalled')
  })
})
