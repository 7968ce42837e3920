import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import {
  type AnvilNode,
  type EvmEffect,
  type EvmTransaction,
  type EvmWorld,
  evmHistoryOf,
  seedEvmWorld,
  startAnvil
} from '@chain-data/devnet'
import { createServer, type Server } from '@chain-data/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sourceConditions, whenReady } from '../startExample.ts'

const main = fileURLToPath(new URL('main.ts', import.meta.url))

let node: AnvilNode
let world: EvmWorld
let server: Server
let url: string
beforeAll(async () => {
  node = await startAnvil()
  const driver = await seedEvmWorld(node.rpcUrl, { pool: false })
  world = driver.world
  server = await createServer({
    listen: { port: 0 },
    store: 'sqlite::memory:',
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: { evm: [{ chainId: 31337, rpcUrls: [node.rpcUrl], traces: 'on', pollIntervalMs: 50 }] },
    log: { level: 'silent' }
  })
  url = await server.listen()
  await whenReady(url)
})
afterAll(async () => {
  await server?.close()
  await node?.stop()
})

/** What the program has to say of a transaction, from what it was meant to do. */
function linesOf({ hash, position, state, effects }: EvmTransaction, address: string): string[] {
  const own = state === 'success' ? effects.filter(effect => touches(effect, address)) : []
  const isNative = ({ kind }: EvmEffect) => kind === 'internal'
  return [
    `${hash} block ${position?.blockNumber}`,
    ...own.filter(effect => !isNative(effect)).map(lineOf),
    ...own.filter(isNative).map(lineOf)
  ]
}

function touches(effect: EvmEffect, address: string): boolean {
  return effect.kind !== 'uri' && [effect.from, effect.to].includes(address)
}

function lineOf(effect: EvmEffect): string {
  if (effect.kind === 'uri') throw new Error('a URI is no transfer')
  const parties = `${effect.from} -> ${effect.to}`
  if (effect.kind === 'internal') return `  call ${effect.valueWei} wei: ${parties}`
  const amount = effect.kind === 'erc721' ? `id ${effect.tokenId}` : effect.amount
  return `  ${effect.kind.replace('erc', 'ERC-')} ${amount}: ${parties}`
}

async function balanceOf(address: string): Promise<bigint> {
  const response = await fetch(node.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBalance', params: [address, 'latest'] })
  })
  return BigInt(((await response.json()) as { result: string }).result)
}

test('proves accounts of the devnet, and shows what moved in their transactions', async () => {
  const head = world.blocks.length - 1
  // Each is a process of its own.
  for (const { address } of Object.values(world.accounts).slice(0, 3)) {
    const { stdout } = await promisify(execFile)(process.execPath, [sourceConditions, main, url, address])
    const lines = stdout.trimEnd().split('\n')
    const history = evmHistoryOf(world, address)
    expect(lines[0]).toBe(`${address} is proven at block ${head}: ${history.length} transactions`)
    expect(lines).toContain(`  balance: ${await balanceOf(address)} wei, difference 0`)
    const shown = lines.indexOf(`blocks 0 to ${head}, traced from 0`)
    expect(lines.slice(shown + 1)).toEqual(history.slice(0, 10).flatMap(each => linesOf(each, address)))
  }
})
