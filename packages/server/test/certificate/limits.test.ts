import { startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { afterEach, describe, expect, it } from 'vitest'
import { startHardhat } from '../support/startHardhat.ts'
import { onlyHardhat } from '../support/testClients.ts'
import { engines } from '../support/testStores.ts'
import { type NodeProxy, startNodeProxy } from '../upstreams/startNodeProxy.ts'
import { type CertifiedWorld, hex, startCertifiedWorld } from './startCertifiedWorld.ts'
import { openStoredRows } from './storedRows.ts'

const cleanUps: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const [sqlite] = engines
const ether = 10n ** 18n

async function startWorld(
  node: { readonly rpcUrl: string; stop(): Promise<void> },
  options: { readonly chain?: Readonly<Record<string, unknown>>; readonly nodeUrl?: string } = {}
): Promise<CertifiedWorld> {
  const world = await startCertifiedWorld({ rpcUrl: node.rpcUrl, store: await sqlite.create(), ...options })
  cleanUps.push(
    () => node.stop(),
    () => world.close()
  )
  return world
}

/** Money, tokens and a contract that pays: some blocks before the index begins, and some after. */
async function play(world: CertifiedWorld) {
  const [alice = '', bob = '', carol = ''] = world.accounts
  const token = await world.deploy('OddToken')
  const puppet = await world.deploy('Puppet', [[]])
  await world.call(alice, token, 'mint', [bob, 1_000n])
  await world.send({ from: alice, to: puppet.address, value: hex(ether) })
  await world.mine()
  const pay = async (to: string) => {
    await world.call(alice, puppet, 'act', [[[0, to, 7n, '0x', 0n]]])
    await world.send({ from: bob, to: carol, value: hex(5n) })
    await world.call(bob, token, 'transfer', [carol, 10n])
    await world.mine()
  }
  return { alice, bob, carol, token, puppet, pay }
}

/** A node that keeps the state of its newest blocks only. */
async function startPruned(rpcUrl: string, kept: number): Promise<NodeProxy> {
  const proxy = await startNodeProxy(rpcUrl)
  cleanUps.push(() => proxy.close())
  const readers = new Set(['eth_getBalance', 'eth_getTransactionCount', 'eth_getCode', 'eth_call'])
  proxy.obey(async ({ method, params }) => {
    const height = params[1]
    if (!readers.has(method) || typeof height !== 'string' || !height.startsWith('0x')) return undefined
    const head = Number(((await ask(rpcUrl, 'eth_blockNumber')) as { result: string }).result)
    if (Number(height) > head - kept) return undefined
    return { error: { code: -32000, message: `missing trie node 5c99 (path ) at ${height}` } }
  })
  return proxy
}

async function ask(url: string, method: string): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
  return (await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })).json()
}

describe('an index that begins above the first block', () => {
  it('is proven from what accounts had before, and says in a header what it covers', async () => {
    const world = await startWorld(await startAnvil(), { chain: { traces: 'on', startBlock: 5 } })
    const { alice, bob, carol, puppet, pay } = await play(world)
    for (let i = 0; i < 6; i++) await pay(carol)
    for (const address of [alice, bob, carol, puppet.address]) {
      expect(await world.verify(address)).toMatchObject({
        verdict: 'proven',
        covers: { from: 5, transfersFrom: 5, internalFrom: 5 },
        findings: []
      })
    }
    const { native, tokens, sent } = await world.verify(bob)
    expect(BigInt(native.parts.opening ?? 0)).toBeLessThan(10_000n * ether)
    expect(tokens).toMatchObject([{ opening: '990', verdict: 'proven' }])
    expect(sent).toMatchObject({ opening: '2' })
    const response = await world.ask('svc_verifyHistory', [bob])
    expect(response.headers.get('x-chain-data-coverage')).toMatch(
      /^31337;from=5;to=9;transfers=5;internal=5;operations=5;deep=none$/
    )
  })

  it('cannot be proven where the node has forgotten what was before, and does not fail either', async () => {
    const anvil = await startAnvil()
    const proxy = await startPruned(anvil.rpcUrl, 2)
    const world = await startWorld(anvil, { nodeUrl: proxy.url, chain: { traces: 'on', startBlock: 5 } })
    const { bob, carol, pay } = await play(world)
    for (let i = 0; i < 6; i++) await pay(carol)
    const certificate = await world.verify(bob)
    expect(certificate).toMatchObject({
      verdict: 'unprovable',
      index: { verdict: 'proven' },
      sent: { verdict: 'unprovable' },
      native: { verdict: 'unprovable' },
      tokens: [{ verdict: 'unprovable' }]
    })
    expect(certificate.native.computed).toBeUndefined()
    expect(certificate.findings).toEqual([
      expect.objectContaining({ kind: 'STATE_UNAVAILABLE', blockNumber: 4 })
    ])
  })
})

it('where older state is gone, a lost chunk of the index shows all the same', async () => {
  const anvil = await startAnvil()
  const proxy = await startPruned(anvil.rpcUrl, 2)
  const store = await sqlite.create()
  const world = await startCertifiedWorld({
    ...{ rpcUrl: anvil.rpcUrl, nodeUrl: proxy.url, chain: { traces: 'on', startBlock: 1 }, store }
  })
  cleanUps.push(
    () => anvil.stop(),
    () => world.close()
  )
  const { bob, carol, pay } = await play(world)
  for (let i = 0; i < 4; i++) await pay(carol)
  await world.level()
  const rows = openStoredRows(store.location)
  const lost = await rows.chunksOf('address', bob.slice(2))
  for (const row of lost) await rows.lose('chunk', row)
  const certificate = await world.verify(bob)
  expect(certificate).toMatchObject({ verdict: 'failed', index: { verdict: 'failed' } })
  expect(certificate.findings).toContainEqual(expect.objectContaining({ kind: 'INDEX_DAMAGED' }))
  await eventually('it is written again', async () => (await world.verify(bob)).index.verdict === 'proven')
})

describe.each(
  onlyHardhat.flatMap(() => [
    { traces: 'auto', why: 'the node has none' },
    { traces: 'off', why: 'none are asked for' }
  ])
)('on hardhat without traces, because $why', ({ traces }) => {
  it('what cannot be proven is said, and nothing fails', async () => {
    const world = await startWorld(await startHardhat(), { chain: { traces, finality: 64 } })
    const { alice, bob, carol, puppet, token, pay } = await play(world)
    for (let i = 0; i < 3; i++) await pay(carol)

    // Has a key, sends for itself, and was paid by nobody's code: the balance proves all of it.
    expect(await world.verify(bob)).toMatchObject({
      verdict: 'proven',
      native: { verdict: 'proven' },
      tokens: [{ verdict: 'proven' }],
      findings: []
    })
    expect(await world.verify(alice)).toMatchObject({ verdict: 'proven', findings: [] })
    const ofCarol = await world.verify(carol)
    expect(ofCarol).toMatchObject({
      verdict: 'unprovable',
      sent: { verdict: 'proven' },
      native: { verdict: 'unprovable', difference: '21' },
      tokens: [{ verdict: 'proven' }]
    })
    expect(ofCarol.findings.map(({ kind }) => kind)).toEqual(['NOT_TRACED', 'NOT_TRACED', 'NOT_TRACED'])
    for (const contract of [puppet, token]) {
      const certificate = await world.verify(contract.address)
      expect(certificate).toMatchObject({ verdict: 'unprovable', index: { verdict: 'proven' } })
      expect(new Set(certificate.findings.map(({ kind }) => kind))).toEqual(new Set(['NOT_TRACED']))
    }
    expect(ofCarol.covers.internalFrom).toBeUndefined()
  })
})

/** Creation code of a contract that logs a transfer of 5 to an account, and whose code is `runtime`. */
function boaster(account: string, runtime: string): string {
  const log = [
    '6005600052',
    `73${account.slice(2)}`,
    '60007fddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
    '60206000a3'
  ].join('')
  const size = (runtime.length / 2).toString(16).padStart(2, '0')
  const start = (log.length / 2 + 12).toString(16).padStart(2, '0')
  // The log takes its topics from the stack: receiver, sender, event.
  return `0x${log}60${size}60${start}60003960${size}6000f3${runtime}`
}

it('a token that burns all gas, or answers with nonsense, spoils no certificate', async () => {
  const world = await startWorld(await startAnvil(), { chain: { traces: 'on' } })
  const [alice = '', bob = ''] = world.accounts
  const runtimes = {
    burner: '5b600056',
    invalid: 'fe',
    short: '60056000f3',
    reverts: '60006000fd',
    tooLong: '620100006000f3'
  }
  for (const runtime of Object.values(runtimes)) {
    await world.send({ from: alice, data: boaster(bob, runtime) })
  }
  await world.mine()
  const certificate = await world.verify(bob)
  expect(certificate.tokens).toHaveLength(5)
  for (const token of certificate.tokens) expect(token).toMatchObject({ verdict: 'explained', received: '5' })
  expect(new Set(certificate.tokens.map(({ explanation }) => explanation))).toEqual(
    new Set(['no-balance', 'logs-lie'])
  )
  expect(certificate.verdict).toBe('proven')
})

it('nothing is certified before the first backfill is complete', async () => {
  const anvil = await startAnvil()
  const proxy = await startNodeProxy(anvil.rpcUrl)
  cleanUps.push(() => proxy.close())
  // Blocks do not come: the index stays where it is.
  proxy.obey(({ method, params }) =>
    method === 'eth_getBlockByNumber' && params[1] === true && params[0] !== '0x0'
      ? { error: { code: -32000, message: 'not now' } }
      : undefined
  )
  const world = await startWorld(anvil, { nodeUrl: proxy.url })
  for (let i = 0; i < 5; i++) await world.mine()
  await eventually('it is said how far the index is', async () => {
    const response = await world.ask('svc_verifyHistory', [world.accounts[0]])
    const { error } = (await response.json()) as { error?: { data: { reason: string; head?: number } } }
    expect(error?.data.reason).toMatch(/^(NOT_SYNCED|UPSTREAM_UNAVAILABLE)$/)
    return error?.data.reason === 'NOT_SYNCED' && error.data.head === 5
  })
})
