import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHost } from 'node:http'
import { PassThrough } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { runInContext } from 'node:vm'
import { createClient, type TransactionRecord } from '@chain-data/client/fetch'
import type { LiveHistory } from '@chain-data/client/history'
import { createRoute } from '@chain-data/client/route'
import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { createServer, type Server } from '@chain-data/server'
import { createElement } from 'react'
import { renderToString } from 'react-dom/server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { bundle, sourceConditions } from '../../packages/client/test/runtimes/bundle.ts'
import { createReactNativeContext } from '../../packages/client/test/runtimes/reactNative.ts'
import { toNodeListener } from '../proxy/toNodeListener.ts'
import { whenReady } from '../startExample.ts'
import { exportHistory } from './exportHistory.ts'
import { Transactions } from './infiniteScroll.tsx'
import { GET } from './nextRoute.ts'
import { describeChains } from './severalChains.ts'
import { compareBalance, createExtendedClient, readNewestReceipt } from './viemExtension.ts'
import worker from './worker.ts'

const chainId = 31337
const serverKey = 'demo-server-key'
const address = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const stranger = '0x00000000000000000000000000000000000000AA'

let node: AnvilNode
let service: Server
let baseUrl: string
const clientWith = () => createClient({ baseUrl, projectId: 'demo', serverKey, chainId })

async function callNode(method: string, ...params: unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(node.rpcUrl, { method: 'POST', headers, body })
  return ((await response.json()) as { result: unknown }).result
}
const send = (value: number) =>
  callNode('eth_sendTransaction', { from: address, to: address, value: `0x${value.toString(16)}` })

beforeAll(async () => {
  node = await startAnvil()
  for (let block = 1; block <= 3; block++) {
    await send(block)
    await callNode('evm_mine')
  }
  // What is 64 blocks deep is final.
  await callNode('anvil_mine', '0x50')
  await send(4)
  await callNode('evm_mine')
  await send(5)
  service = await createServer({
    listen: { port: 0 },
    store: 'sqlite::memory:',
    projects: [{ projectId: 'demo', serverKey }],
    chains: { evm: [{ chainId, rpcUrls: [node.rpcUrl], pollIntervalMs: 50 }] },
    log: { level: 'silent' }
  })
  baseUrl = await service.listen()
  await whenReady(baseUrl)
  process.env.CHAIN_DATA_URL = baseUrl
  process.env.CHAIN_DATA_SERVER_KEY = serverKey
})
afterAll(async () => {
  await service?.close()
  await node?.stop()
})

const run = (file: string, ...args: string[]) =>
  promisify(execFile)(process.execPath, [
    ...sourceConditions.map(condition => `--conditions=${condition}`),
    fileURLToPath(new URL(file, import.meta.url)),
    ...args
  ])

describe('the CSV of a history', () => {
  test('has the final records, newest first, and goes on behind one that was written', async () => {
    const { stdout, stderr } = await run('exportHistory.ts', address)
    const [head, ...lines] = stdout.trimEnd().split('\n')
    expect(head).toBe('hash,block,time,from,to,wei,fee,failed')
    expect(lines.map(line => line.split(',').slice(1, 6))).toEqual(
      [3, 2, 1].map(block => [`${block}`, expect.stringMatching(/^2023-.*Z$/), address, address, `${block}`])
    )
    expect(stderr).toBe('3 records\n')
    const rest = await run('exportHistory.ts', address, lines[0]?.split(',')[0] ?? '')
    expect(rest.stdout.trimEnd().split('\n')).toEqual(lines.slice(1))
  })

  test('reads no page ahead of what is written', async () => {
    const [record] = (await clientWith().getTransactionsByAddress({ address })).slice(-1)
    let read = 0
    async function* pages() {
      for (read = 1; read <= 50; read++)
        yield Array<TransactionRecord>(1000).fill(record as TransactionRecord)
    }
    const client = {
      getSyncStatus: async () => ({ finalized: 3 }) as never,
      iterateTransactions: () => pages() as never
    }
    const output = new PassThrough()
    const written = exportHistory(client, address, output)
    await once(output, 'readable')
    // Nothing is taken out of the stream, so the first page fills it.
    expect(output.writableNeedDrain).toBe(true)
    expect(read).toBe(1)
    output.resume()
    expect(await written).toBe(50_000)
  })
})

test('several chains are one request, and one that is not served hides none of the others', async () => {
  const sent: unknown[] = []
  const client = createClient({
    ...{ baseUrl, projectId: 'demo', serverKey },
    fetch: (url, init) => {
      const request = init as RequestInit
      sent.push(JSON.parse(request.body as string))
      return fetch(url, request)
    }
  })
  expect(await describeChains(client, stranger, [chainId, 1])).toEqual([
    'chain 31337: 0 wei, tokens: 0, NFTs: 0',
    'chain 1: not served; served are 31337'
  ])
  // A machine under load may have made the client ask a part of it again.
  expect(sent[0]).toMatchObject([{ chainId }, { chainId: 1 }])
})

test('a client of viem goes from a record to its receipt, and agrees with the node', async () => {
  const client = createExtendedClient(node.rpcUrl, baseUrl, serverKey)
  expect(await readNewestReceipt(client, address)).toMatchObject({ status: 'success', blockNumber: 84n })
  expect(await readNewestReceipt(client, stranger)).toBeUndefined()
  const { service: read, node: said } = await compareBalance(client, address)
  expect(read).toBe(said)
  expect(Number(read)).toBeGreaterThan(9_999)
})

test('a worker answers with what an account holds, and says what is wrong', async () => {
  const env = { CHAIN_DATA_URL: baseUrl, CHAIN_DATA_SERVER_KEY: serverKey }
  const ask = async (query: string, changes = {}) => {
    const response = await worker.fetch(new Request(`https://worker.example/${query}`), {
      ...env,
      ...changes
    })
    return { status: response.status, body: await response.json() }
  }
  expect(await ask(`?address=${stranger}`)).toEqual({ status: 200, body: { native: '0', tokens: [] } })
  expect(await ask('')).toEqual({ status: 400, body: { error: 'address is missing' } })
  const refused = await ask('?address=vitalik.eth')
  expect(refused).toMatchObject({ status: 400, body: { error: expect.stringContaining('vitalik.eth') } })
  expect(JSON.stringify(await ask(`?address=${stranger}`, { CHAIN_DATA_SERVER_KEY: 'secret' }))).not.toMatch(
    /secret/
  )
})

test('a route of Next reads an account, and passes on how long to wait', async () => {
  const ask = (account: string) =>
    GET(new Request('https://dapp.example/'), { params: Promise.resolve({ address: account }) })
  const response = await ask(address)
  const { holdings, newest } = (await response.json()) as Record<string, { length: number; native: string }>
  expect([response.status, newest?.length, holdings?.native.length]).toEqual([200, 5, 22])
  expect((await ask('nobody')).status).toBe(400)
  process.env.CHAIN_DATA_URL = 'http://127.0.0.1:1'
  const failed = await ask(address).finally(() => {
    process.env.CHAIN_DATA_URL = baseUrl
  })
  expect([failed.status, failed.headers.get('retry-after')]).toEqual([503, '1'])
})

test('a script in CommonJS says how far the index is', async () => {
  expect((await run('commonJsScript.cjs')).stdout).toBe('chain 31337: ready, newest indexed block: 84\n')
  await expect(run('commonJsScript.cjs', '5')).rejects.toMatchObject({ stderr: 'UNSUPPORTED_CHAIN\n' })
})

test('an endless list can be rendered on a server', () => {
  const html = renderToString(
    createElement(Transactions, { client: clientWith() as never, address, chainId })
  )
  expect(html).toContain('aria-busy="true"')
  expect(html).toContain('Reading older transactions')
})

test('in React Native the list is read with its globals, through the route of a host', async () => {
  const { outputFiles } = await bundle({
    program: `export * from '../../../../examples/programs/reactNative.tsx'`,
    format: 'iife',
    globalName: 'program',
    conditions: [...sourceConditions, 'react-native'],
    mainFields: ['react-native', 'browser', 'main'],
    external: ['react', 'react/jsx-runtime', 'react-native']
  })
  const allow = ['svc_getTransactionsByAddress']
  const route = createRoute({ baseUrl, projectId: 'demo', serverKey, allow })
  const host = createHost(
    toNodeListener(async request =>
      request.headers.get('authorization') === 'Bearer token of a user'
        ? route(request)
        : new Response(null, { status: 401 })
    )
  )
  await once(host.listen(0, '127.0.0.1'), 'listening')
  const { port } = host.address() as { port: number }
  const context = createReactNativeContext()
  const AppState = {
    currentState: 'active',
    changed: () => {},
    addEventListener(_type: 'change', listener: () => void) {
      AppState.changed = listener
      return { remove() {} }
    }
  }
  context.require = (name: string) => (name === 'react-native' ? { AppState } : {})
  runInContext(outputFiles[0]?.text ?? '', context)
  const program = context.program ?? runInContext('program', context)
  const client = program.connect(`http://127.0.0.1:${port}`, async () => 'token of a user')
  const history: LiveHistory = program.openHistory(client, address, chainId)
  try {
    const unsubscribe = history.subscribe(() => {})
    await expect.poll(() => history.getSnapshot()).toMatchObject({ state: 'ready', records: { length: 5 } })
    expect(history.getSnapshot().records?.[0]).toMatchObject({ status: 1, value: '0x5' })
    unsubscribe()
  } finally {
    history.close()
    host.closeAllConnections()
    host.close()
  }
})
