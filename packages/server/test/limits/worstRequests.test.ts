import { ChangeFilter } from '@chain-data/index'
import { limits, type MethodName, methodFacts } from '@chain-data/protocol'
import { afterEach, describe, expect, it } from 'vitest'
import { readPart } from '../../src/features/liveStreams/live/readPart.ts'
import { createWatchAddresses } from '../../src/features/liveStreams/svc_watchAddresses.ts'
import { createAddressFormat } from '../../src/platform/addressFormat.ts'
import { type MethodContext, ResultStream } from '../../src/server/methods/MethodContext.ts'
import { added, addressOf, createScriptedLog } from '../events/scriptedLog.ts'
import { readStream } from '../events/startStreams.ts'
import { address, request, type ServiceChanges, solanaAddress, startService } from '../http/startService.ts'

const many = (count: number) => Array.from({ length: count }, (_, at) => addressOf(at + 1))
const transfers = ['transfers', 'internal', 'operations']
const { tokenAddresses, watchedAddresses, pageRecords, batchRequests } = limits

/**
 * The worst request of each method that a quota counts as one, and of each form of a stream. A method or form that is not here fails
 * the type check or the first test: think what its worst request is, and that the others get their turns beside it.
 */
const worst: {
  readonly [M in Exclude<MethodName, 'svc_watchAddresses'>]: readonly (readonly unknown[])[]
} & { readonly svc_watchAddresses: Readonly<Record<StreamForm, StreamRequest>> } = {
  svc_getTransactionsByAddress: [[address], [address, { limit: pageRecords, include: transfers }]],
  svc_getTokensAndNFTs: [[address], [address, many(tokenAddresses)]],
  svc_getSyncStatus: [[]],
  svc_verifyHistory: [[address], [address, { verify: 'roots' }]],
  svc_verifySolanaHistory: [[solanaAddress]],
  enhancedGetTokensAndNFTs: [[solanaAddress]],
  enhancedGetTransactionsByAddress: [[solanaAddress]],
  'rpc.discover': [[]],
  svc_watchAddresses: {
    fromNow: () => ({}),
    after: cursor => ({ options: { after: cursor } }),
    lastEventId: cursor => ({ headers: { 'last-event-id': cursor } }),
    include: cursor => ({ options: { after: cursor, include: transfers } })
  }
}
type StreamForm = 'fromNow' | 'after' | 'lastEventId' | 'include'
type StreamRequest = (oldestCursor: string) => {
  readonly options?: object
  readonly headers?: Record<string, string>
}

const projects = ['greedy', 'modest'].map(projectId => ({ projectId, serverKey: `key of ${projectId}` }))
const services: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const service of services.splice(0)) await service.close()
})

function start(changes: ServiceChanges) {
  // A test may be kept from the processor for long.
  const service = startService({ projects, overload: { eventLoopDelayMs: 10_000 }, ...changes })
  services.push(service)
  const send = (projectId: string, path: string, body: string, headers: Record<string, string> = {}) => {
    const authorization = `Basic ${btoa(`${projectId}:key of ${projectId}`)}`
    return service.post(path, body, { headers: { authorization, ...headers } })
  }
  return { send, end: () => service.beginClosing() }
}

it('every method of the document is here', () => {
  expect(Object.keys(worst).sort()).toEqual(Object.keys(methodFacts).sort())
  const streaming = Object.entries(methodFacts).filter(([, { streams }]) => streams)
  expect(streaming.map(([name]) => name)).toEqual(['svc_watchAddresses'])
})

const { svc_watchAddresses: streamForms, ...calls } = worst
const cases = Object.entries(calls).flatMap(([method, forms]) => forms.map(params => ({ method, params })))

it.each(cases)(
  'batches of $method with $params of one project leave another one its turns',
  async ({ method, params }) => {
    let begun = 0
    /** Keeps the thread busy for a millisecond, as each call and each piece of a history does. */
    const work = () => {
      begun++
      for (const fromMs = performance.now(); performance.now() - fromMs < 1; ) {}
    }
    const call = async () => {
      work()
      return {} as never
    }
    async function* pieces({ pause }: MethodContext) {
      for (let piece = 0; piece < 3; piece++, await pause?.()) {
        work()
        yield '"record"'
      }
    }
    const { send } = start({
      handlers: {
        svc_getTransactionsByAddress: async (_params, context) =>
          new ResultStream(pieces(context), async () => {}),
        ...{ svc_getTokensAndNFTs: call, svc_getSyncStatus: call, svc_verifyHistory: call },
        ...{ svc_verifySolanaHistory: call, enhancedGetTokensAndNFTs: call },
        enhancedGetTransactionsByAddress: call
      }
    })
    const [path = '/evm-chain'] = methodFacts[method as MethodName].endpoints
    const chainId = path === '/solana' ? 101 : 1
    const one = request(method, params, { chainId })
    const batch = `[${Array(batchRequests).fill(one).join()}]`
    const batches = Array.from({ length: 5 }, () => send('greedy', path, batch))
    const turns: number[] = []
    for (let round = 0; round < 5; round++) {
      const before = begun
      const { status } = await send('modest', '/evm-chain', request('svc_getSyncStatus', []))
      expect(status).toBe(200)
      turns.push(begun - before)
    }
    expect(Math.max(...turns)).toBeLessThan(20)
    for (const answer of batches) {
      const { status } = await answer
      expect(status).toBe(200)
    }
  }
)

describe.each(Object.entries(streamForms))('75 streams of one project, %s', (_form, formOf) => {
  it('leave another project its calls, its new streams, and every second turn', async () => {
    const log = createScriptedLog()
    for (let number = 1; number <= 50; number++) log.commit(added(number, [addressOf(number)]))
    const oldest = `${'0'.repeat(15)}1-${'0'.repeat(13)}-100000001`
    const filter = new ChangeFilter()
    /** Keys of the addresses of each turn; the turns before the last one wait for `release`. */
    const turns: (readonly number[])[] = []
    let release = () => {}
    const released = new Promise<void>(resolve => {
      release = resolve
    })
    const watched = createWatchAddresses({
      chains: new Map([
        [
          1,
          {
            chainId: 1,
            reader: log.reader,
            status: () => ({ phase: 'following', poolSeenAtMs: Date.now() }) as never
          }
        ]
      ]),
      ...{ serveWhileSyncing: true, formatAddress: createAddressFormat(), clock: { now: Date.now } },
      async replay(_chainId, order) {
        turns.push([...order.watched])
        await released
        return readPart(log.reader, filter, order)
      },
      onFailure: (_chainId, failure) => {
        throw failure
      }
    })
    const { send, end } = start({
      handlers: { svc_watchAddresses: watched.handler, svc_getSyncStatus: async () => ({}) as never }
    })
    const open = async (projectId: string, addresses: readonly string[], form: ReturnType<StreamRequest>) => {
      const { options, headers } = form
      const params = options === undefined ? [addresses] : [addresses, options]
      const accept = { accept: 'text/event-stream', ...headers }
      const answer = await send(projectId, '/evm-chain', request('svc_watchAddresses', params), accept)
      return { status: answer.status, stream: readStream(answer) }
    }
    const greedy = await Promise.all(
      Array.from({ length: 75 }, () => open('greedy', many(watchedAddresses), formOf(oldest)))
    )
    expect(new Set(greedy.map(({ status }) => status))).toEqual(new Set([200]))

    expect((await send('modest', '/evm-chain', request('svc_getSyncStatus', []))).status).toBe(200)
    const fresh = await open('modest', [addressOf(1)], {})
    expect((await fresh.stream.next()).value.kind).toBe('synced')
    const resumed = await open('modest', [addressOf(200)], { options: { after: oldest } })
    release()
    expect((await resumed.stream.next()).value.kind).toBe('synced')
    expect(turns.slice(0, 2).some(keys => keys.includes(200))).toBe(true)
    end()
  })
})
