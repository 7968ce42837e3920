import { type AnvilNode, startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { afterEach, expect, it } from 'vitest'
import { silentLogger } from '../../src/platform/logger.ts'
import { createServer, type Server } from '../../src/server/start/createServer.ts'
import { startFaultProxy } from '../support/startFaultProxy.ts'

const cleanUps: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

async function mine(anvil: AnvilNode, count: number): Promise<void> {
  const response = await fetch(anvil.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'anvil_mine', params: [`0x${count.toString(16)}`] })
  })
  await response.text()
}

function statusOf(server: Server, chainId: number) {
  const status = server.status().find(each => each.chainId === chainId)
  if (status === undefined) throw new Error(`no chain ${chainId}`)
  return status
}

it('a block that cannot be had stalls its own chain only, which serves what is before it and goes on once it can', async () => {
  const poisoned = await startAnvil()
  cleanUps.push(() => poisoned.stop())
  const healthy = await startAnvil({ chainId: 5 })
  cleanUps.push(() => healthy.stop())
  await mine(poisoned, 40)
  await mine(healthy, 10)
  const proxy = await startFaultProxy(poisoned.rpcUrl)
  cleanUps.push(() => proxy.close())
  proxy.setFault((call, result) => (call.params[0] === '0x19' && call.params[1] === true ? null : result))
  const server = await createServer(
    {
      projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
      store: 'sqlite::memory:',
      chains: {
        evm: [
          { chainId: 31337, rpcUrls: [proxy.url], pollIntervalMs: 50 },
          { chainId: 5, rpcUrls: [healthy.rpcUrl], pollIntervalMs: 50 }
        ]
      }
    },
    { logger: silentLogger }
  )
  cleanUps.push(() => server.close())
  await eventually('one is stalled at its block', () => {
    const { phase, indexedTo, problem } = statusOf(server, 31337)
    return phase === 'stalled' && indexedTo?.number === 24 && /^block 25: /.test(problem ?? '')
  })
  for (const height of [11, 12, 13]) {
    await mine(healthy, 1)
    await eventually('the other follows each new block', () => {
      const { phase, indexedTo } = statusOf(server, 5)
      return phase === 'following' && indexedTo?.number === height
    })
    expect(statusOf(server, 31337)).toMatchObject({ phase: 'stalled', indexedTo: { number: 24 } })
  }
  proxy.setFault()
  await eventually(
    'the first follows too',
    () => statusOf(server, 31337).phase === 'following' && statusOf(server, 31337).indexedTo?.number === 40,
    40_000
  )
})
