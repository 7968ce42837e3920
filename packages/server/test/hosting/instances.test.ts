import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@chain-data/client'
import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { eventually, temporaryFolder } from '@chain-data/index/test'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { EvmChainHealth } from '../../src/server/http/health.ts'
import type { HealthReport } from '../../src/server/http/operatorPages.ts'
import { type RunningCommand, runCommand } from '../cli/runCommand.ts'
import { type Balancer, startBalancer } from './startBalancer.ts'

const chainId = 31337
/** An account that the node signs for. */
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

interface RunningServer {
  readonly command: RunningCommand
  readonly url: string
}

let node: AnvilNode
/** Hashes of the account's transactions, newest first. */
let sent: string[] = []
const running: RunningCommand[] = []
const cleanUps: (() => unknown)[] = []

async function ask(method: string, ...params: readonly unknown[]): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(node.rpcUrl, { method: 'POST', headers, body })
  return ((await response.json()) as { result?: unknown }).result
}

async function send(): Promise<string> {
  const hash = await ask('eth_sendTransaction', { from: address, to: address, data: `0x${'ab'.repeat(500)}` })
  expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
  sent.unshift(String(hash))
  return String(hash)
}

/** Once the newest transaction is in a block: the node mines by itself. */
async function mined(): Promise<void> {
  await eventually(
    'the newest transaction is mined',
    async () => (await ask('eth_getTransactionReceipt', sent[0])) !== null
  )
}

const newestBlock = async () => Number(await ask('eth_blockNumber'))

/** `chain-data serve` over a store's folder, once it listens. */
async function serve(folder: string): Promise<RunningServer> {
  const config = join(folder, `config-${running.length}.json`)
  await writeFile(
    config,
    JSON.stringify({
      listen: { port: 0 },
      store: `sqlite:${join(folder, 'store')}`,
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      chains: { evm: [{ chainId, rpcUrls: [node.rpcUrl], pollIntervalMs: 100 }] },
      // A busy machine must not look like a server that cannot answer.
      ...{ rateLimit: false, overload: false }
    })
  )
  const command = runCommand(['serve', '--config', config])
  running.push(command)
  const line = await eventually(
    'it listens',
    () => command.logLines().find(({ msg }) => msg === 'listening'),
    30_000
  )
  return { command, url: String(line.url) }
}

/** Nothing is tried again unless the test says so. */
function clientOf(baseUrl: string, retries = 0) {
  return createClient({ baseUrl, projectId: 'demo', serverKey: 'demo-server-key', chainId, retries })
}

async function healthOf({ url }: RunningServer): Promise<EvmChainHealth> {
  const response = await fetch(`${url}/health/ready`)
  const { chains } = (await response.json()) as HealthReport
  const [chain] = chains
  if (chain === undefined) throw new Error('the health page names no chain')
  return chain
}

/** All of them follow the node and have its newest block. */
async function level(...servers: readonly RunningServer[]): Promise<void> {
  const newest = await newestBlock()
  let seen: unknown
  await eventually(
    `block ${newest} is everywhere`,
    async () => {
      const healths = await Promise.all(servers.map(healthOf))
      seen = healths
      return healths.every(
        ({ phase, head, indexedTo, poolAgeSeconds }) =>
          phase === 'following' && head === newest && indexedTo === newest && poolAgeSeconds !== undefined
      )
    },
    30_000
  ).catch((error: Error) => {
    throw new Error(`${error.message}; the last look: ${JSON.stringify(seen)}`)
  })
}

const hashesOf = (records: readonly { readonly hash: string }[]) => records.map(({ hash }) => hash)

/** The account's history in pages, the newest first. */
async function pagesOf(baseUrl: string): Promise<string[][]> {
  const pages: string[][] = []
  for await (const page of clientOf(baseUrl).iterateTransactions({ address, limit: 7 })) {
    pages.push(hashesOf(page))
  }
  return pages
}

/** Calls of every kind, one after the other, until `end` is called; a failed one fails `end`. */
function startLoad(
  callers: number,
  baseUrl: string,
  retries: number,
  check: (hashes: readonly string[]) => unknown
) {
  const client = clientOf(baseUrl, retries)
  const load = { answered: 0, isOver: false }
  const calls = [
    async () => check(hashesOf(await client.getTransactionsByAddress({ address }))),
    async () => check(hashesOf(await client.getTransactionsByAddress({ address, limit: 1_000 }))),
    async () => expect(await client.getTokensAndNFTs({ address })).toHaveProperty('asOf'),
    async () => {
      const { head, indexedTo, ...status } = await client.getSyncStatus({})
      // While a node replaces its blocks its head may be below the index for a moment, which the status tells.
      const isBelow = head !== undefined && indexedTo !== undefined && head < indexedTo
      expect(status).toMatchObject({ chainId, degraded: isBelow })
    }
  ]
  const done = Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      for (let turn = caller; !load.isOver; turn++) {
        await calls[turn % calls.length]?.()
        load.answered++
      }
    })
  )
  done.catch(() => {})
  return {
    /** Waits until so many more calls were answered, or one has failed. */
    async more(count: number): Promise<void> {
      const before = load.answered
      await Promise.race([
        eventually(`${count} more calls are answered`, () => load.answered >= before + count, 30_000),
        done
      ])
    },
    async end(): Promise<void> {
      load.isOver = true
      await done
    }
  }
}

function fewestOf({ counts }: Balancer, servers: readonly RunningServer[]): number {
  return Math.min(...servers.map(({ url }) => counts.get(url) ?? 0))
}

beforeAll(async () => {
  node = await startAnvil({ mining: 'auto' })
  for (let count = 0; count < 60; count++) await send()
  await mined()
})
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  await node?.stop()
})

describe('three servers over one store behind one address', () => {
  let writer: RunningServer
  let waiting: readonly RunningServer[]
  let own: RunningServer
  let balancer: Balancer

  beforeAll(async () => {
    const [shared, other] = [await temporaryFolder(), await temporaryFolder()]
    cleanUps.push(shared.remove, other.remove)
    writer = await serve(shared.path)
    await level(writer)
    const [second, third, fourth] = await Promise.all([
      serve(shared.path),
      serve(shared.path),
      serve(other.path)
    ])
    waiting = [second, third]
    own = fourth
    await level(writer, ...waiting, own)
    balancer = await startBalancer([writer, ...waiting].map(({ url }) => url))
    cleanUps.push(balancer.close)
  })

  it('say the same, and those that wait say that they do', async () => {
    const answersOf = async ({ url }: RunningServer) => {
      const client = clientOf(url)
      const status = await client.getSyncStatus({})
      return {
        whole: await client.getTransactionsByAddress({ address }),
        first: await client.getTransactionsByAddress({ address, limit: 7 }),
        later: await client.getTransactionsByAddress({ address, limit: 7, before: sent[3] ?? '' }),
        holdings: await client.getTokensAndNFTs({ address }),
        // A second may pass between two servers' answers, and only the one that indexes checks the index.
        status: {
          ...status,
          headAgeSeconds: expect.any(Number),
          integrity: { checkedFrom: status.integrity?.checkedFrom }
        }
      }
    }
    const answers = await answersOf(writer)
    expect(hashesOf(answers.whole)).toEqual(sent)
    expect(answers.status).toMatchObject({ degraded: false, lagBlocks: 0, covers: { pool: true } })
    for (const server of waiting) {
      expect(await answersOf(server)).toEqual(answers)
      expect(await healthOf(server)).toMatchObject({ phase: 'following', waiting: true, ready: true })
      expect(server.command.logLines().map(({ msg }) => msg)).not.toContain('indexing starts')
    }
    expect(await healthOf(writer)).not.toHaveProperty('waiting')
  })

  it('give the pages of one history in turn, and calls of every kind, without a second try', async () => {
    const pages = await pagesOf(balancer.url)
    expect(pages.flat()).toEqual(sent)
    expect(pages.length).toBeGreaterThan(8)
    const load = startLoad(3, balancer.url, 0, hashes => expect(hashes).toEqual(sent))
    await load.more(60)
    await load.end()
    expect(fewestOf(balancer, [writer, ...waiting])).toBeGreaterThan(20)
  })

  it('with a store each, too: a cursor is a hash', async () => {
    const both = await startBalancer([own.url, writer.url])
    cleanUps.push(both.close)
    expect((await pagesOf(both.url)).flat()).toEqual(sent)
    expect(fewestOf(both, [own, writer])).toBeGreaterThan(3)
  })

  it('show what is pending, and each transaction once when it is mined', async () => {
    const known = sent.slice()
    await ask('evm_setAutomine', false)
    const hash = await send()
    for (const { url } of [writer, ...waiting]) {
      await eventually('it is pending', async () => {
        const [newest] = await clientOf(url).getTransactionsByAddress({ address, limit: 1 })
        return newest?.hash === hash && newest.status === 1
      })
    }
    const load = startLoad(3, balancer.url, 0, hashes => expect(hashes).toEqual([hash, ...known]))
    await load.more(10)
    await ask('evm_mine')
    await mined()
    await level(writer, ...waiting)
    await load.more(10)
    await load.end()
    for (const { url } of [writer, ...waiting]) {
      const page = await clientOf(url).getTransactionsByAddress({ address, limit: 2 })
      expect(page.map(({ status }) => status)).toEqual([3, 3])
    }
    await ask('evm_setAutomine', true)
  })

  it('never mix two branches in one answer while the chain reorganises', async () => {
    const seen = new Set<string>()
    const branches = [sent]
    const load = startLoad(4, balancer.url, 0, hashes => seen.add(String(hashes)))
    await load.more(10)
    for (const depth of [3, 9]) {
      // The blocks that come instead are empty.
      await ask('anvil_reorg', depth, [])
      const receipts = await Promise.all(sent.map(hash => ask('eth_getTransactionReceipt', hash)))
      sent = sent.filter((_, place) => receipts[place] !== null)
      branches.push(sent)
      await level(writer, ...waiting)
      await load.more(10)
    }
    await load.end()
    expect(new Set(branches.map(({ length }) => length)).size).toBe(3)
    // One branch or the other: nothing in between is an answer.
    expect(seen).toEqual(new Set(branches.map(String)))
    for (const { url } of [writer, ...waiting]) {
      expect(hashesOf(await clientOf(url).getTransactionsByAddress({ address }))).toEqual(sent)
    }
  })

  it('those that wait notice a writer that hangs, refuse what it alone knows, and go on when it does', async () => {
    const [second] = waiting
    if (second === undefined) throw new Error('nobody waits')
    const client = clientOf(second.url)
    const page = () => client.getTransactionsByAddress({ address, limit: 2, before: sent[0] ?? '' })
    writer.command.child.kill('SIGSTOP')
    const hung = await eventually('it is noticed', async () => {
      expect(hashesOf(await page())).toEqual(sent.slice(1, 3))
      const health = await healthOf(second)
      return health.phase === 'stalled' && health
    })
    expect(hung).toMatchObject({ waiting: true, degraded: true, ready: false, backfilled: true })
    expect(hung.problem).toMatch(/holds the writer's lock of this chain/)
    expect(await client.getSyncStatus({})).toMatchObject({ degraded: true, ready: false })
    const refused = { reason: 'UPSTREAM_UNAVAILABLE', retryable: true }
    await expect(client.getTransactionsByAddress({ address })).rejects.toMatchObject(refused)
    await expect(client.getTransactionsByAddress({ address, limit: 1 })).rejects.toMatchObject(refused)
    await expect(client.getTokensAndNFTs({ address })).rejects.toMatchObject(refused)
    expect(hashesOf(await page())).toEqual(sent.slice(1, 3))
    writer.command.child.kill('SIGCONT')
    await level(writer, ...waiting)
    expect(hashesOf(await client.getTransactionsByAddress({ address }))).toEqual(sent)
  })

  const indexes = ({ command }: RunningServer) =>
    command.logLines().some(({ msg }) => msg === 'indexing starts')

  it('told to end, the writer is replaced by one of the others, which answer on without a second try', async () => {
    const rest = await startBalancer(waiting.map(({ url }) => url))
    cleanUps.push(rest.close)
    const load = startLoad(4, rest.url, 0, hashes => expect(hashes).toEqual(sent))
    await load.more(20)
    writer.command.child.kill('SIGTERM')
    const next = await eventually('another one indexes', () => waiting.find(indexes), 30_000)
    expect(await writer.command.ended).toBe(0)
    await load.more(40)
    await load.end()
    await send()
    await mined()
    await level(...waiting)
    for (const server of waiting) {
      expect((await healthOf(server)).waiting).toBe(server === next ? undefined : true)
    }
    writer = next
    waiting = waiting.filter(server => server !== next)
  })

  it('killed under load, the writer is replaced, and callers notice nothing', async () => {
    const both = await startBalancer([writer, ...waiting].map(({ url }) => url))
    cleanUps.push(both.close)
    // Whoever was sent to the killed one has to ask again.
    const load = startLoad(6, both.url, 3, hashes => expect(hashes).toEqual(sent))
    await load.more(20)
    expect(fewestOf(both, [writer, ...waiting])).toBeGreaterThan(3)
    writer.command.child.kill('SIGKILL')
    await writer.command.ended
    await load.more(40)
    await eventually('another one indexes', () => waiting.find(indexes), 30_000)
    await load.more(20)
    await load.end()
    await send()
    await mined()
    await level(...waiting)
    expect((await pagesOf(both.url)).flat()).toEqual(sent)
  })
})
