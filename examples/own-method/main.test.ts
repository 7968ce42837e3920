import { fileURLToPath } from 'node:url'
import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningExample, startExample, whenReady } from '../startExample.ts'

const alice = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266'
const bob = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
const carol = '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC'

describe('a server with a method of its own', () => {
  let node: AnvilNode
  let example: RunningExample
  beforeAll(async () => {
    node = await startAnvil({ mining: 'auto' })
    for (const to of [bob, carol, carol]) {
      await post(node.rpcUrl, { method: 'eth_sendTransaction', params: [{ from: alice, to, value: '0x1' }] })
    }
    example = await startExample(['main.ts'], fileURLToPath(new URL('./', import.meta.url)), {
      CHAIN_DATA_STORE: 'sqlite::memory:',
      CHAIN_DATA_PROJECT: 'demo:demo-server-key',
      CHAIN_DATA_EVM_31337: node.rpcUrl
    })
    await whenReady(example.url)
  })
  afterAll(async () => {
    await example?.stop()
    await node?.stop()
  })
  const ask = (method: string, params: readonly unknown[], authorization = basic('demo-server-key')) =>
    post(`${example.url}/evm-chain`, { method, params, chainId: 31337 }, { authorization })

  it('answers it from the index', async () => {
    expect(await ask('acme_getCounterparties', [alice])).toMatchObject({
      result: [
        { address: carol, transactions: 2 },
        { address: bob, transactions: 1 }
      ]
    })
    expect(await ask('acme_getCounterparties', [bob.toLowerCase(), 1])).toMatchObject({
      result: [{ address: alice, transactions: 1 }]
    })
  })

  it('keeps the guards of the server before it', async () => {
    expect(await ask('acme_getCounterparties', [alice], basic('wrong'))).toMatchObject({
      error: { data: { reason: 'UNAUTHENTICATED' } }
    })
  })

  it('refuses wrong params with their path', async () => {
    for (const [params, path] of [
      [['alice'], '/params/0'],
      [[alice, 0], '/params/1'],
      [[], '/params/0']
    ] as const) {
      expect(await ask('acme_getCounterparties', params)).toMatchObject({
        error: { code: -32602, data: { reason: 'INVALID_PARAMS', path } }
      })
    }
  })

  it('has it in the document beside all others', async () => {
    const { result } = await ask('rpc.discover', [])
    const names = (result as { readonly methods: readonly { readonly name: string }[] }).methods.map(
      ({ name }) => name
    )
    expect(names).toEqual(
      expect.arrayContaining(['acme_getCounterparties', 'svc_getTransactionsByAddress', 'svc_verifyHistory'])
    )
  })
})

async function post(url: string, body: object, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body })
  })
  return (await response.json()) as { readonly result?: unknown; readonly error?: unknown }
}

function basic(key: string): string {
  return `Basic ${Buffer.from(`demo:${key}`).toString('base64')}`
}
