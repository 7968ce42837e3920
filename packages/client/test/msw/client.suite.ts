import { type ErrorReason, errors } from '@chain-data/protocol'
import { examples } from '@chain-data/protocol/examples'
import type { RequestHandler } from 'msw'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type AddressEvent, watchAddresses } from '../../src/actions.ts'
import { createClient as createFetchClient } from '../../src/fetch.ts'
import { createClient as createAxiosClient } from '../../src/index.ts'
import {
  createHandlers,
  delayFault,
  httpFault,
  type Malformation,
  type MockOptions,
  malformedFault,
  networkFault,
  rpcFault
} from '../../src/msw/index.ts'
import { caught } from '../support/caught.ts'
import { address, projectId, serverKey } from '../support/credentials.ts'

interface Server {
  use(...handlers: RequestHandler[]): void
  resetHandlers(): void
  close(): void
}

const baseUrl = 'https://rpc.example.com'
const tokens = examples.svc_getTokensAndNFTs[0]!.result
const history = examples.svc_getTransactionsByAddress[0]!.result

/** What the client makes of the service that the handlers play, over both transports. */
export function describeClient<S extends Server>(server: S, listen: (server: S) => void): void {
  beforeAll(() => listen(server))
  afterEach(() => server.resetHandlers())
  afterAll(() => server.close())

  const serve = (options: Partial<MockOptions> = {}) => {
    const credentials = { projectId, key: serverKey }
    server.use(...createHandlers({ baseUrl, credentials, ...options }))
  }

  describe.each([
    ['axios', createAxiosClient],
    ['fetch', createFetchClient]
  ])('the client over %s', (_name, createClient) => {
    const options = { baseUrl, projectId, serverKey, chainId: 1 }
    const client = createClient({ ...options, retries: 0 })
    const patient = createClient({ ...options, maxDelayMs: 30 })
    const call = { method: 'svc_getTokensAndNFTs', params: [address] } as const

    test('is let in and gets its answer', async () => {
      serve()
      expect(await client.getTokensAndNFTs({ address })).toEqual(tokens)
      const stranger = createClient({ ...options, serverKey: 'another key' })
      const error = await caught(stranger.getTokensAndNFTs({ address }))
      expect(error).toMatchObject({ reason: 'UNAUTHENTICATED', status: 401, rpcCode: 40102 })
    })

    test('gets the events of a stream, those of the examples or others, and goes on after a cursor', async () => {
      const take = async (count: number, after?: string) => {
        const taken: AddressEvent[] = []
        for await (const event of watchAddresses(client, { addresses: [address], after })) {
          taken.push(event)
          if (taken.length === count) break
        }
        return taken
      }
      serve()
      expect(await take(1)).toMatchObject(examples.svc_watchAddresses[1]!.result)
      const events = examples.svc_watchAddresses[0]!.result
      serve({ methods: { svc_watchAddresses: events } })
      const first = await take(2)
      expect(first.map(({ cursor: _, ...event }) => event)).toEqual(events.slice(0, 2))
      expect((await take(1, first[1]?.cursor))[0]).toMatchObject(events[2]!)
      serve({
        methods: {
          async *svc_watchAddresses({ params: [[watched]] }) {
            yield {
              kind: 'final',
              addresses: [`${watched}`],
              hash: '0x1',
              block: { blockNumber: 7, blockHash: '0x2' }
            }
          }
        }
      })
      expect(await take(1)).toMatchObject([
        { kind: 'final', addresses: [address], block: { blockNumber: 7 } }
      ])
      serve({ methods: { svc_watchAddresses: rpcFault('CURSOR_EXPIRED') } })
      expect(await caught(take(1, 'old'))).toMatchObject({ reason: 'CURSOR_EXPIRED' })
      const unasked = client.request({
        method: 'svc_watchAddresses',
        endpoint: '/evm-chain',
        params: [[address]]
      })
      expect(await caught(unasked)).toMatchObject({ reason: 'INVALID_REQUEST' })
    })

    test.each(Object.keys(errors) as ErrorReason[])('meets %s as an error of that reason', async reason => {
      serve({ methods: { svc_getTokensAndNFTs: rpcFault(reason) } })
      const error = await caught(client.getTokensAndNFTs({ address }))
      const { code: rpcCode, httpStatus: status, retryable } = errors[reason]
      expect(error).toMatchObject({ name: 'RpcError', reason, rpcCode, status, retryable })
    })

    test('sends again after 503, 502 and a connection that fails, and no more than twice', async () => {
      const faults = [httpFault(503), networkFault(), httpFault(502)]
      serve({ fault: () => faults.shift() })
      expect(await caught(patient.getTokensAndNFTs({ address }))).toMatchObject({ status: 502 })
      expect(await patient.getTokensAndNFTs({ address })).toEqual(tokens)
    })

    test('asks again when a used-up quota is promised soon, and not when it takes long', async () => {
      const fault = (retryAfterMs: number): MockOptions['fault'] => {
        return ({ count }) => (count === 1 ? rpcFault('RATE_LIMITED', { retryAfterMs }) : undefined)
      }
      serve({ fault: fault(5) })
      expect(await patient.getTokensAndNFTs({ address })).toEqual(tokens)
      serve({ fault: fault(60_000) })
      const error = await caught(patient.getTokensAndNFTs({ address }))
      expect(error).toMatchObject({ reason: 'RATE_LIMITED', retryAfterMs: 60_000 })
    })

    test('gives up at its deadline when no answer comes', async () => {
      serve({ fault: delayFault(Number.POSITIVE_INFINITY) })
      const error = await caught(client.getTokensAndNFTs({ address, timeoutMs: 30 }))
      expect(error).toMatchObject({ code: 'TIMEOUT' })
    })

    test.each<Malformation>([
      'html',
      'empty',
      'truncated',
      'wrongId',
      'wrongVersion',
      'resultAndError',
      'noResult',
      'wrongShape',
      'missingEntry'
    ])('takes an answer that is malformed (%s) for none, and does not ask again', async malformation => {
      let count = 0
      serve({
        fault: exchange => {
          count = exchange.count
          return malformedFault(malformation)
        }
      })
      const error = await caught(patient.getTokensAndNFTs({ address }))
      expect(error).toMatchObject({ name: 'ProtocolError', status: 200, retryable: false })
      expect(count).toBe(1)
    })

    test('finds the answers of a batch by id, and misses the one that is not there', async () => {
      serve({
        fault: malformedFault('reversed'),
        methods: { svc_getTransactionsByAddress: rpcFault('NOT_SYNCED') }
      })
      const other = { method: 'svc_getTransactionsByAddress', params: [address] } as const
      expect(await client.batch([call, other])).toMatchObject([
        { status: 'fulfilled', value: tokens },
        { status: 'rejected', reason: { reason: 'NOT_SYNCED' } }
      ])
      serve({ fault: malformedFault('missingEntry') })
      expect(await client.batch([call, call])).toMatchObject([
        { status: 'fulfilled', value: tokens },
        { status: 'rejected', reason: { code: 'PROTOCOL' } }
      ])
    })

    test('walks through the history of the examples to its end', async () => {
      serve()
      const seen = []
      for await (const page of client.iterateTransactions({ address, limit: 1 })) seen.push(...page)
      expect(seen.map(record => record.hash)).toEqual(history.map(record => record.hash))
    })
  })
}
