import { spawnSync } from 'node:child_process'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { openDeepHistoryCaches, openMetadataCache } from '@chain-data/index'
import {
  chainFiles,
  createTestDatabase,
  eventually,
  loadSqliteDriver,
  temporaryFolder
} from '@chain-data/index/test'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { createServer, type Server } from '../../src/index.ts'
import { createLogger } from '../../src/platform/logger.ts'
import type { HealthReport } from '../../src/server/http/operatorPages.ts'
import { runCommand } from '../cli/runCommand.ts'
import { differences } from '../support/indexHarness.ts'
import { walkChain } from '../support/walkChain.ts'

const noticedWithinMs = 2_000
const authorization = `Basic ${Buffer.from('demo:demo-server-key').toString('base64')}`
const address = `0x${'ca'.repeat(20)}`

let anvil: AnvilNode
let driver: EvmDriver
const cleanUps: (() => unknown)[] = []
beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
})
afterAll(() => anvil?.stop())
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** @returns the height then. */
async function mine(blocks: number): Promise<number> {
  await driver.mine({ blocks })
  return driver.world.blocks.length - 1
}

async function newFolder(): Promise<string> {
  const { path, remove } = await temporaryFolder()
  cleanUps.push(remove)
  return join(path, 'store')
}

interface Running {
  readonly server: Server
  readonly messages: string[]
  /** Result or error of a call. */
  call(method: string, ...params: readonly unknown[]): Promise<unknown>
  health(): Promise<HealthReport & { readonly httpStatus: number }>
}

async function start(store: string, { indexing = true } = {}): Promise<Running> {
  const messages: string[] = []
  const server = await createServer(
    {
      ...{ store: store.startsWith('postgres') ? store : `sqlite:${store}`, indexing },
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 100 }] },
      ...{ rateLimit: false, overload: false }
    },
    { logger: createLogger({ level: 'info', write: line => messages.push(JSON.parse(line).msg) }) }
  )
  cleanUps.push(() => server.close())
  return {
    server,
    messages,
    async call(method, ...params) {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: anvil.chainId, method, params })
      const headers = { 'content-type': 'application/json', authorization }
      const request = new Request('http://host/evm-chain', { method: 'POST', headers, body })
      const answer = (await (await server.fetch(request)).json()) as { result?: unknown; error?: unknown }
      return answer.result ?? answer.error
    },
    async health() {
      const answer = await server.fetch(new Request('http://host/health/ready'))
      return { httpStatus: answer.status, ...((await answer.json()) as HealthReport) }
    }
  }
}

async function level({ server }: Running, height: number): Promise<void> {
  await eventually(`block ${height} is there`, () => {
    const [status] = server.status()
    return status?.ready === true && status.indexedTo?.number === height
  }).catch((error: Error) => {
    throw new Error(`${error.message}; now ${JSON.stringify(server.status())}`)
  })
}

/** Nothing is answered, the true reason is told everywhere, and soon. */
async function isLost(running: Running, reason: RegExp, sinceMs: number): Promise<void> {
  const { server, call, health } = running
  // It may have been lost before, for another reason.
  const isNoticed = () => {
    const [status] = server.status()
    return status?.indexUnusable === true && reason.test(status.problem ?? '')
  }
  await eventually('the loss is noticed', isNoticed).catch((error: Error) => {
    throw new Error(`${error.message}; now ${JSON.stringify(server.status())}`)
  })
  const tookMs = performance.now() - sinceMs
  expect(tookMs).toBeLessThan(patient(noticedWithinMs))
  const told = expect.stringMatching(reason)
  expect(server.status()[0]).toMatchObject({ phase: 'stalled', ready: false, degraded: true, problem: told })
  expect(await health()).toMatchObject({
    httpStatus: 503,
    notReady: [{ chainId: anvil.chainId, reason: told }]
  })
  expect(await call('svc_getSyncStatus')).toMatchObject({ ready: false, phase: 'stalled', problem: told })
  const refused = { code: -32002, data: { reason: 'UPSTREAM_UNAVAILABLE', extraMessage: told } }
  expect(await call('svc_getTransactionsByAddress', address)).toMatchObject(refused)
  const before = { limit: 5, before: `0x${'11'.repeat(32)}` }
  expect(await call('svc_getTransactionsByAddress', address, before)).toMatchObject(refused)
  expect(await call('svc_getTokensAndNFTs', address)).toMatchObject(refused)
}

/** Does something to the files of an index. @returns what takes it back; absent where it cannot be done here. */
type Harm = (folder: string, database: string) => (() => void) | undefined

const harms: readonly (readonly [reason: RegExp, harm: Harm])[] = [
  [
    /file of the chain's index was deleted or moved while in use: move it back/,
    folder => {
      renameSync(folder, `${folder}.away`)
      return () => renameSync(`${folder}.away`, folder)
    }
  ],
  [
    /file of the chain's index was replaced by another file while in use: move the original back/,
    (_folder, database) => {
      renameSync(database, `${database}.away`)
      copyFileSync(`${database}.away`, database)
      return () => renameSync(`${database}.away`, database)
    }
  ],
  [
    /write-ahead log of the chain's index was deleted or moved/,
    (_folder, database) => {
      renameSync(`${database}-wal`, `${database}.away`)
      return () => renameSync(`${database}.away`, `${database}-wal`)
    }
  ],
  [
    /cannot be written any more \(EROFS\): make it writable again/,
    // On itself: a mount with open files refuses to become read-only. Only root may do it.
    folder => {
      if (spawnSync('mount', ['--bind', folder, folder]).status !== 0) return undefined
      const unmount = () => spawnSync('umount', ['--lazy', folder])
      if (spawnSync('mount', ['-o', 'remount,bind,ro', folder]).status === 0) return unmount
      unmount()
      return undefined
    }
  ]
]

const overwritten =
  /was overwritten while in use, or its .* log was damaged\. Stop the server, .* or run chain-data reset/

it('an index whose files are moved, replaced or read-only is not answered from, and goes on once they are back', async () => {
  const folder = await newFolder()
  const running = await start(folder)
  await level(running, await mine(1))
  const { database } = chainFiles(folder, anvil.chainId)
  for (const [reason, harm] of harms) {
    expect(await running.call('svc_getTransactionsByAddress', address)).toEqual([])
    running.messages.length = 0
    const sinceMs = performance.now()
    const undo = harm(folder, database)
    if (undo === undefined) {
      process.stderr.write('not tried: a folder cannot be mounted read-only here\n')
      continue
    }
    cleanUps.push(() => undo())
    await isLost(running, reason, sinceMs)
    await eventually('it is logged', () => running.messages.includes('the index cannot be used'))
    const height = await mine(2)
    undo()
    cleanUps.pop()
    await level(running, height)
    await eventually('its end is logged', () => running.messages.includes('the index can be used again'))
    expect(await running.health()).toMatchObject({ httpStatus: 200 })
  }
  // A part of what was overwritten may be in memory.
  const sinceMs = performance.now()
  truncateSync(database)
  await isLost(running, overwritten, sinceMs)
  await running.server.close()
  rmSync(folder, { recursive: true })
  await level(await start(folder), await mine(1))
})

it('an older copy that is written over the index is noticed, and a checkpoint by another program is none', async () => {
  const folder = await newFolder()
  const running = await start(folder)
  await level(running, await mine(1))
  const { database } = chainFiles(folder, anvil.chainId)
  const other = loadSqliteDriver().open(database, { busyTimeoutMs: 5_000 })
  cleanUps.push(() => other.close())
  const beat = () => other.prepare<{ beat: number }>('SELECT beat FROM writer_report').get([])?.beat ?? 0
  const checkpoint = async () => {
    other.prepare('PRAGMA wal_checkpoint(RESTART)').get([])
    // The writer checks its files with every report.
    const before = beat()
    await eventually('the writer has reported twice', () => beat() > before + 1)
  }
  await checkpoint()
  const copy = readFileSync(database)
  await level(running, await mine(3))
  await checkpoint()
  expect(await running.health()).toMatchObject({ httpStatus: 200 })
  expect(statSync(database).size).toBe(copy.length)

  const file = openSync(database, 'r+')
  const sinceMs = performance.now()
  writeSync(file, copy)
  closeSync(file)
  await isLost(running, overwritten, sinceMs)
})

it('an index that was deleted is not made anew before a restart, which no other server disturbs', async () => {
  const folder = await newFolder()
  const running = await start(folder)
  await level(running, await mine(1))
  const answers = await start(folder, { indexing: false })
  const standby = await start(folder)
  for (const each of [answers, standby]) await level(each, await mine(1))
  const sinceMs = performance.now()
  rmSync(folder, { recursive: true })
  const reason = /was deleted or moved while in use: .* a restart without it begins a new index/
  for (const each of [running, answers, standby]) await isLost(each, reason, sinceMs)
  // Whoever waits for the writer's place makes no new index either.
  const isTried = () => standby.messages.includes('the store is lost and opened again')
  await eventually('it has waited in vain', isTried)
  expect(existsSync(chainFiles(folder, anvil.chainId).database)).toBe(false)
  await standby.server.close()
  const restarted = await start(folder)
  const height = await mine(2)
  // A server that only answers follows whoever indexes.
  for (const each of [restarted, answers]) await level(each, height)
  await isLost(running, /was replaced by another file while in use/, performance.now())
  await running.server.close()
  await level(restarted, await mine(1))
  expect(await differences(folder, await walkChain(driver.rpc))).toEqual([])
})

it('two servers on one path do not write at once when the lock file is deleted', async () => {
  const folder = await newFolder()
  const first = await start(folder)
  await level(first, await mine(1))
  const { lock } = chainFiles(folder, anvil.chainId)
  for (let round = 0; round < 2; round++) {
    rmSync(lock)
    const second = await start(folder)
    await level(second, await mine(3))
    await level(first, await mine(3))
    const writers = [first, second].filter(({ server }) => !server.status()[0]?.waiting)
    expect(writers.length).toBe(1)
    await second.server.close()
  }
  const walked = await walkChain(driver.rpc)
  expect(await differences(folder, walked)).toEqual([])
})

it('caches whose files were deleted are kept in memory, which is logged', async () => {
  const folder = await newFolder()
  const lines: string[] = []
  const logger = createLogger({ level: 'warn', write: line => lines.push(JSON.parse(line).msg) })
  const location = { kind: 'sqlite', folder } as const
  mkdirSync(folder)
  const metadata = openMetadataCache(location, { bounds: { content: 1e6, url: 1e6 }, logger })
  const caches = openDeepHistoryCaches(location, { bound: 1e6, logger })
  const deep = caches.ofChain(1)
  const anchor = { number: 5, hash: `0x${'5'.repeat(64)}` } as const
  const party = address as `0x${string}`
  const nothing = await deep.known(party, anchor)
  for (const file of readdirSync(folder)) rmSync(join(folder, file))
  await eventually(
    'both are noticed',
    async () => {
      await metadata.read(['ipfs://x'])
      expect(await deep.known(party, anchor)).toEqual(nothing)
      return lines.length === 2
    },
    noticedWithinMs
  )
  expect(lines).toEqual([
    'the metadata cache has failed; metadata is kept in memory',
    'the deep history cache refuses; it is kept in memory'
  ])
  expect(metadata.isWorking()).toBe(false)
  await Promise.all([metadata.close(), caches.close()])
  expect(readdirSync(folder)).toEqual([])
})

it('a process that serves says that its index is gone, and a restart of it works', async () => {
  const folder = await newFolder()
  const file = `${folder}.json`
  const config = {
    ...{ listen: { port: 0 }, store: `sqlite:${folder}` },
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ chainId: anvil.chainId, rpcUrls: [anvil.rpcUrl] }] }
  }
  writeFileSync(file, JSON.stringify(config))
  const serve = async () => {
    const command = runCommand(['serve', '--config', file])
    const end = () => {
      command.child.kill('SIGTERM')
      return command.ended
    }
    cleanUps.push(end)
    const isListening = () => command.logLines().find(({ msg }) => msg === 'listening')?.url
    const url = await eventually('it listens', () => isListening() as string | undefined)
    const ready = async () => {
      const answer = await fetch(`${url}/health/ready`)
      return { httpStatus: answer.status, ...((await answer.json()) as HealthReport) }
    }
    await eventually('it is ready', async () => (await ready()).httpStatus === 200)
    return { command, end, ready }
  }
  const { command, end, ready } = await serve()
  const sinceMs = performance.now()
  rmSync(chainFiles(folder, anvil.chainId).database)
  const { notReady } = await eventually('it is not ready', async () => {
    const health = await ready()
    return health.httpStatus === 503 && health
  })
  expect(performance.now() - sinceMs).toBeLessThan(patient(noticedWithinMs))
  const reason = expect.stringMatching(/file of the chain's index was deleted or moved while in use/)
  expect(notReady).toEqual([{ chainId: anvil.chainId, reason }])
  const logged = () => command.logLines().find(({ msg }) => msg === 'the index cannot be used')
  expect(await eventually('it is logged', logged)).toMatchObject({ problem: reason })
  expect(await end()).toBe(0)
  await serve()
})

const schema = 'chain_data_31337'

it('an index in PostgreSQL that is dropped is not answered from, and not made anew before a restart', async () => {
  const url = await createTestDatabase()
  const database = new URL(url).pathname.slice(1)
  const run = async (sql: string, to = database) => {
    const client = new pg.Client({ connectionString: url.replace(`/${database}?`, `/${to}?`) })
    await client.connect()
    await client.query(sql)
    await client.end()
  }
  const running = await start(url)
  const answers = await start(url, { indexing: false })
  for (const each of [running, answers]) await level(each, await mine(1))
  const reason = /the schema of the chain's index, or a part of it, was dropped while in use/
  let sinceMs = performance.now()
  await run(`ALTER SCHEMA ${schema} RENAME TO away`)
  await isLost(running, reason, sinceMs)
  await isLost(answers, /the chain's index is gone from the store/, sinceMs)
  await run(`ALTER SCHEMA away RENAME TO ${schema}`)
  for (const each of [running, answers]) await level(each, await mine(1))

  sinceMs = performance.now()
  await run(`DROP DATABASE ${database} WITH (FORCE)`, 'postgres')
  await isLost(running, reason, sinceMs)
  await run(`CREATE DATABASE ${database}`, 'postgres')
  // Whoever restores it finds it empty.
  await isLost(running, reason, performance.now())
  await running.server.close()
  const height = await mine(1)
  for (const each of [await start(url), answers]) await level(each, height)
})
