import { methodFacts } from '@chain-data/protocol'
import { examples } from '@chain-data/protocol/examples'
import { type Address, createClient as createKitClient } from '@solana/kit'
import { createPublicClient, custom } from 'viem'
import { mainnet } from 'viem/chains'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import * as actions from '../../src/actions.ts'
import { evmMethods, methods, solanaMethods } from '../../src/generated/methods.gen.ts'
import { chainData } from '../../src/kit.ts'
import type { Method } from '../../src/Method.ts'
import { chainDataActions, chainDataWatchActions } from '../../src/viem.ts'
import { caught } from '../support/caught.ts'
import { address, projectId, serverKey, solanaAddress } from '../support/credentials.ts'
import { findSecret } from '../support/findSecret.ts'
import { answerJson, answerResult, baseUrl, createStubService, stubClient } from '../support/stubService.ts'

const service = createStubService()
beforeAll(() => service.msw.listen({ onUnhandledFrame: 'error' }))
afterEach(() => service.reset())
afterAll(() => service.msw.close())

const options = { baseUrl, projectId, serverKey }
const viemClient = createPublicClient({
  chain: mainnet,
  transport: custom({ request: async () => undefined })
})

const answerRefusal = answerJson({
  jsonrpc: '2.0',
  id: null,
  error: { code: -32005, message: 'No', data: { reason: 'CURSOR_EXPIRED' } }
})

/** The arguments that a call of the method must have. */
function argumentsOf({ params = [] }: Method): Record<string, string> {
  return Object.fromEntries(
    params.flatMap(param => (typeof param === 'string' ? [[param.split(/[|?]/)[0], address]] : []))
  )
}

describe('./actions', () => {
  const connection = actions.createConnection({ ...options, chainId: 1 })

  test('has a function for every method of the document, which sends what the client sends', async () => {
    for (const method of methods) {
      const { name, wireName, prefixed } = method
      const send = actions[name as 'discover'] as (...args: unknown[]) => Promise<unknown>
      const call = argumentsOf(method)
      await send(connection, call)
      const client = stubClient() as unknown as Record<string, (call: unknown) => Promise<unknown>>
      await client[name]?.(call)
      const [own, other] = service.received
        .slice(-2)
        .map(({ body: { id: _, ...body }, url }) => ({ body, url }))
      expect(own).toEqual(other)
      expect(own?.body.method).toBe((prefixed ? 'svc_' : '') + (wireName ?? name))
    }
    const answered = Object.values(methodFacts).filter(({ streams }) => !streams)
    expect(service.received).toHaveLength(2 * answered.length)
  })

  test('goes through a history, asks for several things at once, and for what is on the wire', async () => {
    service.answerWith(answerResult(examples.svc_getTransactionsByAddress[0]?.result))
    const pages = actions.iterateTransactions(connection, { address })
    expect((await pages.next()).value).toEqual(examples.svc_getTransactionsByAddress[0]?.result)
    service.answerWith(({ text }) =>
      Response.json(JSON.parse(text).map(({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: {} })))
    )
    const outcomes = await actions.batch(connection, [{ method: 'getTokensAndNFTs', address }])
    expect(outcomes).toEqual([{ status: 'fulfilled', value: {} }])
    service.answerWith(answerResult(7))
    const call = { method: 'acme_any', params: [], endpoint: '/evm-chain' } as const
    await expect(actions.request(connection, call)).resolves.toBe(7)
  })

  test('a connection shows no credential', () => {
    expect(findSecret(connection)).toEqual([])
  })
})

describe('./viem', () => {
  test('a client is extended with the methods about EVM chains, which ask about its chain', async () => {
    const client = viemClient.extend(chainDataActions(options))
    await client.getTokensAndNFTs({ address })
    await client.getTokensAndNFTs({ address, chainId: 10 })
    expect(service.received.map(({ body, url }) => [url, body.method, body.chainId])).toEqual([
      [`${baseUrl}/evm-chain`, 'svc_getTokensAndNFTs', 1],
      [`${baseUrl}/evm-chain`, 'svc_getTokensAndNFTs', 10]
    ])
    for (const { name } of evmMethods) expect(client).toHaveProperty(name, expect.any(Function))
    expect(client).not.toHaveProperty('enhancedGetTokensAndNFTs')
    expect(client.getBlockNumber).toBeTypeOf('function')
  })

  test('without a chain of the client each call names one', async () => {
    const client = createPublicClient({ transport: custom({ request: async () => undefined }) }).extend(
      chainDataActions(options)
    )
    const error = await caught(client.getSyncStatus({} as never))
    expect(error).toMatchObject({ reason: 'CHAIN_ID_MISSING', message: 'getSyncStatus: chainId is missing' })
    await client.getSyncStatus({ chainId: 5 })
    expect(service.received.map(({ body }) => body.chainId)).toEqual([5])
  })

  describe('watching addresses', () => {
    const event = (number: number) =>
      `id: c${number}\ndata: {"kind":"synced","addresses":[],"head":{"blockNumber":${number}}}\n\n`
    const streamOf = (text: string) =>
      new Response(
        new ReadableStream({
          // It stays open.
          start: controller => controller.enqueue(new TextEncoder().encode(text))
        }),
        { headers: { 'content-type': 'text/event-stream' } }
      )
    const watching = viemClient.extend(chainDataWatchActions(options))

    test('gives every event of its chain in order, one at a time, and none after its end', async () => {
      service.answerWith(() => streamOf(event(1) + event(2) + event(3)))
      const cursors: string[] = []
      const failed: unknown[] = []
      let running = 0
      await new Promise<void>(resolve => {
        const unwatch = watching.watchAddresses({
          addresses: [address],
          async onEvent({ cursor }) {
            expect(running++).toBe(0)
            cursors.push(cursor)
            await Promise.resolve()
            running--
            if (cursor !== 'c2') return
            unwatch()
            // Until what was under way has ended.
            setTimeout(resolve, 0)
          },
          onError: error => failed.push(error)
        })
      })
      expect([cursors, failed]).toEqual([['c1', 'c2'], []])
      expect(service.received.map(({ body }) => [body.method, body.chainId])).toEqual([
        ['svc_watchAddresses', 1]
      ])
    })

    test.each([
      ['a refusal', () => answerRefusal, { reason: 'CURSOR_EXPIRED' }],
      ['an error of onEvent', () => () => streamOf(event(1)), { message: 'of the page' }]
    ])('ends with %s, which onError gets', async (_title, answer, expected) => {
      service.answerWith(answer())
      const error = await new Promise<Error>(resolve => {
        watching.watchAddresses({
          addresses: [address],
          onEvent() {
            throw new Error('of the page')
          },
          onError: resolve
        })
      })
      expect(error).toMatchObject(expected)
    })

    test('what is wrong with the arguments goes to onError, and nothing is sent', async () => {
      const error = await new Promise<Error>(resolve => {
        watching.watchAddresses({ addresses: undefined as never, onEvent() {}, onError: resolve })
      })
      expect(error.message).toBe('watchAddresses: addresses is missing')
      expect(service.received).toEqual([])
    })
  })

  test('hashes and addresses of results go into viem as they are', async () => {
    const asked: unknown[] = []
    const request = async ({ params }: { params?: unknown }) => void asked.push(params)
    const client = createPublicClient({ chain: mainnet, transport: custom({ request }) }).extend(
      chainDataActions(options)
    )
    service.answerWith(answerResult(examples.svc_getTransactionsByAddress[0]?.result))
    const [newest] = await client.getTransactionsByAddress({ address })
    if (newest === undefined) throw new Error('the example is empty')
    await client.request({ method: 'eth_getBalance', params: [newest.from, 'latest'] })
    expect(asked).toEqual([[newest.from, 'latest']])
  })
})

describe('./kit', () => {
  const account = solanaAddress as Address

  test('a client of kit gets the methods about Solana, with exact integers', async () => {
    const client = createKitClient().use(chainData({ ...options, chainId: 101 }))
    service.answerWith(
      ({ body }) =>
        new Response(
          `{"jsonrpc":"2.0","id":${body.id},"chainId":101,"result":{"lamports":18446744073709551615,"nfts":[],"tokens":[]}}`
        )
    )
    const { lamports } = await client.chainData.enhancedGetTokensAndNFTs({ accountAddress: account })
    expect(lamports).toBe(18446744073709551615n)
    service.reset()
    await client.chainData.getSyncStatus({})
    expect(service.received.map(({ body, url }) => [url, body.chainId])).toEqual([[`${baseUrl}/solana`, 101]])
    for (const { name } of solanaMethods) expect(client.chainData).toHaveProperty(name)
    expect(client.use).toBeTypeOf('function')
    expect(findSecret(client)).toEqual([])
  })
})

describe('what a result is at the top', () => {
  const wrong: Record<'list' | 'object', unknown[]> = {
    list: [null, {}, 'hello', 7, true],
    object: [null, [], 'hello', 7, true]
  }

  test.each(methods.map(method => [method.name, method] as const))('%s', async (name, method) => {
    const { result = 'object' } = method
    const client = stubClient() as unknown as Record<string, (call: unknown) => Promise<unknown>>
    for (const value of wrong[result]) {
      const reason = result === 'list' ? 'NOT_A_LIST' : 'NOT_AN_OBJECT'
      service.answerWith(answerResult(value))
      const error = await caught(client[name]?.(argumentsOf(method)) as Promise<unknown>)
      expect(error).toMatchObject({ name: 'ProtocolError', reason, method: name, retryable: false })
      service.answerWith(({ text }) =>
        Response.json([{ jsonrpc: '2.0', id: JSON.parse(text)[0].id, result: value }])
      )
      const call = { method: name, ...argumentsOf(method) } as never
      const [outcome] = await stubClient().batch([call] as never)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'ProtocolError', reason } })
    }
  })
})
