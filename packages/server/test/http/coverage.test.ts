import { createRoute } from '@chain-data/client/route'
import { startAnvil } from '@chain-data/devnet'
import { eventually } from '@chain-data/index/test'
import { transport } from '@chain-data/protocol'
import { describe, expect, it } from 'vitest'
import { createJsonRpc } from '../../../devnet/src/platform/jsonRpc.ts'
import type { AnswerCoverage } from '../../src/model/coverage.ts'
import { Refusal } from '../../src/platform/refusal.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import { createServer } from '../../src/server/start/createServer.ts'
import { address, authorization, request, type StartedService, startService } from './startService.ts'

const name = 'x-chain-data-coverage'
const covered: Omit<AnswerCoverage, 'chainId'> = { from: 0, to: 128, transfersFrom: 0, deepHistory: 'none' }
const header = '1;from=0;to=128;transfers=0;deep=none'

/** More characters than are gathered before an answer begins. */
const longText = `"${'x'.repeat(300_000)}"`
const longStream = () =>
  new ResultStream(
    (async function* () {
      yield longText
      yield longText
    })(),
    async () => {}
  )

/** A service whose histories tell this of their chains, in the order of the calls. */
function start(...told: readonly (Omit<AnswerCoverage, 'chainId'> | undefined)[]): StartedService {
  let calls = 0
  return startService({
    handlers: {
      svc_getTransactionsByAddress: async ([who], { chainId = 0, onCoverage }) => {
        const coverage = told[Math.min(calls++, told.length - 1)]
        if (coverage !== undefined) onCoverage?.({ chainId, ...coverage })
        if (who === failing) throw new Refusal('UPSTREAM_UNAVAILABLE', 'The node is away.', {})
        return who === long ? longStream() : new ResultStream((async function* () {})(), async () => {})
      },
      svc_getSyncStatus: async (_params, { chainId = 0 }) => ({
        chainId,
        ready: true,
        phase: 'following' as const,
        degraded: false,
        covers: { transfers: true, internal: false, operations: false, pool: false }
      })
    }
  })
}

const long = `0x${'aa'.repeat(20)}`
const failing = `0x${'bb'.repeat(20)}`
const history = (who = address, chainId = 1) => request('svc_getTransactionsByAddress', [who], { chainId })
const batch = (...calls: readonly string[]) => `[${calls.join(',')}]`

async function headerOf(service: StartedService, body: string): Promise<string | null> {
  const response = await service.post('/evm-chain', body)
  await response.text()
  return response.headers.get(name)
}

describe('the coverage header', () => {
  it('says what an answer covers, also of a stream, before its first byte', async () => {
    const service = start(covered)
    expect(await headerOf(service, history())).toBe(header)
    const response = await service.post('/evm-chain', history(long))
    expect(response.headers.get(name)).toBe(header)
    expect((await response.text()).length).toBeGreaterThan(2 * longText.length)
    await service.close()
  })

  it('comes over node:http as over Fetch', async () => {
    const service = start(covered)
    const listener = await service.listen()
    for (const who of [address, long]) {
      const response = await fetch(`${listener.url}/evm-chain`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${btoa('demo:demo-server-key')}`,
          'content-type': 'application/json'
        },
        body: history(who)
      })
      await response.text()
      expect(response.headers.get(name)).toBe(header)
    }
    await listener.close(0)
    await service.close()
  })

  it('is left out where nothing was told, and of calls that failed', async () => {
    const service = start(undefined)
    expect(await headerOf(service, history())).toBeNull()
    expect(await headerOf(service, request('svc_getSyncStatus', []))).toBeNull()
    const told = start(covered)
    expect(await headerOf(told, history(failing))).toBeNull()
    expect(await headerOf(told, '{')).toBeNull()
    expect(await headerOf(told, batch(history(failing), history(failing)))).toBeNull()
    await Promise.all([service.close(), told.close()])
  })

  it('names each chain of a batch once, with what all its answers cover', async () => {
    const service = start({ ...covered, to: 130 }, { ...covered, to: 129 }, covered)
    const other = history(address, 31337)
    const status = request('svc_getSyncStatus', [])
    expect(await headerOf(service, batch(other, history(), status, history(), history(failing)))).toBe(
      `${header}, 31337;from=0;to=130;transfers=0;deep=none`
    )
    await service.close()
  })

  it('is left out of a batch so long that its last entries are answered after the header', async () => {
    const service = start(covered)
    const calls = Array.from({ length: 20 }, (_, place) => history(place === 0 ? long : address))
    expect(await headerOf(service, batch(...calls))).toBeNull()
    expect(await headerOf(service, batch(...calls.slice(1)))).toBe(header)
    await service.close()
  })

  it('may be read by pages', () => {
    expect(transport.exposedHeaders.map(each => each.toLowerCase())).toContain(name)
  })

  it('goes through the route of a host', async () => {
    const service = start(covered)
    const listener = await service.listen()
    const route = createRoute({
      baseUrl: listener.url,
      projectId: 'demo',
      serverKey: 'demo-server-key',
      allow: ['svc_getTransactionsByAddress']
    })
    const response = await route(
      new Request('http://host.example/evm-chain', {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
        body: history()
      })
    )
    expect([response.status, response.headers.get(name)]).toEqual([200, header])
    await listener.close(0)
    await service.close()
  })
})

it('of a real server agrees with its status, block by block', async () => {
  const anvil = await startAnvil()
  const rpc = createJsonRpc(anvil.rpcUrl)
  await rpc('anvil_mine', '0x3')
  const server = await createServer({
    store: 'sqlite::memory:',
    projects: [{ projectId: 'demo', serverKey: 'demo-server-key' }],
    chains: {
      evm: [{ chainId: 31337, rpcUrls: [anvil.rpcUrl], pollIntervalMs: 50, startBlock: 2, traces: 'on' }]
    },
    log: { level: 'silent' }
  })
  try {
    await eventually('block 3 is indexed', async () => server.status()[0]?.indexedTo?.number === 3, 20_000)
    const ask = (method: string, params: readonly unknown[]) =>
      server.fetch(
        new Request('http://server/evm-chain', {
          method: 'POST',
          headers: { authorization, 'content-type': 'application/json' },
          body: request(method, params, { chainId: 31337 })
        })
      )
    const { result } = (await (await ask('svc_getSyncStatus', [])).json()) as { result: unknown }
    expect(result).toMatchObject({
      ...{ indexedFrom: 2, indexedTo: 3, transfersFrom: 2, internalFrom: 2, deepHistory: 'none' },
      covers: { transfers: true, internal: true }
    })
    for (const method of ['svc_getTransactionsByAddress', 'svc_getTokensAndNFTs']) {
      const response = await ask(method, [address])
      expect(response.status).toBe(200)
      expect(response.headers.get(name)).toBe(
        '31337;from=2;to=3;transfers=2;internal=2;operations=2;deep=none'
      )
      await response.text()
    }
    const certified = await ask('svc_verifyHistory', [address])
    expect(certified.headers.get(name)).toMatch(/^31337;from=2;to=3;transfers=2;internal=2/)
    await certified.text()
  } finally {
    await server.close()
    await anvil.stop()
  }
})
