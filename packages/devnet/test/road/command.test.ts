import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TransactionRecord } from '@chain-data/client'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { type Devnet, evmAccount, evmHistoryOf, startDevnet } from '../../src/index.ts'
import {
  basicHeader,
  bodyOf,
  evmChainId as chainId,
  credentials,
  expectRefusal,
  post,
  solanaChainId,
  succeed
} from './support/callService.ts'
import { expectNoSecret } from './support/expectNoSecret.ts'
import { endServeProcesses, startCommand, startServe } from './support/serveCommand.ts'
import { eventually, temporaryFolder, untilStatus } from './support/startRoad.ts'
import { type SlowNode, startSlowNode } from './support/startSlowNode.ts'

let devnet: Devnet
let slow: SlowNode
let root: Awaited<ReturnType<typeof temporaryFolder>>
let cwd: string
let folders = 0

beforeAll(async () => {
  devnet = await startDevnet({ seed: 39 })
  slow = await startSlowNode(devnet.evm!.node.rpcUrl, 0)
  root = await temporaryFolder()
})

afterAll(async () => {
  await endServeProcesses()
  await slow?.close()
  await devnet?.stop()
  await root?.remove()
})

/** Each test has a folder of its own to run the command in. */
async function newFolder(): Promise<string> {
  const folder = join(root.path, String(++folders))
  await mkdir(folder)
  cwd = folder
  return folder
}

const secret = 'a-key-nobody-may-see'
const alice = () => evmAccount(devnet.evm!.world, 'alice').address
const history = () => ({ method: 'svc_getTransactionsByAddress', params: [alice()] }) as const
const truth = () => evmHistoryOf(devnet.evm!.world, alice()).map(({ hash }) => hash)

/** The configuration as the design fixes it, word for word: others script against these names. */
const documentedText = `{
  "listen": { "host": "127.0.0.1", "port": 8080 },
  "store": "sqlite:./chain-data",
  "projects": [{ "projectId": "demo", "serverKey": "demo-server-key", "clientKeys": [{ "key": "demo-client-key", "origins": ["http://localhost:5173"] }] }],
  "methodPrefix": "svc_",
  "chains": {
    "evm": [{ "chainId": 31337, "rpcUrls": ["http://127.0.0.1:8545"], "startBlock": 0, "traces": "off", "finality": "auto" }],
    "solana": [{ "chainId": 103, "rpcUrls": ["http://127.0.0.1:8899"], "commitment": "confirmed" }]
  },
  "history": { "maxUnpaged": null, "serveWhileSyncing": false },
  "metadata": { "ipfsGateways": ["https://ipfs.io"], "arweaveGateways": ["https://arweave.net"], "allowHosts": [], "tokenLists": [] },
  "rateLimit": { "requestsPerSecond": 100, "burst": 200 },
  "log": { "level": "info" }
}`

/** It with the port and the nodes' addresses of this test, and a Solana node that is no public cluster; nothing else changed. */
function documented({ evmUrl = devnet.evm!.node.rpcUrl } = {}) {
  const solanaUrl = devnet.solana?.node.rpcUrl ?? 'http://127.0.0.1:8899'
  const text = documentedText
    .replace('8080', '0')
    .replace('http://127.0.0.1:8545', evmUrl)
    .replace('http://127.0.0.1:8899', solanaUrl)
    .replace('"commitment"', '"dev": true, "commitment"')
  return JSON.parse(text) as {
    chains: { evm: object[]; solana: object[] }
    projects: object[]
  }
}

describe('chain-data serve --config', () => {
  afterEach(async () => {
    await endServeProcesses()
    slow.setDelay(0)
  })

  test('works with the documented configuration: log line, health, metrics, methods, and an orderly end', async () => {
    slow.setDelay(150)
    const serving = await startServe(documented({ evmUrl: slow.url }), { cwd: await newFolder() })
    const baseUrl = await serving.listening()
    const line = serving.logLines().find(({ msg }) => msg === 'listening')
    expect(line).toMatchObject({ msg: 'listening', url: baseUrl })
    expect(baseUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)

    expect((await fetch(`${baseUrl}/health/live`)).status).toBe(200)
    const early = await fetch(`${baseUrl}/health/ready`)
    expect(early.status).toBe(503)
    expect(await early.json()).toMatchObject({ ready: false, chains: [{ chainId, ready: false }] })
    await untilStatus(`${baseUrl}/health/ready`, 200)
    const head = devnet.evm!.world.blocks.length - 1
    const ready = await (await fetch(`${baseUrl}/health/ready`)).json()
    expect(ready).toMatchObject({ ready: true, chains: [{ chainId, indexedTo: head }] })
    slow.setDelay(0)

    const { result } = await succeed(baseUrl, history())
    expect((result as TransactionRecord[]).map(({ hash }) => hash)).toEqual(truth())
    await succeed(baseUrl, { method: 'svc_getTokensAndNFTs', params: [alice()] })
    if (devnet.solana !== undefined) {
      const params = [devnet.solana.world.owners.alice!.address, { parseMetadataUri: true }]
      await succeed(baseUrl, { endpoint: '/solana', method: 'enhancedGetTokensAndNFTs', params })
    }
    const fromThePage = await post(`${baseUrl}/evm-chain`, bodyOf(history()), {
      headers: { authorization: basicHeader('demo', 'demo-client-key'), origin: 'http://localhost:5173' }
    })
    expect(fromThePage.status).toBe(200)
    expect(fromThePage.headers.get('access-control-allow-origin')).toBe('http://localhost:5173')

    const operatorUrl = await serving.operatorPages()
    expect(operatorUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect((await fetch(`${baseUrl}/metrics`)).status).toBe(404)
    const metrics = await fetch(`${operatorUrl}/metrics`)
    expect(metrics.headers.get('content-type')).toContain('text/plain')
    const text = await metrics.text()
    expect(text).toMatch(/svc_getTransactionsByAddress[^\n]* \d/)
    for (const row of text.trimEnd().split('\n')) {
      expect(row).toMatch(/^(|# (HELP|TYPE) .+|[a-zA-Z_:][\w:]*(\{.*\})? \S+)$/)
    }

    const startedMs = performance.now()
    serving.kill('SIGTERM')
    expect(await serving.ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - startedMs).toBeLessThan(10_000)
    expect(serving.output.err).toBe('')
    // The store is where the file said: in its folder, seen from where the command ran.
    const again = await startServe(documented(), { cwd })
    expect((await fetch(`${await again.listening()}/health/live`)).status).toBe(200)
    for (const seen of [serving.output.out, text]) expectNoSecret(seen, credentials.serverKey)
    expectNoSecret(serving.output.out, 'demo-client-key')
  })

  test('on SIGTERM says "not ready" at once, answers what is under way, refuses more, and exits 0 in time', async () => {
    const serving = await startServe(documented({ evmUrl: slow.url }), { cwd: await newFolder() })
    const [baseUrl, operatorUrl] = await Promise.all([serving.listening(), serving.operatorPages()])
    await untilStatus(`${baseUrl}/health/ready`, 200)
    // Several requests one after the other: the answer takes seconds.
    slow.setDelay(400)
    const asked = new Promise<void>(resolve => slow.onRequest(() => resolve()))
    const underWay = succeed(baseUrl, { method: 'svc_getTokensAndNFTs', params: [alice()] })
    await asked
    // Of the indexer or of the call: either way the call waits for the node while we go on.
    await eventually(
      async () => {
        const metrics = await (await fetch(`${operatorUrl}/metrics`)).text()
        const inFlight = /in_flight[^\n]* (\d+)$/m.exec(metrics)?.[1]
        return inFlight === '1' ? true : undefined
      },
      () => 'the call to be under way'
    )
    const startedMs = performance.now()
    serving.kill('SIGTERM')
    await untilStatus(`${baseUrl}/health/ready`, 503, 1_000)
    const late = await post(`${baseUrl}/evm-chain`, bodyOf(history()))
    expect(late.status).toBe(503)
    expectRefusal(JSON.parse(late.text), { reason: 'OVERLOADED', id: null, data: { retryAfterMs: 1000 } })
    expect((await underWay).result).toMatchObject({ native: expect.stringMatching(/^\d+$/) })
    expect(await serving.ended).toEqual({ code: 0, signal: null })
    expect(performance.now() - startedMs).toBeLessThan(10_000)
  })

  test('takes environment variables over the file, and can do without a file', async () => {
    const env = {
      CHAIN_DATA_PORT: '0',
      CHAIN_DATA_STORE: 'sqlite:./elsewhere',
      CHAIN_DATA_EVM_31337: `http://127.0.0.1:9,${devnet.evm!.node.rpcUrl}`,
      CHAIN_DATA_SOLANA_103: devnet.solana?.node.rpcUrl ?? 'http://127.0.0.1:9',
      CHAIN_DATA_PROJECT: `other:${secret}`
    }
    const serving = startCommand(['serve'], { cwd: await newFolder(), env })
    const baseUrl = await serving.listening()
    await untilStatus(`${baseUrl}/health/ready`, 200)
    const answer = await post(`${baseUrl}/evm-chain`, bodyOf(history()), {
      headers: { authorization: basicHeader('other', secret) }
    })
    const { result } = JSON.parse(answer.text) as { result: TransactionRecord[] }
    expect(result.map(({ hash }) => hash)).toEqual(truth())
    expect((await post(`${baseUrl}/evm-chain`, bodyOf(history()))).status).toBe(401)
    serving.kill('SIGINT')
    expect(await serving.ended).toEqual({ code: 0, signal: null })
    expectNoSecret(serving.output.out, secret)

    const file = { ...documented({ evmUrl: 'http://127.0.0.1:9' }), listen: { port: 1 } }
    const over = await startServe(file, { cwd: await newFolder(), env })
    await untilStatus(`${await over.listening()}/health/ready`, 200)
    const both = { method: 'svc_getSyncStatus', params: [] } as const
    const status = await succeed(await over.listening(), both)
    expect(status.result).toMatchObject({ chainId, indexedTo: devnet.evm!.world.blocks.length - 1 })
  })

  test('a second one on the same folder waits, writes nothing, and takes over when the first has gone', async () => {
    const config = documented()
    const first = await startServe(config, { cwd: await newFolder() })
    const firstUrl = await first.listening()
    await untilStatus(`${firstUrl}/health/ready`, 200)
    const second = await startServe(config, { cwd })
    const secondUrl = await second.listening()
    // It says that it does not index, and why.
    await eventually(
      () => (second.output.out.includes('another indexer writes this chain') ? true : undefined),
      () => `the second one to say that the index is taken: ${second.output.out}`,
      15_000
    )
    await devnet.evm!.driver.send({ label: 'while two', from: 'bob', to: alice(), valueWei: 1n })
    await devnet.evm!.driver.mine()
    const hashesOf = async (baseUrl: string) => {
      const { text } = await post(`${baseUrl}/evm-chain`, bodyOf(history()))
      const { result } = JSON.parse(text) as { result?: TransactionRecord[] }
      return result?.map(({ hash }) => hash)
    }
    await expect.poll(() => hashesOf(firstUrl), { timeout: patient(15_000) }).toEqual(truth())
    // The second one reads the same index, and knows of the first one that it follows its node.
    await expect.poll(() => hashesOf(secondUrl), { timeout: patient(15_000) }).toEqual(truth())
    first.kill('SIGTERM')
    expect(await first.ended).toEqual({ code: 0, signal: null })
    await devnet.evm!.driver.send({ label: 'while one', from: 'bob', to: alice(), valueWei: 1n })
    await devnet.evm!.driver.mine()
    await expect.poll(() => hashesOf(secondUrl), { timeout: patient(45_000) }).toEqual(truth())
  })
})

// Beside each other: programs mostly wait to be loaded.
describe.concurrent('a configuration that cannot be used is told on standard error, with exit code 2', () => {
  const correct = () => documented() as unknown as Record<string, unknown>
  const evmWith = (change: object) => ({
    ...correct(),
    chains: { ...documented().chains, evm: [{ ...documented().chains.evm[0], ...change }] }
  })
  /** What is wrong, the configuration, and what standard error has to name: key, value, expectation. */
  const cases: [string, () => unknown, (string | RegExp)[]][] = [
    [
      'an unknown key',
      () => ({ ...correct(), chain: {} }),
      ['chain', /not a key/, /expected one of: .*chains/]
    ],
    [
      'an unknown key further down',
      () => evmWith({ rpcUrl: 'http://x' }),
      ['chains.evm[0].rpcUrl', /not a key/, /expected one of: .*rpcUrls/]
    ],
    [
      'a port that is text',
      () => ({ ...correct(), listen: { port: '80' } }),
      ['listen.port', '"80"', 'expected TCP port']
    ],
    [
      'a port out of range',
      () => ({ ...correct(), listen: { port: 65536 } }),
      ['listen.port', '65536', '0 to 65535']
    ],
    ['no node', () => evmWith({ rpcUrls: [] }), ['chains.evm[0].rpcUrls', '[]', 'at least one']],
    [
      'a URL that is none',
      () => evmWith({ rpcUrls: ['localhost:8545'] }),
      ['chains.evm[0].rpcUrls[0]', '"localhost:8545"', 'an http:// or https:// URL']
    ],
    ['a chain id of 0', () => evmWith({ chainId: 0 }), ['chains.evm[0].chainId', 'is 0', 'integer from 1']],
    ['a chain id as text', () => evmWith({ chainId: '1' }), ['chains.evm[0].chainId', '"1"', 'integer']],
    [
      'one chain id twice',
      () => ({
        ...correct(),
        chains: { ...documented().chains, solana: [{ chainId, rpcUrls: ['http://x'] }] }
      }),
      ['chains.solana[0].chainId', String(chainId), 'used once']
    ],
    [
      'an unknown choice of traces',
      () => evmWith({ traces: 'yes' }),
      ['chains.evm[0].traces', '"yes"', '"auto"']
    ],
    [
      'a start before the first block',
      () => evmWith({ startBlock: -1 }),
      ['chains.evm[0].startBlock', '-1', 'from 0']
    ],
    [
      'an unknown finality',
      () => evmWith({ finality: 'soon' }),
      ['chains.evm[0].finality', '"soon"', '"auto"']
    ],
    [
      'an unknown commitment',
      () => ({
        ...correct(),
        chains: { solana: [{ chainId: solanaChainId, rpcUrls: ['http://x'], commitment: 'processed' }] }
      }),
      ['chains.solana[0].commitment', '"processed"', '"confirmed" or "finalized"']
    ],
    ['no chains', () => ({ ...correct(), chains: {} }), ['chains', '{}', 'at least one chain']],
    [
      'chains left out',
      () => ({ ...correct(), chains: undefined }),
      ['chains', 'is missing', 'at least one chain']
    ],
    [
      'a PostgreSQL without a database',
      () => ({ ...correct(), store: 'postgres://user:pw@db' }),
      ['store', 'sqlite:<folder>', 'postgres']
    ],
    [
      'a store of no kind',
      () => ({ ...correct(), store: './data' }),
      ['store', '"./data"', 'sqlite:<folder>']
    ],
    ['no projects', () => ({ ...correct(), projects: [] }), ['projects', 'at least one']],
    [
      'a project id with a colon',
      () => ({ ...correct(), projects: [{ projectId: 'a:b', serverKey: secret }] }),
      ['projects[0].projectId', '"a:…"', 'no colon']
    ],
    [
      'a key that is no text',
      () => ({ ...correct(), projects: [{ projectId: 'a', serverKey: [secret] }] }),
      ['projects[0].serverKey', 'not shown', 'expected password']
    ],
    [
      'a prefix with a space',
      () => ({ ...correct(), methodPrefix: 'my _' }),
      ['methodPrefix', '"my _"', 'expected']
    ],
    [
      'maxUnpaged 0',
      () => ({ ...correct(), history: { maxUnpaged: 0 } }),
      ['history.maxUnpaged', '0', 'null for no bound']
    ],
    [
      'a burst of half a call',
      () => ({ ...correct(), rateLimit: { requestsPerSecond: 1, burst: 0.5 } }),
      ['rateLimit', '0.5', 'burst']
    ],
    ['a log level', () => ({ ...correct(), log: { level: 'loud' } }), ['log.level', '"loud"', '"debug"']],
    ['a list', () => [], ['The configuration is a list that is not shown', 'expected an object']]
  ]
  test.each(cases)('%s', async (_, config, names) => {
    const folder = await newFolder()
    const serving = await startServe(config() as object, { cwd: folder })
    expect(await serving.ended).toEqual({ code: 2, signal: null })
    for (const name of names) {
      if (typeof name === 'string') expect(serving.output.err).toContain(name)
      else expect(serving.output.err).toMatch(name)
    }
    expect(serving.output.out).toBe('')
    for (const key of [credentials.serverKey, secret, 'user:pw']) expectNoSecret(serving.output.err, key)
  })

  test('a file that is not there, is no JSON, or is a folder', async () => {
    const folder = await newFolder()
    await writeFile(join(folder, 'broken.json'), `{"projects":[{"serverKey":"${secret}",}]`)
    await mkdir(join(folder, 'folder.json'))
    for (const [file, names] of [
      ['absent.json', ['absent.json', 'could not be read', 'Expected']],
      ['broken.json', ['broken.json', 'not JSON', 'Expected']],
      ['folder.json', ['folder.json', 'could not be read', 'Expected']]
    ] as const) {
      const serving = startCommand(['serve', '--config', file], { cwd: folder })
      expect(await serving.ended, file).toEqual({ code: 2, signal: null })
      for (const name of names) expect(serving.output.err).toContain(name)
      expectNoSecret(serving.output.err, secret)
    }
  })

  test('an environment variable, naming it instead of the key', async () => {
    const folder = await newFolder()
    for (const [name, value, expected] of [
      ['CHAIN_DATA_PORT', 'many', 'TCP port'],
      ['CHAIN_DATA_EVM_31337', 'ftp://127.0.0.1:1', 'http:// or https:// URL'],
      ['CHAIN_DATA_SOLANA_103', 'ws://127.0.0.1:1', 'http:// or https:// URL'],
      ['CHAIN_DATA_STORE', 'mysql:x', 'sqlite:<folder>'],
      ['CHAIN_DATA_PROJECT', secret, '<projectId>:<serverKey>']
    ] as const) {
      const serving = await startServe(documented(), { cwd: folder, env: { [name]: value } })
      expect(await serving.ended, name).toEqual({ code: 2, signal: null })
      for (const text of [name, expected]) expect(serving.output.err).toContain(text)
      expectNoSecret(serving.output.err, secret)
    }
  })
})
