import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { type EvmDevnet, evmAccount, startDevnet } from '@chain-data/devnet'
import { createServer, type Server } from '@chain-data/server'
import type { Figures } from './limits.ts'
import { type Coverage, type Executed, intersect, startCoverage, subtract } from './startCoverage.ts'

const packages = new URL('../../..', import.meta.url)
/** The server, its index, and the protocol, whose generated validators every request runs through. */
const counted = ['server/src/', 'index/src/', 'protocol/src/'].map(folder => new URL(folder, packages).href)

/** Accounts that only send and receive the native currency. Each is asked for once by each method. */
const plainAccounts = ['grace', 'ivan', 'judy']
/** Accounts with tokens and NFTs. */
const collectors = ['alice', 'bob', 'carol']

/**
 * Measures what V8 sees executed for one request of each kind, and for one block from the node to the store, on a devnet
 * with the server over it: files in which a function ran, the whole lines of these files, and functions. The server
 * is warm, the account is not.
 *
 * Timers and polls are not part of a walk: only functions count that ran each of several times, and not all the time
 * anyway. A block ends at the store: what the main thread hears of it later does not count.
 */
export async function measureWalks(): Promise<Figures> {
  const folder = mkdtempSync(join(tmpdir(), 'chain-data-house-'))
  const devnet = await startDevnet({ solana: false, pool: false })
  try {
    const evm = devnet.evm as EvmDevnet
    await payEachOther(evm)
    const start = (store: string) =>
      createServer({
        listen: { host: '127.0.0.1', port: 0 },
        store: `sqlite:${join(folder, store)}`,
        projects: [{ projectId: 'house', serverKey: 'house-server-key' }],
        chains: { evm: [{ chainId: evm.world.chainId, ...nodeOf(evm) }] },
        metadata: { allowHosts: [devnet.metadata.hostPort], ipfsGateways: [devnet.metadata.url] },
        log: { level: 'error' }
      })
    const requests = await measureRequests(await start('requests'), evm)
    const blocks = await measureBlocks(await start('blocks'), evm)
    return { ...requests, ...blocks }
  } finally {
    await devnet.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Blocks are announced, and the node is not polled between them: that would not be part of a walk. */
function nodeOf({ node }: EvmDevnet) {
  const { host } = new URL(node.rpcUrl)
  return { rpcUrls: [node.rpcUrl], wsUrls: [`ws://${host}`], pollIntervalMs: 60_000 }
}

async function payEachOther({ driver, world }: EvmDevnet): Promise<void> {
  for (const [index, from] of plainAccounts.entries()) {
    const to = evmAccount(world, plainAccounts[(index + 1) % plainAccounts.length] as string).address
    await driver.send({ label: `${from} pays`, from, to, valueWei: 1n })
    await driver.mine()
  }
}

async function measureRequests(server: Server, { world }: EvmDevnet): Promise<Figures> {
  try {
    const url = await server.listen()
    await isIndexed(server, world.blocks.length - 1)
    const coverage = await startCoverage('all', counted)
    await sleep(300)
    const idle = await measureIdle(coverage)

    async function call(method: string, params: readonly unknown[]): Promise<void> {
      const response = await fetch(`${url}/evm-chain`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${btoa('house:house-server-key')}`,
          'content-type': 'application/json'
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: world.chainId, method, params })
      })
      const { error } = (await response.json()) as { error?: unknown }
      if (error !== undefined) throw new Error(`${method} failed: ${JSON.stringify(error)}`)
    }

    async function measure(
      method: string,
      accounts: readonly string[],
      ...more: unknown[]
    ): Promise<Executed> {
      const paramsOf = (name: string) =>
        method === 'rpc.discover' ? [] : [evmAccount(world, name).address, ...more]
      await call(method, paramsOf('nobody'))
      const walks: Executed[] = []
      for (const account of accounts) {
        await sleep(100)
        await coverage.take()
        await call(method, paramsOf(account))
        // The answer is read before the server has put the request away.
        await sleep(5)
        walks.push(await coverage.take())
      }
      return subtract(intersect(walks), idle)
    }

    const walks = {
      'history page': await measure('svc_getTransactionsByAddress', collectors, { limit: 10 }),
      'holdings, native only': await measure('svc_getTokensAndNFTs', plainAccounts),
      'holdings, tokens and NFTs': await measure('svc_getTokensAndNFTs', collectors),
      certificate: await measure('svc_verifyHistory', plainAccounts),
      'rpc.discover': await measure('rpc.discover', plainAccounts)
    }
    coverage.stop()
    return Object.assign({}, ...Object.entries(walks).map(([name, walk]) => figuresOf(name, walk)))
  } finally {
    await server.close()
  }
}

/** Functions that run again and again without a request. */
async function measureIdle(coverage: Coverage): Promise<Executed> {
  const windows: Executed[] = []
  for (let window = 0; window < 5; window++) {
    await coverage.take()
    await sleep(50)
    windows.push(await coverage.take())
  }
  return intersect(windows)
}

/** Blocks are measured until nothing has dropped out of what they share for so many of them. */
const blocksAlike = 10

async function measureBlocks(server: Server, { driver, world }: EvmDevnet): Promise<Figures> {
  try {
    await isIndexed(server, world.blocks.length - 1)
    const coverage = await startCoverage('workers', counted)
    let shared: Executed | undefined
    for (let alike = 0, last = Infinity; alike < blocksAlike; ) {
      await driver.send({
        label: `block ${world.blocks.length}`,
        from: 'alice',
        to: evmAccount(world, 'bob').address,
        valueWei: 1n
      })
      await sleep(60)
      await coverage.take()
      await driver.mine()
      await isIndexed(server, world.blocks.length - 1)
      const executed = await coverage.take()
      shared = shared === undefined ? executed : intersect([shared, executed])
      const count = functionsOf(shared)
      alike = count === last ? alike + 1 : 0
      last = count
    }
    coverage.stop()
    return figuresOf('block', shared as Executed)
  } finally {
    await server.close()
  }
}

async function isIndexed(server: Server, blockNumber: number): Promise<void> {
  const deadline = Date.now() + 30_000
  while (server.status()[0]?.indexedTo?.number !== blockNumber) {
    if (Date.now() > deadline) throw new Error(`block ${blockNumber} was not indexed within 30 s`)
    await sleep(5)
  }
}

function functionsOf(executed: Executed): number {
  return [...executed.values()].reduce((sum, functions) => sum + functions.size, 0)
}

function figuresOf(name: string, executed: Executed): Figures {
  const sum = (urls: readonly string[]) =>
    urls.reduce((lines, url) => lines + readFileSync(new URL(url), 'utf8').split('\n').length - 1, 0)
  const generated = [...executed.keys()].filter(url => url.endsWith('.gen.ts'))
  return {
    [`${name}, files`]: executed.size,
    [`${name}, lines`]: sum([...executed.keys()]),
    ...(generated.length > 0 && { [`${name}, of these lines generated`]: sum(generated) }),
    [`${name}, functions`]: functionsOf(executed)
  }
}
