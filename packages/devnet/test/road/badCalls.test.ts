import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Devnet, evmTransaction, startDevnet, surfpoolUnsupportedReason } from '../../src/index.ts'
import {
  basicHeader,
  credentials,
  type ExpectedRefusal,
  evmChainId,
  post,
  solanaChainId
} from './support/callService.ts'
import { expectNoSecret } from './support/expectNoSecret.ts'
import {
  history,
  onSolana,
  type Row,
  refuses,
  request,
  rows,
  someAccount,
  someAddress,
  told
} from './support/refusals.ts'
import { type Road, startRoad } from './support/startRoad.ts'

const clientKey = 'a-publishable-key'
const origin = 'https://dapp.example'
const project = { ...credentials, clientKeys: [{ key: clientKey, origins: [origin] }] }
const withSolana = surfpoolUnsupportedReason() === undefined

let devnet: Devnet
let road: Road

beforeAll(async () => {
  devnet = await startDevnet({ seed: 35 })
  road = await startRoad(devnet, { projects: [project] })
})

afterAll(async () => {
  await road?.close()
  await devnet?.stop()
})

describe('credentials: 401 with a challenge, before the body is looked at', () => {
  const challenge = { 'www-authenticate': 'Basic realm="chain-data", charset="UTF-8"' }
  const expected = { reason: 'UNAUTHENTICATED', id: null } as const
  const withHeader = (shows: string, authorization: string, body = request()): Row => ({
    ...{ shows, body, init: { headers: { authorization } }, expected, headers: challenge }
  })
  test.each(
    rows([
      withHeader('none', ''),
      withHeader('none, with a broken body', '', '{'),
      withHeader('a wrong key', basicHeader('demo', 'another-key')),
      withHeader('the key with more after it', basicHeader('demo', `${credentials.serverKey}\0`)),
      withHeader('an empty key', basicHeader('demo', '')),
      withHeader('an unknown project', basicHeader('nobody', credentials.serverKey)),
      withHeader('project and key the wrong way round', basicHeader(credentials.serverKey, 'demo')),
      withHeader('another scheme', `Bearer ${credentials.serverKey}`),
      withHeader('no base64', `Basic demo:${credentials.serverKey}`),
      withHeader('base64 of something without a colon', `Basic ${btoa('demo')}`)
    ])
  )('%s', async (_, row) => {
    await refuses(road.baseUrl, row)
    await refuses(road.baseUrl, { ...row, path: '/solana' })
  })

  test('a publishable key from a page that is not on its list: 403', async () => {
    const authorization = basicHeader('demo', clientKey)
    const expected = { reason: 'FORBIDDEN_ORIGIN', id: null } as const
    for (const headers of [{ authorization }, { authorization, origin: 'https://other.example' }]) {
      await refuses(road.baseUrl, {
        shows: '',
        init: { headers: headers as Record<string, string> },
        expected
      })
    }
    const allowed = await post(`${road.baseUrl}/evm-chain`, request(), { headers: { authorization, origin } })
    expect(allowed.status).toBe(200)
    expect(JSON.parse(allowed.text)).toHaveProperty('result')
  })
})

describe('chains and methods', () => {
  const unsupported = (supportedChainIds: number[]): ExpectedRefusal => ({
    ...{ reason: 'UNSUPPORTED_CHAIN', data: { supportedChainIds } }
  })
  const onlySolana = withSolana ? [solanaChainId] : []
  const badChain = { reason: 'INVALID_PARAMS', data: { path: '/chainId' } } as const
  const unknown = { reason: 'METHOD_NOT_FOUND' } as const
  test.each(
    rows([
      { shows: 'a chain nobody serves', body: request({ chainId: 1 }), expected: unsupported([evmChainId]) },
      {
        shows: 'the id of a Solana cluster on /evm-chain',
        body: request({ chainId: solanaChainId }),
        expected: unsupported([evmChainId])
      },
      {
        shows: 'the id of an EVM chain on /solana',
        path: '/solana',
        body: onSolana({ chainId: evmChainId }),
        expected: { ...unsupported(onlySolana), chainId: evmChainId }
      },
      ...[undefined, null, '31337', 1.5, -1, 2 ** 53, [31337]].map(chainId => ({
        shows: `the chainId ${JSON.stringify(chainId)}`,
        body: request({ chainId }),
        expected: badChain
      })),
      {
        shows: 'a chainId in the URL that is no number',
        path: '/evm-chain?chainId=0x7a69',
        body: request({ chainId: undefined }),
        expected: badChain
      },
      ...['svc_nope', 'getTransactionsByAddress', 'SVC_GETTOKENSANDNFTS', '__proto__', 'constructor', ''].map(
        method => ({ shows: `the method ${method}`, body: request({ method }), expected: unknown })
      ),
      {
        shows: 'a Solana method on /evm-chain',
        body: onSolana({ chainId: evmChainId }),
        expected: unknown
      },
      {
        shows: 'an EVM method on /solana',
        path: '/solana',
        body: request({ chainId: solanaChainId }),
        expected: { ...unknown, chainId: solanaChainId }
      },
      {
        shows: 'the prefix where none belongs',
        path: '/solana',
        body: onSolana({ method: 'svc_enhancedGetTokensAndNFTs' }),
        expected: { ...unknown, chainId: solanaChainId }
      }
    ])
  )('%s', (_, row) => refuses(road.baseUrl, row))
})

describe('params', () => {
  const bad = (path: string, chainId?: number): ExpectedRefusal => ({
    ...{ reason: 'INVALID_PARAMS', data: { path } },
    ...(chainId === undefined ? {} : { chainId })
  })
  const evmRow = (shows: string, params: unknown, path: string, method = history): Row => ({
    ...{ shows, body: request({ method, params }), expected: bad(path) }
  })
  const solanaRow = (shows: string, params: unknown, path: string): Row => ({
    ...{ shows, path: '/solana', body: onSolana({ params }), expected: bad(path, solanaChainId) }
  })
  const hash = `0x${'12'.repeat(32)}`
  const addresses: [string, unknown][] = [
    ['no address', ''],
    ['nothing after 0x', '0x'],
    ['19 bytes', someAddress.slice(0, 40)],
    ['20 bytes and a half', `${someAddress}0`],
    ['no 0x', someAddress.slice(2)],
    ['0X', someAddress.replace('0x', '0X')],
    ['a letter that is no digit', `${someAddress.slice(0, 41)}g`],
    ['a space around', ` ${someAddress}`],
    ['a line end after', `${someAddress}\n`],
    ['a number', 0x42],
    ['null', null],
    ['an object', { address: someAddress }],
    ['a name', 'vitalik.eth'],
    ['a Solana account', someAccount]
  ]
  const holdings = 'svc_getTokensAndNFTs'
  test.each(
    rows([
      ...addresses.flatMap(([shows, address]) => [
        evmRow(`history of: ${shows}`, [address], '/params/0'),
        evmRow(`holdings of: ${shows}`, [address], '/params/0', holdings),
        evmRow(`holdings in: ${shows}`, [someAddress, [someAddress, address]], '/params/1/1', holdings)
      ]),
      evmRow('history: params by name', { address: someAddress }, '/params'),
      evmRow('history: none', [], '/params'),
      evmRow('history: one too many', [someAddress, {}, 1], '/params'),
      evmRow('history: options that are null', [someAddress, null], '/params/1'),
      evmRow('history: options that are a list', [someAddress, []], '/params/1'),
      evmRow('history: limit 0', [someAddress, { limit: 0 }], '/params/1/limit'),
      evmRow('history: limit 1001', [someAddress, { limit: 1001 }], '/params/1/limit'),
      evmRow('history: half a record', [someAddress, { limit: 1.5 }], '/params/1/limit'),
      evmRow('history: limit as text', [someAddress, { limit: '5' }], '/params/1/limit'),
      evmRow('history: before nothing', [someAddress, { before: null }], '/params/1/before'),
      evmRow('history: before half a hash', [someAddress, { before: hash.slice(0, 60) }], '/params/1/before'),
      evmRow('history: before a hash nobody knows', [someAddress, { before: hash }], '/params/1/before'),
      evmRow('history: an unknown option', [someAddress, { offset: 1 }], '/params/1/offset'),
      evmRow('holdings: none', [], '/params', holdings),
      evmRow('holdings: a list that is an address', [someAddress, someAddress], '/params/1', holdings),
      evmRow('holdings: 101 contracts', [someAddress, Array(101).fill(someAddress)], '/params/1', holdings),
      evmRow('holdings: one too many', [someAddress, [], 1], '/params', holdings),
      evmRow('sync status: params', [1], '/params', 'svc_getSyncStatus')
    ])
  )('%s', (_, row) => refuses(road.baseUrl, row))

  const accounts: [string, unknown][] = [
    ['no account', ''],
    ['an EVM address', someAddress],
    ['31 characters', someAccount.slice(0, 31)],
    ['45 characters', `${someAccount}2`],
    ['a character base58 does not have', `0${someAccount.slice(1)}`],
    ['44 characters that are 33 bytes', 'z'.repeat(44)],
    ['33 characters that are 33 bytes', '1'.repeat(33)],
    ['32 characters that are 24 bytes', '2'.repeat(32)],
    ['a space around', `${someAccount} `],
    ['a number', 7],
    ['null', null]
  ]
  test
    .skipIf(!withSolana)
    .each(
      rows([
        ...accounts.map(([shows, account]) => solanaRow(shows, [account], '/params/0')),
        ...accounts.map(([shows, accountAddress]) =>
          solanaRow(`form A: ${shows}`, [{ accountAddress }], '/params/0/accountAddress')
        ),
        solanaRow('params by name', { accountAddress: someAccount }, '/params'),
        solanaRow('none', [], '/params'),
        solanaRow('one too many', [someAccount, {}, {}], '/params'),
        solanaRow('form A without an account', [{}], '/params/0/accountAddress'),
        solanaRow(
          'an option that is no boolean',
          [someAccount, { parseMetadataUri: 'yes' }],
          '/params/1/parseMetadataUri'
        ),
        solanaRow('an unknown option', [someAccount, { parseUri: true }], '/params/1/parseUri'),
        solanaRow('options that are null', [someAccount, null], '/params/1'),
        solanaRow(
          'an option given twice',
          [{ accountAddress: someAccount, parseMetadataUri: true }, { parseMetadataUri: true }],
          '/params/0/parseMetadataUri'
        )
      ])
    )('of Solana: %s', (_, row) => refuses(road.baseUrl, row))

  test('a waiting transaction is no place to go on from', async () => {
    const before = evmTransaction(devnet.evm!.world, 'pending transfer').hash
    await refuses(road.baseUrl, evmRow('', [someAddress, { before }], '/params/1/before'))
  })
})

test('nothing of all this was answered or logged with a key in it', async () => {
  expect(told.length).toBeGreaterThan(100)
  expect(road.logLines.length).toBeGreaterThan(100)
  const metrics = await (await fetch(`${road.server.operatorUrl}/metrics`)).text()
  for (const text of [...told, ...road.logLines, metrics]) {
    for (const key of [credentials.serverKey, clientKey]) expectNoSecret(text, key)
  }
})
