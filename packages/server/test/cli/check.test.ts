import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnvilNode, type EvmDriver, seedEvmWorld, startAnvil } from '@chain-data/devnet'
import { openStoreReader, openStoreWriter, walkIndex } from '@chain-data/index'
import { buildChain, chainFiles, commitChain, eventually, hashOf, people } from '@chain-data/index/test'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { allNodeChecks } from '../../src/features/all.ts'
import { checkDeep } from '../../src/server/check/checkDeep.ts'
import {
  checkListen,
  checkNodeVersion,
  checkProjects,
  checkSettings,
  checkTls
} from '../../src/server/check/checkSettings.ts'
import { checkStore } from '../../src/server/check/checkStore.ts'
import { runLooks } from '../../src/server/check/findings.ts'
import { listLooks } from '../../src/server/check/listLooks.ts'
import { sampleHeights } from '../../src/server/check/sampleBlocks.ts'
import { createDeepProgress } from '../../src/server/cli/deepProgress.ts'
import { type Config, type ConfigInput, parseConfig } from '../../src/server/config/config.ts'
import { digestKey, formatKeyDigest } from '../../src/server/projects/keyDigest.ts'
import { address, emptyRoot, type RawBlock, rawBlock } from '../blocks/rawBlock.ts'
import { startScriptedChain } from '../blocks/startScriptedChain.ts'
import { damageIndex } from '../healing/damageIndex.ts'
import { startScriptedNode } from '../solana/startScriptedNode.ts'
import { runTestIndexer } from '../support/indexHarness.ts'
import { type Fault, Refusal, startFaultProxy } from '../support/startFaultProxy.ts'
import { engines } from '../support/testStores.ts'
import { runCommand } from './runCommand.ts'

let anvil: AnvilNode
let driver: EvmDriver
/** Answers by its path: 401, HTML, not at all. */
let odd: Server
let oddUrl: string
let folder: string
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  anvil = await startAnvil()
  driver = await seedEvmWorld(anvil.rpcUrl, { pool: false })
  odd = createServer((request, response) => {
    if (request.url?.startsWith('/401')) response.writeHead(401).end('{"error":"no such key"}')
    else if (request.url?.startsWith('/html')) response.end('<html>Welcome</html>')
  })
  await new Promise<void>(resolve => odd.listen(0, '127.0.0.1', resolve))
  oddUrl = `http://127.0.0.1:${(odd.address() as AddressInfo).port}`
})
afterAll(async () => {
  odd.closeAllConnections()
  await new Promise(resolve => odd.close(resolve))
  await anvil.stop()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'chain-data-check-'))
})
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0)) await cleanUp()
  await rm(folder, { recursive: true, force: true })
})

/** A configuration that makes nothing of the outside world necessary. */
function configure(changes: Partial<ConfigInput> = {}): ConfigInput {
  return {
    listen: { port: 0 },
    store: `sqlite:${join(folder, 'store')}`,
    projects: [{ projectId: 'demo', serverKey: `hmac-sha256:${'s'.repeat(22)}:${'d'.repeat(43)}` }],
    chains: { evm: [{ chainId: 31337, rpcUrls: [anvil.rpcUrl] }] },
    metadata: { ipfsGateways: [oddUrl], arweaveGateways: [oddUrl] },
    ...changes
  }
}

/** Runs the checks of the places whose names begin so. */
function checkPlaces(prefix: string, changes: Partial<ConfigInput>, timeoutMs = 5_000) {
  const looks = listLooks(parseConfig(configure(changes)), timeoutMs, allNodeChecks)
  return runLooks(
    looks.filter(({ place }) => place.startsWith(prefix)),
    { timeoutMs: timeoutMs * 2 }
  )
}

function checkNodes(chains: ConfigInput['chains'], timeoutMs?: number) {
  return checkPlaces('chains.', { chains }, timeoutMs)
}

async function proxied(fault: Fault): Promise<string> {
  const proxy = await startFaultProxy(anvil.rpcUrl)
  proxy.setFault(fault)
  cleanUps.push(proxy.close)
  return proxy.url
}

async function ask(method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(anvil.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body
  })
  return ((await response.json()) as { result: unknown }).result
}

describe('the nodes of an EVM chain', () => {
  it('are shown to serve the right chain, blocks and receipts, state, the pool and new heads', async () => {
    const wsUrls = [anvil.rpcUrl.replace('http', 'ws')]
    const findings = await checkNodes({ evm: [{ chainId: 31337, rpcUrls: [anvil.rpcUrl], wsUrls }] })
    const shown = new Map(findings.map(finding => [finding.check, finding]))
    expect(shown.get('chain')).toMatchObject({
      state: 'ok',
      place: 'chains.evm[0].rpcUrls[0]',
      origin: anvil.rpcUrl,
      found: expect.stringMatching(/^Chain 31337, genesis 0x[0-9a-f]{8}…, anvil\/v\S+, answers in \d+ ms$/)
    })
    expect(shown.get('head')?.found).toMatch(new RegExp(`^block ${driver.world.blocks.length - 1}\\b`))
    expect(shown.get('receipts')).toMatchObject({
      state: 'ok',
      found: expect.stringMatching(
        /^\d+ sampled blocks with \d+ transactions read and verified, receipts by eth_getBlockReceipts$/
      )
    })
    expect(shown.get('state')).toMatchObject({
      state: 'ok',
      found: "read by a block's hash (EIP-1898), many in one eth_call by a state override, 50000000 gas"
    })
    expect(shown.get('pool')).toMatchObject({ state: 'ok', found: '0 pending transactions' })
    expect(shown.get('websocket')).toMatchObject({
      state: 'ok',
      place: 'chains.evm[0].wsUrls[0]',
      found: expect.stringMatching(/^subscribed to new blocks/)
    })
  })

  it('are told apart by what is wrong with each, and never by more of the URL than its origin', async () => {
    const key = 'k3y-of-the-provider'
    const withKey = (url: string) =>
      `${url.replace('http://', `http://user:${key}@`)}/v2/${key}?apikey=${key}`
    const rpcUrls = [
      withKey(`${oddUrl}/401`),
      withKey(`${oddUrl}/html`),
      withKey(`${oddUrl}/hang`),
      withKey('http://127.0.0.1:1')
    ]
    const wsUrls = [withKey(`${oddUrl}/ws`).replace('http', 'ws')]
    const findings = await checkNodes({ evm: [{ chainId: 31337, rpcUrls, wsUrls }] }, 1_000)
    expect(findings.map(({ place, check, state, found }) => `${place} ${check} ${state}: ${found}`)).toEqual([
      'chains.evm[0].rpcUrls[0] chain error: it answered HTTP 401',
      'chains.evm[0].rpcUrls[1] chain error: it answered something that is not JSON',
      'chains.evm[0].rpcUrls[2] chain error: it did not answer in time',
      'chains.evm[0].rpcUrls[3] chain error: it cannot be reached (ECONNREFUSED)',
      'chains.evm[0].wsUrls[0] websocket error: no subscription (no answer in time)'
    ])
    expect(findings.map(({ advice }) => advice)).toEqual([
      'check the key or the credentials in the URL',
      expect.stringContaining('no JSON-RPC address'),
      expect.stringContaining('up and not overloaded'),
      expect.stringContaining('it runs'),
      expect.stringContaining('pollIntervalMs')
    ])
    expect(JSON.stringify(findings)).not.toContain(key)
  })

  it('are refused when they serve another chain, or another genesis block than the first', async () => {
    const other = await proxied(({ method, params }, result) =>
      method === 'eth_getBlockByNumber' && params[0] === '0x0'
        ? { ...(result as object), hash: `0x${'ab'.repeat(32)}` }
        : result
    )
    const findings = await checkNodes({
      evm: [
        { chainId: 31337, rpcUrls: [anvil.rpcUrl, other], verify: 'basic' },
        { chainId: 1, rpcUrls: [anvil.rpcUrl] }
      ]
    })
    const errors = findings.filter(({ state }) => state === 'error')
    expect(errors.map(({ place, check, found }) => `${place} ${check}: ${found}`)).toEqual([
      'chains.evm[0].rpcUrls[1] genesis: has another genesis block than the nodes before it, 0xabababab…',
      'chains.evm[1].rpcUrls[0] chain: it serves chain 31337, expected 1'
    ])
  })

  it.each<[string, Fault, object]>([
    [
      'receipts that are gone',
      ({ method }, result) => (/Receipts?$/.test(method) ? null : result),
      { check: 'receipts', state: 'error', advice: expect.stringContaining('a later startBlock') }
    ],
    [
      'a newest block from the future',
      ({ method, params }, result) =>
        method === 'eth_getBlockByNumber' && params[0] === 'latest'
          ? { ...(result as object), timestamp: `0x${(Math.floor(Date.now() / 1_000) + 3_600).toString(16)}` }
          : result,
      { check: 'head', state: 'warning', found: expect.stringMatching(/ is from 3[56]\d\d s in the future$/) }
    ],
    [
      'a newest block of long ago',
      ({ method, params }, result) =>
        method === 'eth_getBlockByNumber' && params[0] === 'latest'
          ? { ...(result as object), timestamp: '0x5f5e1000' }
          : result,
      { check: 'head', state: 'warning', found: expect.stringMatching(/ s old$/) }
    ],
    [
      'blocks that are still being synchronised',
      ({ method }, result) => (method === 'eth_syncing' ? { currentBlock: '0x1' } : result),
      { check: 'chain', state: 'warning', found: expect.stringMatching(/, still syncing$/) }
    ]
  ])('are told of %s', async (_, fault, expected) => {
    const findings = await checkNodes({ evm: [{ chainId: 31337, rpcUrls: [await proxied(fault)] }] })
    expect(findings).toContainEqual(expect.objectContaining(expected))
  })

  it('are told of one that is far behind the others', async () => {
    await driver.mine({ blocks: 20 })
    const behind = await ask('eth_getBlockByNumber', '0x2', false)
    const lagging = await proxied(({ method, params }, result) => {
      if (method === 'eth_blockNumber') return '0x2'
      return method === 'eth_getBlockByNumber' && params[0] === 'latest' ? behind : result
    })
    const findings = await checkNodes({ evm: [{ chainId: 31337, rpcUrls: [lagging, anvil.rpcUrl] }] })
    expect(findings.filter(({ check }) => check === 'lag')).toEqual([
      expect.objectContaining({
        place: 'chains.evm[0].rpcUrls[0]',
        state: 'warning',
        found: `is ${driver.world.blocks.length - 3} behind the newest of the nodes`
      })
    ])
  })
})

it('traces are looked at where they are asked for; a node without them is an error only where they must be had of it', async () => {
  const proxy = await startFaultProxy(anvil.rpcUrl)
  cleanUps.push(() => proxy.close())
  proxy.setFault(({ method }, result) => {
    if (/trace/.test(method)) throw new Refusal(-32601)
    return result
  })
  const look = async (traces: 'on' | 'auto' | 'off', ...rpcUrls: string[]) =>
    (await checkNodes({ evm: [{ chainId: 31337, rpcUrls, traces }] }))
      .filter(({ check }) => check === 'traces')
      .map(({ state, found }) => [state, found])
  const traced = ['ok', expect.stringMatching(/^block 1 with \d+ transactions? is traced by trace_block$/)]
  const missing = (state: string) => [state, expect.stringContaining('no upstream offers traces')]
  expect(await look('off', anvil.rpcUrl)).toEqual([])
  expect(await look('on', anvil.rpcUrl)).toEqual([traced])
  expect(await look('on', proxy.url)).toEqual([missing('error')])
  expect(await look('auto', proxy.url)).toEqual([missing('warning')])
  expect(await look('on', anvil.rpcUrl, proxy.url)).toEqual([traced, missing('warning')])
})

it.each([
  [0, 0, [0]],
  [7, 9, [7, 8, 9]],
  [0, 99, [...Array.from({ length: 50 }, (_, i) => 2 * i), 99]]
])('the sample of blocks %i to %i is spread evenly and has both ends', (first, head, heights) => {
  expect(sampleHeights(first, head)).toEqual(heights)
})

it('the sample is the same for nodes whose heads differ a little', () => {
  const [one, other] = [20_123_456, 20_123_471].map(head => sampleHeights(100, head))
  expect(one?.slice(0, -1)).toEqual(other?.slice(0, -1))
  for (const heights of [one, other]) {
    expect(heights?.length).toBeGreaterThan(40)
    expect(heights?.length).toBeLessThanOrEqual(51)
  }
})

/** A chain whose blocks are made up: their hashes are not those of their headers. */
const madeUp = { chainId: 31337, verify: 'basic' } as const

describe('blocks of the sample that break checks', () => {
  /** 60 blocks with a transaction each, the first 20 of which break two checks. */
  const odd = Array.from({ length: 60 }, (_, i) => {
    const { block, receipts } = rawBlock(i + 1, [{}], i < 20 ? { receiptsRoot: emptyRoot } : {})
    const change = i < 20 ? { to: address(998) } : {}
    return { block, receipts: receipts.map(receipt => ({ ...receipt, ...change })) }
  })
  const sound = odd.map((_, i) => rawBlock(i + 1, [{}]))

  async function serve(blocks: readonly RawBlock[]): Promise<string> {
    const chain = await startScriptedChain(blocks)
    cleanUps.push(chain.close)
    return chain.url
  }

  it('give a ready block of waivers, with which the chain is sound', async () => {
    const rpcUrls = [await serve(odd)]
    const findings = await checkNodes({ evm: [{ ...madeUp, rpcUrls }] })
    expect(findings.find(({ check }) => check === 'receipts')).toMatchObject({
      state: 'error',
      found: expect.stringMatching(
        /^20 of 61 sampled blocks break checks; block 1: breaks 2 checks: emptyRoot, receiptParties; /
      ),
      advice: expect.stringMatching(/^if the chain is known for it/)
    })
    const { waivers, ...finding } = findings.find(({ check }) => check === 'waivers') ?? {}
    expect(finding).toMatchObject({ place: 'chains.evm[0].waivers', state: 'error' })
    expect(waivers?.map(({ check, fromBlock, toBlock }) => [check, fromBlock, toBlock])).toEqual([
      ['emptyRoot', 0, 20],
      ['receiptParties', 0, 20]
    ])
    const waived = await checkNodes({
      evm: [{ ...madeUp, rpcUrls, waivers: waivers?.map(one => ({ ...one })) ?? [] }]
    })
    expect(waived.find(({ check }) => check === 'receipts')).toMatchObject({ state: 'ok' })
    expect(waived.filter(({ check }) => check === 'waivers')).toEqual([])

    const file = join(folder, 'chain-data.json')
    await writeFile(file, JSON.stringify(configure({ chains: { evm: [{ ...madeUp, rpcUrls }] } })))
    const command = runCommand(['check', '--config', file])
    expect(await command.ended).toBe(1)
    const printed = /^"waivers": (\[\n[\s\S]*?\n\])$/m.exec(command.stdout())?.[1] ?? ''
    expect(JSON.parse(printed)).toEqual(waivers)
  })

  it('are the fault of a node where another one gives them sound', async () => {
    const rpcUrls = [await serve(odd), await serve(sound)]
    const findings = await checkNodes({ evm: [{ ...madeUp, rpcUrls }] })
    expect(findings).toContainEqual({
      ...{ place: 'chains.evm[0].rpcUrls[0]', check: 'receipts', state: 'error' },
      found: 'breaks checks in blocks that another node gives sound',
      advice: 'take it out, and waive nothing for it'
    })
    expect(findings.filter(({ check }) => check === 'waivers')).toEqual([])
  })
})

describe('what a node offers beyond its newest blocks', () => {
  const offers = async (rpcUrl: string, changes: object = {}) =>
    (await checkNodes({ evm: [{ chainId: 31337, rpcUrls: [rpcUrl], ...changes }] })).filter(({ check }) =>
      ['blocks', 'addresses', 'deepHistory', 'rate'].includes(check)
    )

  it('is said of one that has every block and its state, and lists no transactions of an address', async () => {
    expect(
      await offers(await proxied(({ method }, result) => refuse(/^(ots|trace)_/, method, result)))
    ).toEqual([
      expect.objectContaining({
        ...{ check: 'blocks', state: 'ok' },
        found: 'it has all blocks, and their state (an archive node)'
      }),
      expect.objectContaining({
        check: 'addresses',
        state: 'ok',
        found: expect.stringMatching(/^transactions of an address are found from old states: /)
      })
    ])
  })

  it('is said of a pruned one, with the startBlock that would do', async () => {
    const pruned = await proxied(({ method, params }, result) => {
      const height = Number(params[method === 'eth_getBalance' ? 1 : 0])
      if (method === 'eth_getBalance' && height < 9) throw new Refusal(-32000, 'missing trie node')
      return method === 'eth_getBlockByNumber' && height > 0 && height < 7 ? null : result
    })
    expect((await offers(pruned))[0]).toMatchObject({
      ...{ check: 'blocks', state: 'error' },
      found:
        'its oldest block is 7 (pruned), without the state of old ones (not an archive node); startBlock is 0',
      advice: 'set startBlock to 7 or later, or take a node that has all blocks'
    })
    expect((await offers(pruned, { startBlock: 7 }))[0]).toMatchObject({ check: 'blocks', state: 'ok' })
  })

  it('is said where deepHistory asks for what no node gives', async () => {
    const plain = await proxied(({ method, params }, result) => {
      const isOldState = /^eth_get(Balance|TransactionCount)$/.test(method) && Number(params[1]) < 9
      if (isOldState) throw new Refusal(-32000, 'missing trie node')
      return refuse(/^(ots|trace)_/, method, result)
    })
    const chain = { startBlock: 'latest', deepHistory: 'node' }
    expect((await offers(plain, chain)).at(-1)).toMatchObject({
      ...{ place: 'chains.evm[0].deepHistory', check: 'deepHistory', state: 'warning' },
      found: expect.stringMatching(
        /^no node can give older history: .* histories begin at the first indexed block$/
      )
    })
    // One of several is enough, and so is an index of everything.
    expect((await offers(plain, { ...chain, startBlock: 0 })).map(({ state }) => state)).toEqual(['ok', 'ok'])
    const some = await offers(plain, { ...chain, rpcUrls: [plain, anvil.rpcUrl] })
    expect(some.map(({ check }) => check)).not.toContain('deepHistory')
  })

  it('is said where deepHistory is strict and old states are all that a node has', async () => {
    const archive = await proxied(({ method }, result) => refuse(/^(ots|trace)_/, method, result))
    const chain = { startBlock: 'latest', deepHistory: 'strict' }
    expect((await offers(archive, chain)).at(-1)).toMatchObject({
      ...{ place: 'chains.evm[0].deepHistory', check: 'deepHistory', state: 'warning' },
      found: expect.stringMatching(/^it is "strict", and no node lists .* all older history is refused$/)
    })
    const lenient = await offers(archive, { ...chain, deepHistory: 'node' })
    expect(lenient.map(({ check }) => check)).not.toContain('deepHistory')
  })

  it('is said of one that limits the rate of calls', async () => {
    let calls = 0
    const limited = await proxied((_, result) => {
      if (calls++ === 12) throw new Refusal(429, 'Too Many Requests')
      return result
    })
    expect((await offers(limited)).at(-1)).toMatchObject({
      ...{ check: 'rate', state: 'warning', found: 'it limited the rate of calls once during this check' }
    })
  })

  function refuse(methods: RegExp, method: string, result: unknown): unknown {
    if (methods.test(method)) throw new Refusal(-32601)
    return result
  }
})

describe('the nodes of a Solana cluster', () => {
  const answers: Readonly<Record<string, unknown>> = {
    getVersion: { 'solana-core': '2.1.0' },
    getBalance: { context: { slot: 77 }, value: 1 },
    getBlockTime: 1_000_000_000,
    getMultipleAccounts: { context: { slot: 77 }, value: [null, null] },
    getTokenAccountsByOwner: { context: { slot: 77 }, value: [] },
    getAssetsByOwner: { total: 0, limit: 1_000, items: [] }
  }

  async function cluster(changes: Readonly<Record<string, unknown>> = {}): Promise<string> {
    const node = await startScriptedNode(({ id, method }) => {
      const result = { ...answers, ...changes }[method]
      const answer =
        result === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result }
      return { body: JSON.stringify({ jsonrpc: '2.0', id, ...answer }) }
    })
    cleanUps.push(node.close)
    return node.url
  }

  it('are shown with cluster, slot, the calls of holdings, Core assets and the DAS endpoint', async () => {
    const url = await cluster()
    const findings = await checkNodes({
      solana: [{ chainId: 103, rpcUrls: [url], mplCore: true, dasUrl: url }]
    })
    expect(findings.map(({ place, check, state, found }) => `${place} ${check} ${state}: ${found}`)).toEqual([
      expect.stringMatching(/rpcUrls\[0\] cluster ok: devnet, solana-core 2\.1\.0, answers in \d+ ms$/),
      expect.stringMatching(/rpcUrls\[0\] head warning: slot 77, \d+ s old$/),
      'chains.solana[0].rpcUrls[0] accounts ok: token accounts and accounts are read',
      expect.stringMatching(/rpcUrls\[0\] mplCore error: it does not serve getProgramAccounts/),
      'chains.solana[0].dasUrl das ok: assets are listed'
    ])
  })

  it('are wrong under the chain id of another public cluster, unless they are for development', async () => {
    const rpcUrls = [await cluster()]
    const ofChain101 = async (dev: boolean) =>
      (await checkNodes({ solana: [{ chainId: 101, dev, rpcUrls }] })).find(
        ({ check }) => check === 'cluster'
      )
    expect(await ofChain101(false)).toMatchObject({
      state: 'error',
      found: expect.stringMatching(/^devnet/),
      advice: expect.stringContaining('chain id 101 stands for mainnet-beta')
    })
    expect(await ofChain101(true)).toMatchObject({ state: 'warning' })
  })

  it('are told of a well-known cluster under another chain id, of refusals and of silence', async () => {
    const findings = await checkNodes(
      {
        solana: [
          { chainId: 7, rpcUrls: [await cluster()] },
          { chainId: 102, rpcUrls: [`${oddUrl}/401`, `${oddUrl}/hang`], dasUrl: `${oddUrl}/html` }
        ]
      },
      1_000
    )
    expect(findings).toContainEqual(
      expect.objectContaining({
        check: 'cluster',
        state: 'warning',
        advice: 'callers expect chain id 103 for devnet; this one is served as 7'
      })
    )
    expect(
      findings.filter(({ state }) => state === 'error').map(({ place, advice }) => `${place}: ${advice}`)
    ).toEqual([
      'chains.solana[1].rpcUrls[0]: check the key or the credentials in the URL',
      expect.stringContaining('chains.solana[1].rpcUrls[1]: check that it is up'),
      expect.stringContaining('chains.solana[1].dasUrl: this is no JSON-RPC address')
    ])
  })
})

describe('the store', () => {
  const nobody = Promise.resolve(false)
  const storeOf = (changes: Partial<ConfigInput> = {}): Config => parseConfig(configure(changes))

  it('is looked at without making or changing anything, whether or not it is written', async () => {
    expect(await checkStore(storeOf(), nobody)).toEqual([
      expect.objectContaining({
        check: 'folder',
        found: expect.stringMatching(/^will be made at the first start, .* free$/)
      }),
      { check: 'index 31337', state: 'ok', found: 'nothing is indexed yet' },
      { check: 'writer 31337', state: 'ok', found: 'nobody writes this index' }
    ])
    expect(await readdir(folder)).toEqual([])

    const store = join(folder, 'store')
    const indexer = runTestIndexer(store, { rpcUrls: [anvil.rpcUrl] })
    const { indexedTo } = await indexer.until('it follows', ({ phase }) => phase === 'following')
    const written = await checkStore(storeOf(), nobody)
    expect(written.slice(1)).toEqual([
      { check: 'index 31337', state: 'ok', found: `blocks 0 to ${indexedTo?.number} are indexed` },
      expect.objectContaining({ state: 'warning', found: 'another process writes this index' })
    ])
    expect((await checkStore(storeOf(), Promise.resolve(true))).at(-1)).toMatchObject({ state: 'ok' })
    await indexer.stop()

    const before = await filesIn(store)
    const changed = storeOf({ chains: { evm: [{ chainId: 31337, rpcUrls: [anvil.rpcUrl], startBlock: 5 }] } })
    expect((await checkStore(changed, nobody)).slice(1)).toEqual([
      expect.objectContaining({
        state: 'warning',
        advice: expect.stringMatching(/^startBlock is 5 and has no effect/)
      }),
      { check: 'writer 31337', state: 'ok', found: 'nobody writes this index' }
    ])
    expect(await filesIn(store)).toEqual(before)
  })

  it('is an error where it cannot be a folder, and a warning where it is memory', async () => {
    const file = join(folder, 'evm-1.sqlite')
    await writeFile(file, '')
    const advice = 'set store to another folder, or move the file away'
    const wrong = { check: 'folder', state: 'error', advice }
    expect((await checkStore(storeOf({ store: `sqlite:${file}` }), nobody))[0]).toEqual({
      ...wrong,
      found: 'is a file'
    })
    expect((await checkStore(storeOf({ store: `sqlite:${file}/store` }), nobody))[0]).toEqual({
      ...wrong,
      found: `cannot be made, because ${file} is a file`
    })
    const [memory] = await checkStore(storeOf({ store: 'sqlite::memory:' }), nobody)
    expect(memory).toMatchObject({ check: 'folder', state: 'warning' })
  })

  it('says why a lock cannot be looked at', async () => {
    await mkdir(join(folder, 'store'))
    await writeFile(join(folder, 'store/evm-31337.lock'), 'no database '.repeat(1_000))
    expect((await checkStore(storeOf(), nobody)).at(-1)).toMatchObject({
      state: 'error',
      found: 'the lock cannot be looked at (the lock file is damaged; remove it while no server runs)'
    })
  })

  async function filesIn(path: string): Promise<Record<string, string>> {
    const names = (await readdir(path)).sort()
    const hashes = names.map(async name => [
      name,
      createHash('sha256')
        .update(await readFile(join(path, name)))
        .digest('hex')
    ])
    return Object.fromEntries(await Promise.all(hashes))
  }
})

describe.each(engines)('a whole index in $name', ({ name, create }) => {
  it('is compared with its checksums next to its writer, which is reported what is damaged, and without one', async () => {
    const store = await create()
    cleanUps.push(store.remove)
    const identity = { chainId: 31337, genesisHash: hashOf('genesis') }
    const config = configure({ store: store.url })
    const lookDeep = () => checkDeep(parseConfig(config), () => {})
    const finding = { place: 'store', check: 'damage 31337' }
    expect(await lookDeep()).toEqual([{ ...finding, state: 'ok', found: 'nothing is indexed yet' }])

    const writer = await openStoreWriter(store.location, identity)
    cleanUps.push(() => writer.close())
    const parties = people.slice(0, 3)
    const plans = Array.from({ length: 40 }, (_, number) => [{ name: `tx ${number}`, parties }])
    const blocks = buildChain(plans)
    await commitChain(writer, blocks)
    expect(await lookDeep()).toEqual([{ ...finding, state: 'ok', found: '40 blocks checked, no damage' }])
    const file = join(folder, 'config.json')
    await writeFile(file, JSON.stringify(config))
    const sound = runCommand(['check', '--deep', '--config', file])
    expect(await sound.ended).toBe(0)
    expect(sound.stdout()).toMatch(/^ok +store +damage 31337 +40 blocks checked, no damage$/m)
    expect(sound.stderr()).toBe('chain 31337: 100 % checked, 40 of 40 blocks\n')

    const reader = await openStoreReader(store.location, 31337)
    cleanUps.push(() => reader.close())
    let pieces = 0
    for await (const piece of walkIndex(reader)) {
      // What a reorg removes meanwhile is not damaged.
      if (pieces++ === 0) await writer.rollbackTo({ number: 30, hash: blocks[30]?.ref.hash ?? '0x' })
      expect(piece.damage).toEqual([])
    }
    expect(pieces).toBeGreaterThan(2)

    const altered =
      name === 'sqlite'
        ? "CAST(substr(rec, 1, 40) || x'ff' || substr(rec, 42) AS BLOB)"
        : 'set_byte(rec, 40, 255)'
    await damageIndex(store.location, `UPDATE tx SET rec = ${altered} WHERE id = ${7 * 65_536}`)
    await damageIndex(store.location, 'UPDATE block SET timestamp_seconds = 7 WHERE number = 12')
    const damage = [
      { part: 'record', block: 7 },
      { part: 'block', block: 12 }
    ]
    expect(await lookDeep()).toEqual([
      {
        ...{ ...finding, state: 'error', damage },
        found: '2 parts are damaged: a record of block 7, the row of block 12',
        advice: expect.stringMatching(/^a server that indexes the chain fetches damaged blocks again/)
      }
    ])
    const reported: unknown[] = []
    await eventually(
      'both are reported',
      async () => reported.push(...(await writer.takeDamage())) >= damage.length
    )
    expect(reported).toEqual(expect.arrayContaining(damage))
    await writer.close()

    await damageIndex(
      store.location,
      `DELETE FROM ${name === 'sqlite' ? 'chunk_bound' : 'chunk'} WHERE section = 0`
    )
    const damaged = runCommand(['check', '--deep', '--json', '--config', file])
    expect(await damaged.ended).toBe(1)
    const { findings } = JSON.parse(damaged.stdout()) as {
      findings: { check: string; damage?: { part: string }[] }[]
    }
    const parts = findings.find(({ check }) => check === finding.check)?.damage
    expect(parts).toEqual(expect.arrayContaining(damage))
    expect(parts?.filter(({ part }) => part === 'chunk').length).toBeGreaterThan(0)

    if (store.location.kind === 'postgres') return
    await writeFile(chainFiles(store.location.folder, 31337).database, 'no database '.repeat(1_000))
    expect(await lookDeep()).toMatchObject([{ ...finding, state: 'error' }])
  })
})

it('how far the check of a whole index is shows in one line of a terminal', () => {
  const written: string[] = []
  let ms = 0
  const write = (text: string) => written.push(text) > 0
  const show = createDeepProgress({ isTTY: true, write }, () => ms)
  for (const done of [0.1, 0.2, 0.3]) {
    show(1, { blocks: 50, allBlocks: 350, damage: [], done })
    ms += 1_000
  }
  expect(written).toEqual([
    '\rchain 1: 20 % checked, 100 of 350 blocks, 50.0 blocks/s, 8s left\u001b[K',
    '\rchain 1: 30 % checked, 150 of 350 blocks, 50.0 blocks/s, 7s left\u001b[K'
  ])
})

describe('the settings', () => {
  it('that are not for production are warnings, each with its place', () => {
    const config = parseConfig(
      configure({
        projects: [
          { projectId: 'demo', serverKey: 'in-plain-text' },
          { projectId: 'other', serverKeys: [{ key: 'in-plain-text' }] }
        ],
        rateLimit: false,
        log: { level: 'debug' },
        metadata: { allowHosts: ['localhost:1'] }
      })
    )
    const findings = checkSettings(config)
    expect(findings.map(({ place, state }) => `${place} ${state}`)).toEqual([
      'projects[0] warning',
      'projects[1] warning',
      'rateLimit warning',
      'metadata.allowHosts warning',
      'log.level warning'
    ])
    expect(JSON.stringify(findings)).not.toContain('in-plain-text')
    expect(checkSettings(parseConfig(configure()))).toEqual([])
  })

  it.each([
    ['0.0.0.0', ['warning', 'error']],
    ['::', ['warning', 'error']],
    ['server.example', ['warning', 'error']],
    ['127.0.0.2', ['warning']],
    ['::1', ['warning']],
    ['localhost', ['warning']]
  ])('refuse a server key that can be guessed where %s is listened on', (host, states) => {
    const projects = [
      { projectId: 'weak', serverKey: 'demo-server-key' },
      { projectId: 'strong', serverKey: formatKeyDigest(digestKey('x')), clientKeys: [] }
    ]
    const findings = checkSettings(parseConfig({ ...configure(), listen: { host }, projects }))
    expect(findings.map(({ state }) => state)).toEqual(states)
    if (states.length > 1) {
      expect(findings[1]).toMatchObject({
        check: 'key',
        found:
          'a server key of project "weak" has about 72 bits of randomness, and listen.host is not loopback',
        advice: expect.stringContaining('chain-data project create weak')
      })
    }
  })

  it('that were meant and are not taken are told by the names of their variables', () => {
    expect(checkSettings(parseConfig(configure()), ['CHAIN_DATA_STOER'])).toEqual([
      {
        place: 'environment',
        check: 'variable',
        state: 'warning',
        found: 'CHAIN_DATA_STOER is read by nothing',
        advice: expect.stringContaining('serve --help')
      }
    ])
  })

  it('tell of nodes that are asked without TLS over the internet', async () => {
    const urls = [
      ...['http://user:pw@8.8.8.8/key', 'https://8.8.8.8', 'http://10.0.0.1', 'http://localhost'],
      ...['ws://[2606:4700::1111]/key', 'wss://8.8.8.8/key']
    ]
    const warned = await Promise.all(urls.map(async url => ((await checkTls(url)).length > 0 ? [url] : [])))
    expect(warned.flat()).toEqual(['http://user:pw@8.8.8.8/key', 'ws://[2606:4700::1111]/key'])
    expect(JSON.stringify(await checkTls('http://user:pw@8.8.8.8/key'))).not.toMatch(/pw|key/)
  })

  it('name an address that is free, taken, not ours, or open to the internet', async () => {
    const away = { kind: 'not running', note: '' } as const
    const at = (host: string, port: number) => parseConfig(configure({ listen: { host, port } }))
    expect(await checkListen(at('127.0.0.1', 0), away)).toEqual([
      { check: 'address', state: 'ok', found: '127.0.0.1:0 is free' }
    ])
    const other = createTcpServer()
    await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
    cleanUps.push(() => new Promise(resolve => other.close(resolve)))
    const { port } = other.address() as AddressInfo
    const [taken] = await checkListen(at('127.0.0.1', port), away)
    expect(taken).toMatchObject({ state: 'error', found: expect.stringContaining('EADDRINUSE') })
    const [foreign, open] = await checkListen(at('8.8.8.8', 0), away)
    expect(foreign).toMatchObject({ state: 'error', found: expect.stringContaining('EADDRNOTAVAIL') })
    expect(open).toMatchObject({ check: 'tls', state: 'warning' })
    expect((await checkListen(at('0.0.0.0', 0), away, ['10.0.0.7', '8.8.4.4'])).at(-1)).toMatchObject({
      check: 'tls'
    })
    expect(await checkListen(at('0.0.0.0', 0), away, ['10.0.0.7', 'fe80::1'])).toHaveLength(1)
  })

  it('need a Node that can run the server', () => {
    expect(
      ['20.19.0', '22.0.0', '24.21.1'].flatMap(version => checkNodeVersion(version).map(({ state }) => state))
    ).toEqual(['ok', 'ok', 'ok'])
    expect(
      ['18.20.4', '20.18.3'].flatMap(version => checkNodeVersion(version).map(({ state }) => state))
    ).toEqual(['error', 'error'])
  })
})

it('what hangs is told after the time that everything may take, and a bug in one look does not hide the others', async () => {
  const findings = await runLooks(
    [
      { place: 'a', run: () => new Promise(() => {}) },
      { place: 'b', run: () => Promise.reject(new Error('broken')) },
      { place: 'c', run: async () => [{ place: 'c', check: 'x', state: 'ok', found: 'fine' }] }
    ],
    { timeoutMs: 50 }
  )
  expect(findings.map(({ place, state, found }) => `${place} ${state} ${found}`)).toEqual([
    'a error not done within 0.05 s',
    'b error broken',
    'c ok fine'
  ])
})

it('projects that nobody can use are told with their place', async () => {
  const digest = `hmac-sha256:${'s'.repeat(22)}:${'d'.repeat(43)}`
  const file = join(folder, 'projects.json')
  const config = parseConfig(configure({ projectsFile: file }))
  const shown = async () =>
    (await checkProjects(config)).map(({ place, state, found }) => `${place} ${state}: ${found}`)
  expect(await shown()).toEqual([
    expect.stringMatching(/^projectsFile error: projectsFile ".*" could not be read \(ENOENT\)/)
  ])
  await writeFile(file, JSON.stringify({ projects: [{ projectId: 'kept', serverKeys: [digest] }] }))
  expect(await shown()).toEqual(['projectsFile ok: 1 project in the file'])
  const nobody = parseConfig(configure({ projects: [] }), { mayLackProjects: true })
  expect((await checkProjects(nobody)).map(({ state }) => state)).toEqual(['error'])
})

describe('chain-data check', () => {
  async function run(config: object | string, ...options: string[]) {
    const file = join(folder, 'config.json')
    await writeFile(file, typeof config === 'string' ? config : JSON.stringify(config))
    const command = runCommand(['check', '--config', file, ...options], { TMPDIR: folder })
    return { code: await command.ended, stdout: command.stdout(), stderr: command.stderr() }
  }

  it('prints a line for each finding and exits 0 when there are only warnings', async () => {
    const { code, stdout, stderr } = await run(configure({ rateLimit: false }))
    expect([code, stderr]).toEqual([0, ''])
    const lines = stdout.trimEnd().split('\n')
    expect(lines[0]).toMatch(/^ok +node +version +Node \d/)
    expect(stdout).toMatch(
      /\nok +chains\.evm\[0\]\.rpcUrls\[0\] +receipts +http:\/\/127\.0\.0\.1:\d+: \d+ sampled blocks /
    )
    expect(stdout).toMatch(/\nwarning +rateLimit +quota +projects may call without limit\. Set one before /)
    expect(lines.at(-1)).toMatch(/^\d+ ok, \d+ warnings, 0 errors$/)
    expect((await readdir(folder)).sort()).toEqual(['config.json'])
  })

  it('prints one object with --json and exits 1 when something failed', async () => {
    const chains = { evm: [{ chainId: 1, rpcUrls: [anvil.rpcUrl] }] }
    const { code, stdout } = await run(configure({ chains }), '--json')
    expect(code).toBe(1)
    const report = JSON.parse(stdout)
    expect(report).toMatchObject({
      ok: false,
      version: expect.any(String),
      nodeVersion: process.versions.node
    })
    expect(report.findings).toContainEqual({
      place: 'chains.evm[0].rpcUrls[0]',
      origin: anvil.rpcUrl,
      check: 'chain',
      state: 'error',
      found: 'it serves chain 31337, expected 1',
      advice: 'take it out, or mend chainId or the URL'
    })
  })

  it('finds the configuration that init writes in the folder where it runs', async () => {
    const chains = { evm: [{ chainId: 1, rpcUrls: ['http://127.0.0.1:1'] }] }
    await writeFile(join(folder, 'chain-data.json'), JSON.stringify(configure({ chains })))
    const command = runCommand(['check', '--json'], {}, folder)
    expect(await command.ended).toBe(1)
    expect(command.stdout()).toContain('"place":"chains.evm[0].rpcUrls[0]"')
  })

  it('exits 2 when the configuration is wrong', async () => {
    const { code, stdout, stderr } = await run('{')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^Configuration error:\n/)
  })
})
