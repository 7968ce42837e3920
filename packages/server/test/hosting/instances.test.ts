import { createClient } from '@chain-data/client'
import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningCommand, runCommand } from '../cli/runCommand.ts'
import { eventually, temporaryFolder } from '../support/indexHarness.ts'
import { startBalancer } from './startBalancer.ts'

const chainId = 31337
/** An account that the node signs for. */
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'

let node: AnvilNode
/** Hashes of the account's transactions, newest first. */
const sent: string[] = []
const running: RunningCommand[] = []
const cleanUps: (() => unknown)[] = []

async function ask(method: string, params: readonly unknown[]): Promise<unknown> {
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(node.rpcUrl, { method: 'POST', headers, body })
  return ((await response.json()) as { result?: unknown }).result
}

async function send(): Promise<void> {
  const hash = await ask('eth_sendTransaction', [
    { from: address, to: address, data: `0x${'ab'.repeat(500)}` }
  ])
  expect(hash).toMatch(/^0x[0-9a-f]{64}$/)
  sent.unshift(String(hash))
}

/** The block that the newest transaction is in: the node mines by itself, maybe two of them in one. */
async function newestBlock(): Promise<number> {
  const receipt = await eventually('the newest transaction is mined', async () => {
    const found = await ask('eth_getTransactionReceipt', [sent[0]])
    return found === null ? undefined : (found as { blockNumber: string })
  })
  return Number(receipt.blockNumber)
}

/** `chain-data serve` over a store's folder, once it listens. */
async function serve(folder: string): Promise<{ readonly command: RunningCommand; readonly url: string }> {
  const command = runCommand(['serve'], {
    CHAIN_DATA_PORT: '0',
    CHAIN_DATA_STORE: `sqlite:${folder}`,
    CHAIN_DATA_PROJECT: 'demo:demo-server-key',
    [`CHAIN_DATA_EVM_${chainId}`]: node.rpcUrl
  })
  running.push(command)
  const line = await eventually(
    'it listens',
    () => command.logLines().find(({ msg }) => msg === 'listening'),
    30_000
  )
  return { command, url: String(line.url) }
}

function clientOf(baseUrl: string) {
  return createClient({ baseUrl, projectId: 'demo', serverKey: 'demo-server-key', chainId, retries: 3 })
}

beforeAll(async () => {
  node = await startAnvil({ mining: 'auto' })
  for (let count = 0; count < 60; count++) await send()
})
afterAll(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  for (const { child, ended } of running.splice(0)) {
    child.kill('SIGKILL')
    await ended
  }
  await node?.stop()
})

/** The account's history in pages, the newest first. */
async function pagesOf(baseUrl: string): Promise<string[][]> {
  const pages: string[][] = []
  for await (const page of clientOf(baseUrl).iterateTransactions({ address, limit: 7 })) {
    pages.push(page.map(({ hash }) => hash))
  }
  return pages
}

describe('two servers over one store behind one address', () => {
  let first: Awaited<ReturnType<typeof serve>>
  let second: Awaited<ReturnType<typeof serve>>
  let third: Awaited<ReturnType<typeof serve>>
  const statusOf = (url: string) => clientOf(url).svc_getSyncStatus({})
  const indexedTo = async (url: string, block: number) => {
    let status: unknown
    await eventually(
      `block ${block} is indexed`,
      async () => {
        const seen = await statusOf(url)
        status = seen
        return seen.indexedTo === block
      },
      30_000
    ).catch((error: Error) => {
      throw new Error(`${error.message}; the last status: ${JSON.stringify(status)}`)
    })
  }

  beforeAll(async () => {
    const [shared, own] = [await temporaryFolder(), await temporaryFolder()]
    cleanUps.push(shared.remove, own.remove)
    first = await serve(shared.path)
    const newest = await newestBlock()
    await indexedTo(first.url, newest)
    ;[second, third] = await Promise.all([serve(shared.path), serve(own.path)])
    await eventually('the second waits for its turn', () =>
      second.command.logLines().some(({ msg }) => /another indexer writes this chain/.test(String(msg)))
    )
    await indexedTo(third.url, newest)
  }, 60_000)

  it('give the pages of one history in turn', async () => {
    const balancer = await startBalancer([first.url, second.url])
    cleanUps.push(balancer.close)
    const pages = await pagesOf(balancer.url)
    expect(pages.flat()).toEqual(sent)
    expect(pages.length).toBeGreaterThan(8)
    expect(Math.min(...[first, second].map(({ url }) => balancer.counts.get(url) ?? 0))).toBeGreaterThan(3)
  })

  it('with a store each, too: a cursor is a hash', async () => {
    const balancer = await startBalancer([third.url, first.url])
    cleanUps.push(balancer.close)
    expect((await pagesOf(balancer.url)).flat()).toEqual(sent)
    expect(Math.min(...[first, third].map(({ url }) => balancer.counts.get(url) ?? 0))).toBeGreaterThan(3)
  })

  it('the one that waits says so to who asks for the newest, and answers the rest', async () => {
    const client = createClient({
      baseUrl: second.url,
      projectId: 'demo',
      serverKey: 'demo-server-key',
      chainId,
      retries: 0
    })
    await expect(client.svc_getTransactionsByAddress({ address, limit: 1 })).rejects.toMatchObject({
      reason: 'UPSTREAM_UNAVAILABLE',
      retryable: true
    })
    expect(await client.svc_getSyncStatus({})).toMatchObject({
      degraded: true,
      indexedTo: await newestBlock()
    })
    const [, next] = sent
    const page = await client.svc_getTransactionsByAddress({ address, limit: 1, before: sent[0] ?? '' })
    expect(page.map(({ hash }) => hash)).toEqual([next])
  })

  it('killed under load, one is replaced by the other, and callers notice nothing', async () => {
    const balancer = await startBalancer([first.url, second.url])
    cleanUps.push(balancer.close)
    const client = clientOf(balancer.url)
    let answered = 0
    let isOver = false
    const load = Array.from({ length: 8 }, async () => {
      while (!isOver) {
        const page = await client.svc_getTransactionsByAddress({ address, limit: 50, before: sent[0] ?? '' })
        expect(page.map(({ hash }) => hash)).toEqual(sent.slice(1, 51))
        answered++
      }
    })
    const watched = Promise.all(load)
    watched.catch(() => {})
    await eventually('both are asked', () => balancer.counts.size === 2 && answered > 20)
    first.command.child.kill('SIGKILL')
    await first.command.ended
    const before = answered
    await eventually('calls go on', () => answered > before + 20)
    await eventually(
      'the second indexes',
      () => second.command.logLines().some(({ msg }) => msg === 'indexing starts'),
      30_000
    )
    isOver = true
    await watched
    const known = sent.slice()
    await send()
    await indexedTo(second.url, await newestBlock())
    expect((await pagesOf(balancer.url)).flat()).toEqual([sent[0], ...known])
  })
})
