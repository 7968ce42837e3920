import { createClient, TransportError } from '@chain-data/client'
import { errors } from '@chain-data/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Devnet, type EvmDevnet, evmAccount, evmHistoryOf, startDevnet } from '../../src/index.ts'
import { credentials, evmChainId, expectRefusal, post, succeed } from './support/callService.ts'
import { expectNoSecret } from './support/expectNoSecret.ts'
import {
  checkRefusal,
  expectClientError,
  history,
  request,
  someAccount,
  someAddress
} from './support/refusals.ts'
import { eventually, type Road, startRoad } from './support/startRoad.ts'

const clientKey = 'a-publishable-key'
const project = { ...credentials, clientKeys: [{ key: clientKey, origins: ['https://dapp.example'] }] }

let evm: EvmDevnet
let devnet: Devnet
let road: Road

beforeAll(async () => {
  devnet = await startDevnet({ seed: 45, solana: false })
  evm = devnet.evm!
  road = await startRoad(devnet, { projects: [project] })
})

afterAll(async () => {
  await road?.close()
  await devnet?.stop()
})

describe('limits of the host', () => {
  test('beyond the quota: 429 with a true Retry-After, 200 inside a batch, and all well after the wait', async () => {
    const limited = await startRoad(devnet, { rateLimit: { requestsPerSecond: 0.5, burst: 3 } })
    try {
      const url = `${limited.baseUrl}/evm-chain`
      const batch = `[${[1, 2, 3, 4].map(id => request({ id })).join(',')}]`
      const answer = await post(url, batch)
      expect(answer.status).toBe(200)
      const [one, , , four] = JSON.parse(answer.text) as { error?: { data: { retryAfterMs: number } } }[]
      expect(one).toHaveProperty('result')
      const retryAfterMs = four?.error?.data.retryAfterMs
      expectRefusal(four, { reason: 'RATE_LIMITED', id: 4, data: { retryAfterMs } })
      expect(retryAfterMs).toBeGreaterThan(0)

      const single = await post(url, request())
      const { error } = JSON.parse(single.text) as { error: { data: { retryAfterMs: number } } }
      const waitMs = error.data.retryAfterMs
      const retryAfter = String(Math.ceil(waitMs / 1000))
      const expected = { reason: 'RATE_LIMITED', id: null, data: { retryAfterMs: waitMs } } as const
      checkRefusal(single, expected, { 'retry-after': retryAfter })
      await expectClientError(
        limited.client.getSyncStatus({ chainId: evmChainId }),
        { reason: 'RATE_LIMITED', rpcCode: -32005, status: 429, retryable: true },
        error => expect(error.retryAfterMs).toBeGreaterThan(0)
      )
      // Broken bodies are no way around it.
      expect((await post(url, '{')).status).toBe(429)
      await new Promise(resolve => setTimeout(resolve, waitMs))
      expect((await post(url, request())).status).toBe(200)
    } finally {
      await limited.close()
    }
  })

  test('an unpaged history beyond maxUnpaged is refused, never cut; pages are not', async () => {
    const address = evmAccount(evm.world, 'alice').address
    const whole = evmHistoryOf(evm.world, address).map(({ hash }) => hash)
    const [tight, exact] = await Promise.all([
      startRoad(devnet, { history: { maxUnpaged: whole.length - 1 } }),
      startRoad(devnet, { history: { maxUnpaged: whole.length } })
    ])
    try {
      const maxUnpaged = whole.length - 1
      const expected = { reason: 'TOO_MANY_RESULTS', data: { maxUnpaged } } as const
      const { error } = checkRefusal(
        await post(`${tight.baseUrl}/evm-chain`, request({ params: [address] })),
        expected
      )
      expect(error.data.extraMessage).toMatch(/limit.*before/)
      await expectClientError(tight.client.getTransactionsByAddress({ chainId: evmChainId, address }), {
        ...{ reason: 'TOO_MANY_RESULTS', rpcCode: -32005, status: 200, retryable: false }
      })
      const hashesOf = async ({ client }: Road, page = {}) =>
        (await client.getTransactionsByAddress({ chainId: evmChainId, address, ...page })).map(r => r.hash)
      expect(await hashesOf(tight, { limit: 1000 })).toEqual(whole)
      expect(await hashesOf(exact)).toEqual(whole)
    } finally {
      await Promise.all([tight.close(), exact.close()])
    }
  })

  test('an answer beyond responseBytes is refused as a whole', async () => {
    const small = await startRoad(devnet, { limits: { responseBytes: 2_000 } })
    try {
      const address = evmAccount(evm.world, 'alice').address
      for (const method of [history, 'svc_getTokensAndNFTs']) {
        const answer = await post(`${small.baseUrl}/evm-chain`, request({ method, params: [address] }))
        checkRefusal(answer, { reason: 'RESPONSE_TOO_LARGE' })
      }
      await expectClientError(small.client.getTransactionsByAddress({ chainId: evmChainId, address }), {
        ...{ reason: 'RESPONSE_TOO_LARGE', rpcCode: -32003, status: 200, retryable: false }
      })
    } finally {
      await small.close()
    }
  })
})

describe('the typed client', () => {
  const chainId = evmChainId
  const as = (options: object) =>
    createClient({ baseUrl: road.baseUrl, ...credentials, retries: 0, ...options })
  const rpc = (reason: keyof typeof errors) => {
    const { code, httpStatus, retryable } = errors[reason]
    return { reason, rpcCode: code, status: httpStatus, retryable }
  }
  test.each([
    ['a wrong key', 'UNAUTHENTICATED', () => as({ serverKey: 'wrong' }).getSyncStatus({ chainId })],
    [
      'a publishable key outside its pages',
      'FORBIDDEN_ORIGIN',
      () => as({ serverKey: clientKey }).getSyncStatus({ chainId })
    ],
    [
      'an unknown chain',
      'UNSUPPORTED_CHAIN',
      () => as({}).getTransactionsByAddress({ chainId: 1, address: someAddress })
    ],
    [
      'an EVM chain on /solana',
      'UNSUPPORTED_CHAIN',
      () => as({}).enhancedGetTokensAndNFTs({ chainId, address: someAccount })
    ],
    ['another prefix', 'METHOD_NOT_FOUND', () => as({ methodPrefix: 'x_' }).getSyncStatus({ chainId })],
    [
      'an unknown method',
      'METHOD_NOT_FOUND',
      () => as({}).request({ method: 'eth_call', params: [], chainId, endpoint: '/evm-chain' })
    ],
    [
      'a malformed address',
      'INVALID_PARAMS',
      () => as({}).getTransactionsByAddress({ chainId, address: '0x12' })
    ],
    [
      'a malformed token address',
      'INVALID_PARAMS',
      () => as({}).getTokensAndNFTs({ chainId, address: someAddress, tokenAddresses: ['0x'] })
    ],
    [
      'a limit too large',
      'INVALID_PARAMS',
      () => as({}).getTransactionsByAddress({ chainId, address: someAddress, limit: 1001 })
    ],
    [
      'a wrong base URL',
      'NOT_FOUND',
      () => as({ baseUrl: `${road.baseUrl}/api` }).getSyncStatus({ chainId })
    ],
    [
      'a body too large',
      'BODY_TOO_LARGE',
      () => as({}).getTransactionsByAddress({ chainId, address: 'a'.repeat(1_100_000) })
    ]
  ] as const)('%s: %s', async (_, reason, call) => {
    await expectClientError(call(), rpc(reason))
  })

  test('a service that is not there, and one that is not this service', async () => {
    for (const [baseUrl, code] of [
      ['http://127.0.0.1:9', 'NETWORK'],
      [devnet.metadata.url, 'HTTP']
    ] as const) {
      const error = await as({ baseUrl })
        .getSyncStatus({ chainId })
        .catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(TransportError)
      expect((error as TransportError).code).toBe(code)
      expectNoSecret(error, credentials.serverKey)
    }
  })
})

describe('a reorg', () => {
  test('takes a cursor away: CURSOR_REORGED names the last common block; cursors below go on working', async () => {
    const { driver, world } = evm
    const frank = evmAccount(world, 'frank').address
    const common = await driver.mine()
    const { hash: blockHash } = (await driver.rpc(
      'eth_getBlockByNumber',
      `0x${common.number.toString(16)}`,
      false
    )) as { hash: string }
    await driver.send({ label: 'below the cursor', from: 'alice', to: frank, valueWei: 1n })
    const lost = await driver.send({ label: 'the cursor', from: 'alice', to: frank, valueWei: 2n })
    await driver.mine({ blocks: 3 })
    const page = { chainId: evmChainId, address: frank, limit: 1 }
    const newest = async () => (await road.client.getTransactionsByAddress(page))[0]?.hash
    await eventually(
      async () => ((await newest()) === lost.hash ? true : undefined),
      () => 'the cursor to be indexed'
    )
    const whole = await road.client.getTransactionsByAddress({ chainId: evmChainId, address: frank })
    await driver.reorg(3)
    await eventually(
      async () => ((await newest()) === lost.hash ? undefined : true),
      () => 'the reorg to be seen'
    )
    const expected = {
      reason: 'CURSOR_REORGED',
      data: { lastCommonBlock: { blockNumber: common.number, blockHash } }
    } as const
    for (const params of [
      [frank, { before: lost.hash }],
      [frank, { before: lost.hash, limit: 5 }]
    ]) {
      checkRefusal(await post(`${road.baseUrl}/evm-chain`, request({ params })), expected)
    }
    await expectClientError(
      road.client.getTransactionsByAddress({ ...page, before: lost.hash }),
      { reason: 'CURSOR_REORGED', rpcCode: -32004, status: 200, retryable: false },
      error => expect(error.data).toMatchObject(expected.data)
    )
    const older = whole[2]!
    const { result } = await succeed(road.baseUrl, {
      ...{ method: history, params: [frank, { before: older.hash }] }
    })
    expect(result).toStrictEqual(whole.slice(3))
  })
})
