import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { RpcError, type SolanaHoldings, type TransactionRecord } from '@chain-data/client'
import { errors, isConfirmed } from '@chain-data/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { patient } from '../../../../.config/patience.ts'
import { Refusal, startFaultProxy } from '../../../server/test/support/startFaultProxy.ts'
import {
  type AnvilNode,
  type Devnet,
  evmAccount,
  evmHistoryOf,
  seedEvmWorld,
  startAnvil,
  startDevnet,
  surfpoolUnsupportedReason
} from '../../src/index.ts'
import {
  bodyOf,
  type Call,
  evmChainId as chainId,
  credentials,
  type ExpectedRefusal,
  expectRefusal,
  post,
  solanaChainId,
  succeed
} from './support/callService.ts'
import { expectNoSecret } from './support/expectNoSecret.ts'
import { eventually, type Road, startRoad, untilStatus } from './support/startRoad.ts'
import { startSlowNode } from './support/startSlowNode.ts'

const seed = 37
const withSolana = surfpoolUnsupportedReason() === undefined

let devnet: Devnet
/** Ended after each test, the newest first. */
const cleanUp: (() => Promise<void>)[] = []

beforeAll(async () => {
  devnet = await startDevnet({ seed })
})

afterEach(async () => {
  for (const end of cleanUp.splice(0).reverse()) await end()
})

afterAll(async () => {
  await devnet?.stop()
})

async function start(options: Parameters<typeof startRoad>[1]): Promise<Road> {
  const road = await startRoad(devnet, options)
  cleanUp.push(() => road.close())
  return road
}

const addressOf = (name: string) => evmAccount(devnet.evm!.world, name).address
const historyCall = (address: string, page?: object): Call => ({
  ...{ method: 'svc_getTransactionsByAddress', params: page === undefined ? [address] : [address, page] }
})
const holdingsCall = (address: string): Call => ({ method: 'svc_getTokensAndNFTs', params: [address] })

/** Makes a call that must be refused like this, as raw HTTP. */
async function refused({ baseUrl }: Road, call: Call, expected: ExpectedRefusal): Promise<void> {
  const { endpoint = '/evm-chain' } = call
  const { status, text } = await post(baseUrl + endpoint, bodyOf(call))
  expect(status, text).toBe(errors[expected.reason].httpStatus)
  const { error } = expectRefusal(JSON.parse(text), expected)
  // A caller learns the cause, and not where the node is.
  expect(error.data.extraMessage).not.toMatch(/127\.0\.0\.1|localhost|http|:\d/)
}

async function clientRefused(call: Promise<unknown>, reason: keyof typeof errors): Promise<void> {
  const error = await call.catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(RpcError)
  const { code, retryable } = errors[reason]
  expect(error).toMatchObject({ code: 'RPC', reason, rpcCode: code, retryable })
  expectNoSecret(error, credentials.serverKey)
}

const unavailable: ExpectedRefusal = { reason: 'UPSTREAM_UNAVAILABLE' }

/** A port of this machine on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** The same node again on the same port: the same seed and metadata give the same blocks. */
async function restartNode(port: number): Promise<AnvilNode> {
  const node = await startAnvil({ port })
  await seedEvmWorld(node.rpcUrl, { seed, metadata: devnet.metadata })
  return node
}

describe('a node that is not there when the service starts', () => {
  test('does not keep it from starting: alive, not ready, -32002; it syncs by itself once the node is there', async () => {
    const port = await freePort()
    const road = await start({ evmUrl: `http://127.0.0.1:${port}`, untilReady: false })
    const { baseUrl, client } = road
    expect((await fetch(`${baseUrl}/health/live`)).status).toBe(200)
    const ready = await fetch(`${baseUrl}/health/ready`)
    expect(ready.status).toBe(503)
    expect(await ready.json()).toMatchObject({ ready: false, chains: [{ chainId, ready: false }] })
    const alice = addressOf('alice')
    await refused(road, historyCall(alice), unavailable)
    await refused(road, historyCall(alice, { limit: 1 }), unavailable)
    await refused(road, holdingsCall(alice), unavailable)
    await clientRefused(client.getTransactionsByAddress({ chainId, address: alice }), 'UPSTREAM_UNAVAILABLE')
    await clientRefused(client.getTokensAndNFTs({ chainId, address: alice }), 'UPSTREAM_UNAVAILABLE')
    if (withSolana) {
      // The other chain does not care.
      const params = [devnet.solana!.world.owners.alice!.address]
      await succeed(baseUrl, { endpoint: '/solana', method: 'enhancedGetTokensAndNFTs', params })
    }

    const node = await restartNode(port)
    cleanUp.push(() => node.stop())
    await untilStatus(`${baseUrl}/health/ready`, 200)
    const truth = evmHistoryOf(devnet.evm!.world, alice).map(({ hash }) => hash)
    await expect
      .poll(
        () =>
          client.getTransactionsByAddress({ chainId, address: alice }).then(
            records => records.map(({ hash }) => hash),
            () => []
          ),
        { timeout: patient(15_000) }
      )
      .toEqual(truth)
  })

  test.skipIf(!withSolana)(
    'of Solana: -32002 with the chainId, and a status that says degraded',
    async () => {
      const solana = [{ chainId: solanaChainId, rpcUrls: [`http://127.0.0.1:${await freePort()}`] }]
      const road = await start({ chains: { evm: [], solana } })
      const call: Call = {
        endpoint: '/solana',
        method: 'enhancedGetTokensAndNFTs',
        params: [devnet.solana!.world.owners.alice!.address]
      }
      await refused(road, call, { ...unavailable, chainId: solanaChainId })
      const address = String(call.params[0])
      await clientRefused(
        road.client.enhancedGetTokensAndNFTs({ chainId: solanaChainId, address }),
        'UPSTREAM_UNAVAILABLE'
      )
      const { result } = await succeed(road.baseUrl, {
        ...{ endpoint: '/solana', method: 'svc_getSyncStatus', params: [] }
      })
      expect(result).toMatchObject({ chainId: solanaChainId, degraded: true })
      expect(result).not.toHaveProperty('head')
    }
  )
})

describe('a node that goes away later', () => {
  test('refuses holdings and first pages; later pages come from the index; all is well when it returns', async () => {
    const port = await freePort()
    const node = await restartNode(port)
    cleanUp.push(() => node.stop())
    const road = await start({ evmUrl: node.rpcUrl })
    const { baseUrl } = road
    const alice = addressOf('alice')
    const historyNow = async (page?: object) =>
      (await succeed(baseUrl, historyCall(alice, page))).result as TransactionRecord[]
    const whole = await historyNow()
    const holdings = (await succeed(baseUrl, holdingsCall(alice))).result
    const confirmed = whole.filter(record => isConfirmed(record))
    expect(confirmed.length).toBeGreaterThan(20)

    await node.stop()
    await eventually(
      async () => {
        const { text } = await post(`${baseUrl}/evm-chain`, bodyOf(historyCall(alice)))
        return text.includes('UPSTREAM_UNAVAILABLE') ? true : undefined
      },
      () => 'the loss to be noticed',
      25_000
    )
    await refused(road, historyCall(alice), unavailable)
    await refused(road, historyCall(alice, { limit: 3 }), unavailable)
    await refused(road, holdingsCall(alice), unavailable)
    await clientRefused(road.client.getTokensAndNFTs({ chainId, address: alice }), 'UPSTREAM_UNAVAILABLE')
    const before = confirmed[0]!.hash
    expect(await historyNow({ before })).toStrictEqual(confirmed.slice(1))
    expect(await historyNow({ before, limit: 4 })).toStrictEqual(confirmed.slice(1, 5))
    // It has been synced once, and its answers say what they miss.
    expect((await fetch(`${baseUrl}/health/live`)).status).toBe(200)
    const { result } = await succeed(baseUrl, { method: 'svc_getSyncStatus', params: [] })
    expect(result).toMatchObject({ chainId, degraded: true })

    const again = await restartNode(port)
    cleanUp.push(() => again.stop())
    const withoutFirstSight = (records: TransactionRecord[]) =>
      records.map(record => ({ ...record, timestamp: isConfirmed(record) ? record.timestamp : undefined }))
    await eventually(
      async () => {
        const { text } = await post(`${baseUrl}/evm-chain`, bodyOf(historyCall(alice)))
        const { result: records } = JSON.parse(text) as { result?: TransactionRecord[] }
        return records?.length === whole.length ? true : undefined
      },
      () => 'the service to recover',
      25_000
    )
    expect(withoutFirstSight(await historyNow())).toStrictEqual(withoutFirstSight(whole))
    expect((await succeed(baseUrl, holdingsCall(alice))).result).toStrictEqual(holdings)
  })

  test.skipIf(!withSolana)('of Solana: -32002 at once, never an empty list', async () => {
    const other = await startDevnet({ seed: 38, evm: false })
    cleanUp.push(() => other.stop())
    const road = await startRoad(other)
    cleanUp.push(() => road.close())
    const call: Call = {
      endpoint: '/solana',
      method: 'enhancedGetTokensAndNFTs',
      params: [other.solana!.world.owners.alice!.address]
    }
    const { result } = await succeed(road.baseUrl, call)
    expect((result as SolanaHoldings).tokens.length).toBeGreaterThan(3)
    await other.solana!.node.stop()
    await refused(road, call, { ...unavailable, chainId: solanaChainId })
  })
})

describe('an index that has not reached the head yet', () => {
  const stuckAt = 12

  async function startStuck(serveWhileSyncing: boolean) {
    const proxy = await startFaultProxy(devnet.evm!.node.rpcUrl)
    cleanUp.push(() => proxy.close())
    proxy.setFault(({ method, params }, result) => {
      const number = Number((result as { number?: string } | null)?.number ?? 0)
      if (/^eth_getBlockBy/.test(method) && params[1] === true && number > stuckAt) throw new Refusal(-32000)
      return result
    })
    const road = await start({ evmUrl: proxy.url, untilReady: false, history: { serveWhileSyncing } })
    await eventually(
      async () => ((await road.client.getSyncStatus({ chainId })).indexedTo === stuckAt ? true : undefined),
      () => `block ${stuckAt} to be indexed`
    )
    return { road, proxy }
  }

  // The host may have older blocks waited for; the newest ones always are.
  test.each([true, false])(
    'answers NOT_SYNCED with how far it is, to every method, and whole answers once it is done (serveWhileSyncing: %s)',
    async serveWhileSyncing => {
      const { road, proxy } = await startStuck(serveWhileSyncing)
      const { world } = devnet.evm!
      const head = world.blocks.length - 1
      const alice = addressOf('alice')
      const expected = { reason: 'NOT_SYNCED', data: { indexedTo: stuckAt, head } } as const
      await refused(road, historyCall(alice), expected)
      await refused(road, historyCall(alice, { limit: 1 }), expected)
      await refused(road, holdingsCall(alice), expected)
      const before = evmHistoryOf(world, alice).find(t => t.position?.blockNumber === 1)!.hash
      await refused(road, historyCall(alice, { before }), expected)
      await clientRefused(road.client.getTransactionsByAddress({ chainId, address: alice }), 'NOT_SYNCED')
      expect((await fetch(`${road.baseUrl}/health/ready`)).status).toBe(503)
      // The thread that indexes says it a moment later than the index has it.
      await expect
        .poll(async () => (await fetch(`${road.baseUrl}/health/ready`)).json())
        .toMatchObject({ chains: [{ chainId, ready: false, indexedTo: stuckAt, head }] })
      proxy.setFault()
      await untilStatus(`${road.baseUrl}/health/ready`, 200)
      const { result } = await succeed(road.baseUrl, historyCall(alice))
      expect((result as TransactionRecord[]).length).toBe(evmHistoryOf(world, alice).length)
    }
  )
})

describe('a node that is too slow', () => {
  test('is given up at the deadline: -32002; and who comes when all places are taken is sent away: 503', async () => {
    const node = await startSlowNode(devnet.evm!.node.rpcUrl, 0)
    cleanUp.push(() => node.close())
    const road = await start({
      evmUrl: node.url,
      limits: { requestDeadlineMs: 700, requestsInFlight: 1 }
    })
    const call = holdingsCall(addressOf('alice'))
    await succeed(road.baseUrl, call)
    const asked = new Promise<void>(resolve => node.onRequest(() => resolve()))
    node.setDelay(5_000)
    const startedMs = performance.now()
    const slow = refused(road, call, unavailable)
    await asked
    const { status, text, headers } = await post(`${road.baseUrl}/evm-chain`, bodyOf(call))
    expect(status, text).toBe(503)
    const { retryAfterMs } = JSON.parse(text).error.data
    expectRefusal(JSON.parse(text), { reason: 'OVERLOADED', id: null, data: { retryAfterMs } })
    // Callers are told different times, so that they do not come back together.
    expect(retryAfterMs).toBeGreaterThanOrEqual(1_000)
    expect(retryAfterMs).toBeLessThanOrEqual(3_000)
    expect(headers.get('retry-after')).toBe(String(Math.ceil(retryAfterMs / 1_000)))
    await slow
    expect(performance.now() - startedMs).toBeLessThan(4_000)
  })
})
