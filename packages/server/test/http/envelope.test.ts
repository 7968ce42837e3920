import { StoreError } from '@chain-data/index'
import { openRpcDocument } from '@chain-data/protocol/document'
import { checkFailure } from '@chain-data/protocol/validators'
import { describe, expect, it } from 'vitest'
import { NodeContradictionError, NodeRpcError, NodeUnavailableError } from '../../src/platform/errors.ts'
import { Refusal } from '../../src/platform/refusal.ts'
import { ResultStream } from '../../src/server/methods/MethodContext.ts'
import { address, request, solanaAddress, startService, statusHandlers, statusOf } from './startService.ts'

const service = startService({
  handlers: statusHandlers
})

async function answerOf(path: string, body: string): Promise<Record<string, unknown>> {
  const response = await service.post(path, body)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/json')
  return (await response.json()) as Record<string, unknown>
}

async function failureOf(path: string, body: string) {
  const answer = await answerOf(path, body)
  expect(checkFailure(answer)).toBeUndefined()
  expect(answer).not.toHaveProperty('result')
  const { id, chainId, error } = answer as {
    id: unknown
    chainId?: number
    error: { code: number; data: Record<string, unknown> }
  }
  return { id, chainId, code: error.code, ...error.data }
}

describe('an answer', () => {
  it('of an EVM endpoint has no chainId, of Solana it has, errors alike', async () => {
    expect(await answerOf('/evm-chain', request('svc_getSyncStatus', []))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: statusOf(1)
    })
    expect(await answerOf('/solana', request('svc_getSyncStatus', [], { chainId: 103 }))).toEqual({
      jsonrpc: '2.0',
      id: 1,
      chainId: 103,
      result: statusOf(103)
    })
    expect(await failureOf('/evm-chain', request('svc_nothing', []))).not.toHaveProperty('chainId', 1)
    expect(await failureOf('/solana', request('svc_nothing', [], { chainId: 103 }))).toMatchObject({
      chainId: 103
    })
  })

  it.each(['7', '-9007199254740991', '1.0', '1e3', '"1"', '"a-uuid"'])(
    'repeats the id as it was written: %s',
    async id => {
      const body = `{"jsonrpc":"2.0","id":${id},"method":"svc_getSyncStatus","chainId":1,"params":[]}`
      const text = await (await service.post('/evm-chain', body)).text()
      expect(text.startsWith(`{"jsonrpc":"2.0","id":${id},"result":`)).toBe(true)
    }
  )

  it('has id 1 when the request has none', async () => {
    expect(await answerOf('/evm-chain', request('svc_getSyncStatus', [], { id: undefined }))).toHaveProperty(
      'id',
      1
    )
  })

  it('comes from a path with or without a trailing slash', async () => {
    expect(await answerOf('/evm-chain/', request('svc_getSyncStatus', []))).toHaveProperty('result')
  })

  it('takes the chain from the URL when the body has none; the body wins', async () => {
    const bare = request('svc_getSyncStatus', [], { chainId: undefined })
    expect(await answerOf('/evm-chain?chainId=31337', bare)).toHaveProperty('result.chainId', 31337)
    expect(await answerOf('/evm-chain?chainId=31337', request('svc_getSyncStatus', []))).toHaveProperty(
      'result.chainId',
      1
    )
    expect(await answerOf('/solana?chainId=103', bare)).toMatchObject({
      chainId: 103,
      result: { chainId: 103 }
    })
  })

  it('takes no chain from a URL that names two', async () => {
    const bare = request('svc_getSyncStatus', [], { chainId: undefined })
    expect(await answerOf('/evm-chain?chainId=1&chainId=31337', bare)).toMatchObject({
      error: { code: -32602, data: { path: '/chainId' } }
    })
  })

  it('keeps every digit of a large integer', async () => {
    const wide = startService({
      handlers: { enhancedGetTokensAndNFTs: async () => ({ lamports: 2n ** 64n - 1n, nfts: [], tokens: [] }) }
    })
    const text = await (
      await wide.post('/solana', request('enhancedGetTokensAndNFTs', [solanaAddress], { chainId: 101 }))
    ).text()
    expect(text).toBe(
      '{"jsonrpc":"2.0","id":1,"chainId":101,"result":{"lamports":18446744073709551615,"nfts":[],"tokens":[]}}'
    )
  })

  it('is under the host’s method prefix, which the discovery method and Solana’s never carry', async () => {
    const prefixed = startService({
      methodPrefix: 'acme_',
      handlers: { svc_getSyncStatus: async () => statusOf(1) }
    })
    const reasonOf = async (method: string) => {
      const answer = (await (await prefixed.post('/evm-chain', request(method, []))).json()) as {
        error?: { data: { reason: string } }
      }
      return answer.error?.data.reason
    }
    expect(await reasonOf('acme_getSyncStatus')).toBeUndefined()
    expect(await reasonOf('svc_getSyncStatus')).toBe('METHOD_NOT_FOUND')
    expect(await reasonOf('rpc.discover')).toBeUndefined()
    expect(await reasonOf('acme_rpc.discover')).toBe('METHOD_NOT_FOUND')
  })

  it('of rpc.discover needs no chain', async () => {
    const response = await startService().post('/solana', request('rpc.discover', [], { chainId: undefined }))
    expect(await response.json()).toEqual({
      jsonrpc: '2.0',
      id: 1,
      result: openRpcDocument
    })
  })
})

describe('a body that is no request', () => {
  it.each([
    ['nothing', ''],
    ['a broken object', '{"jsonrpc":"2.0"'],
    ['a trailing comma', '[1,]'],
    ['NaN', '{"id":NaN}'],
    ['a byte order mark', `\uFEFF${request('svc_getSyncStatus', [])}`],
    ['two values', '{} {}']
  ])('is -32700 when it is not JSON: %s', async (_what, body) => {
    expect(await failureOf('/evm-chain', body)).toMatchObject({
      id: null,
      code: -32700,
      reason: 'PARSE_ERROR'
    })
  })

  it('is -32700 when it is not UTF-8', async () => {
    const response = await service.post(
      '/evm-chain',
      Buffer.concat([Buffer.from('"'), Buffer.from([0xff]), Buffer.from('"')])
    )
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32700 } })
  })

  const whole = { jsonrpc: '2.0', id: 5, method: 'svc_getSyncStatus', chainId: 1, params: [] }
  it.each<[string, unknown, unknown, string]>([
    ['a number', 7, null, ''],
    ['null', null, null, ''],
    ['a text', 'x', null, ''],
    ['no members', {}, 1, '/jsonrpc'],
    ['another version', { ...whole, jsonrpc: '1.0' }, 5, '/jsonrpc'],
    ['the version as number', { ...whole, jsonrpc: 2.0 }, 5, '/jsonrpc'],
    ['no method', { ...whole, method: undefined }, 5, '/method'],
    ['a method that is no text', { ...whole, method: 7 }, 5, '/method'],
    ['no params', { ...whole, params: undefined }, 5, '/params'],
    ['params as text', { ...whole, params: 'x' }, 5, '/params'],
    ['an id of null', { ...whole, id: null }, null, '/id'],
    ['a fraction as id', { ...whole, id: 1.5 }, null, '/id'],
    ['a list as id', { ...whole, id: [1] }, null, '/id'],
    ['an empty id', { ...whole, id: '' }, null, '/id'],
    ['a very long id', { ...whole, id: 'x'.repeat(257) }, null, '/id']
  ])('is -32600 with the path of the mistake: %s', async (_what, body, id, path) => {
    expect(await failureOf('/evm-chain', JSON.stringify(body))).toMatchObject({
      id,
      code: -32600,
      reason: 'INVALID_REQUEST',
      path
    })
  })

  it('is -32600 with id null when the id would be rounded', async () => {
    const body =
      '{"jsonrpc":"2.0","id":12345678901234567890,"method":"svc_getSyncStatus","chainId":1,"params":[]}'
    expect(await failureOf('/evm-chain', body)).toMatchObject({ id: null, code: -32600, path: '/id' })
  })

  it('is -32600 when it is nested too deep, however deep', async () => {
    const reasons = [65, 100_000].map(depth => failureOf('/evm-chain', '['.repeat(depth) + ']'.repeat(depth)))
    for (const failure of await Promise.all(reasons))
      expect(failure).toMatchObject({ id: null, reason: 'INVALID_REQUEST' })
  })
})

describe('a call that names the wrong thing', () => {
  it.each([
    'svc_getBalance',
    'getSyncStatus',
    '',
    'toString',
    '__proto__',
    'constructor',
    'hasOwnProperty',
    'SVC_GETSYNCSTATUS'
  ])('is -32601 for a method that is none: %j', async method => {
    expect(await failureOf('/evm-chain', request(method, []))).toMatchObject({
      id: 1,
      code: -32601,
      reason: 'METHOD_NOT_FOUND'
    })
  })

  it('is -32601 for a method of the other endpoint', async () => {
    expect(await failureOf('/evm-chain', request('enhancedGetTokensAndNFTs', [solanaAddress]))).toMatchObject(
      { code: -32601 }
    )
    expect(
      await failureOf('/solana', request('svc_getTokensAndNFTs', [address], { chainId: 101 }))
    ).toMatchObject({ code: -32601 })
  })

  it('is -32001 with the chains there are, for the id of the other endpoint too', async () => {
    const supported = { '/evm-chain': [1, 31337], '/solana': [101, 103] }
    for (const [path, chainId] of [
      ['/evm-chain', 5],
      ['/evm-chain', 103],
      ['/solana', 1],
      ['/solana', 0]
    ] as const) {
      const failure = await failureOf(path, request('svc_getSyncStatus', [], { chainId }))
      expect(failure).toMatchObject({
        code: -32001,
        reason: 'UNSUPPORTED_CHAIN',
        supportedChainIds: supported[path]
      })
    }
  })

  it.each<[string, string, Record<string, unknown>]>([
    ['is missing', '/evm-chain', { chainId: undefined }],
    ['is a text', '/evm-chain', { chainId: '1' }],
    ['is null', '/evm-chain', { chainId: null }],
    ['is a fraction', '/evm-chain', { chainId: 1.5 }],
    ['is a list', '/evm-chain', { chainId: [1] }],
    ['is negative', '/evm-chain', { chainId: -1 }],
    ['is negative on Solana', '/solana', { chainId: -1 }],
    ['is no number in the URL', '/evm-chain?chainId=one', { chainId: undefined }],
    ['is empty in the URL', '/evm-chain?chainId=', { chainId: undefined }]
  ])('is -32602 when the chainId %s', async (_what, path, change) => {
    const failure = await failureOf(path, request('svc_getSyncStatus', [], change))
    expect(failure).toMatchObject({ code: -32602, reason: 'INVALID_PARAMS', path: '/chainId' })
  })

  it('is never answered for a chain that its digits do not name', async () => {
    for (const chainId of ['1.00000000000000000001', '0.99999999999999999999', '18446744073709551617']) {
      const body = `{"jsonrpc":"2.0","id":1,"method":"svc_getSyncStatus","chainId":${chainId},"params":[]}`
      expect(await failureOf('/evm-chain', body)).toMatchObject({ path: '/chainId' })
    }
  })

  it.each<[string, unknown, string]>([
    ['svc_getTransactionsByAddress', {}, '/params'],
    ['svc_getTransactionsByAddress', { address }, '/params'],
    ['svc_getTransactionsByAddress', [], '/params'],
    ['svc_getTransactionsByAddress', [7], '/params/0'],
    ['svc_getTransactionsByAddress', ['0x1'], '/params/0'],
    ['svc_getTransactionsByAddress', [`${address}\n`], '/params/0'],
    ['svc_getTransactionsByAddress', [address, null], '/params/1'],
    ['svc_getTransactionsByAddress', [address, { limit: 0 }], '/params/1/limit'],
    ['svc_getTransactionsByAddress', [address, { limit: 1001 }], '/params/1/limit'],
    ['svc_getTransactionsByAddress', [address, { limit: '1' }], '/params/1/limit'],
    ['svc_getTransactionsByAddress', [address, { before: '0x1' }], '/params/1/before'],
    ['svc_getTransactionsByAddress', [address, { befor: 1 }], '/params/1/befor'],
    ['svc_getTransactionsByAddress', [address, {}, 1], '/params'],
    ['svc_getTokensAndNFTs', [address, address], '/params/1'],
    ['svc_getTokensAndNFTs', [address, ['0x']], '/params/1/0'],
    ['svc_getTokensAndNFTs', [address, Array(101).fill(address)], '/params/1'],
    ['svc_getSyncStatus', [1], '/params']
  ])('is -32602 with the path of the mistake: %s %j', async (method, params, path) => {
    expect(await failureOf('/evm-chain', request(method, params))).toMatchObject({
      code: -32602,
      reason: 'INVALID_PARAMS',
      path
    })
  })

  it.each<[unknown[], string]>([
    [[], '/params'],
    [['0OIl'.repeat(10)], '/params/0'],
    [[{}], '/params/0/accountAddress'],
    [[{ accountAddress: 1 }], '/params/0/accountAddress'],
    [[solanaAddress, { parseMetadataUri: 'yes' }], '/params/1/parseMetadataUri'],
    [[solanaAddress, { parseUri: true }], '/params/1/parseUri']
  ])('is -32602 for wrong Solana params: %j', async (params, path) => {
    const failure = await failureOf('/solana', request('enhancedGetTokensAndNFTs', params, { chainId: 101 }))
    expect(failure).toMatchObject({ code: -32602, chainId: 101, path })
  })

  it('repeats at most 100 characters of what was sent', async () => {
    const long = 'x'.repeat(10_000)
    const bodies = [
      request(long, []),
      request('svc_getTransactionsByAddress', [address, { [long]: 1 }]),
      request('svc_getSyncStatus', [], { id: long })
    ]
    for (const body of bodies) {
      const failure = await failureOf('/evm-chain', body)
      expect(JSON.stringify(failure)).not.toMatch(/x{101}/)
    }
  })
})

describe('a method that fails', () => {
  it.each<[string, Error, number, string]>([
    [
      'because of a silent node',
      new NodeUnavailableError('http://u:pw@node/key silent'),
      -32002,
      'UPSTREAM_UNAVAILABLE'
    ],
    ['because of a lying node', new NodeContradictionError('node lies'), -32002, 'UPSTREAM_UNAVAILABLE'],
    ['because the node refuses', new NodeRpcError('no', -32000, { a: 1 }), -32002, 'UPSTREAM_UNAVAILABLE'],
    ['because of its store', new StoreError('disk I/O error'), -32603, 'INTERNAL'],
    ['because of a bug', new TypeError('secret detail at /srv/x.ts'), -32603, 'INTERNAL'],
    ['because it is not synced', new Refusal('NOT_SYNCED', 'Chain 1 ...', { head: 9 }), -32002, 'NOT_SYNCED']
  ])('%s tells its case and nothing else', async (_what, error, code, reason) => {
    const failing = startService({
      handlers: {
        svc_getSyncStatus: async () => {
          throw error
        }
      }
    })
    const response = await failing.post('/evm-chain', request('svc_getSyncStatus', []))
    const text = await response.text()
    const answer = JSON.parse(text)
    expect(response.status).toBe(200)
    expect(checkFailure(answer)).toBeUndefined()
    expect(answer.error).toMatchObject({ code, data: { reason } })
    expect(text).not.toMatch(/pw|secret|srv|disk|stack/)
    if (reason !== 'INTERNAL') return
    const requestId = answer.error.data.requestId
    expect(requestId).toBe(response.headers.get('x-request-id'))
    const logged = failing.logLines
      .map(line => JSON.parse(line))
      .find(line => line.requestId === requestId && line.error)
    expect(logged.error.stack).toContain(error.message)
  })

  it('to answer in time is -32002, and is told to stop', async () => {
    let stopped: AbortSignal | undefined
    const slow = startService({
      limits: { requestDeadlineMs: 30 },
      handlers: {
        svc_getSyncStatus: (_params, { signal }) => {
          stopped = signal
          return new Promise(() => {})
        }
      }
    })
    const response = await slow.post('/evm-chain', request('svc_getSyncStatus', []))
    expect(await response.json()).toMatchObject({
      error: { code: -32002, data: { reason: 'UPSTREAM_UNAVAILABLE' } }
    })
    expect(stopped?.aborted).toBe(true)
  })

  it('lets go of a stream that comes after the deadline', async () => {
    let released = 0
    const slow = startService({
      limits: { requestDeadlineMs: 20 },
      handlers: {
        svc_getTransactionsByAddress: (_params, { signal }) =>
          new Promise(resolve => {
            const late = new ResultStream(
              (async function* () {
                yield []
              })(),
              async () => void released++
            )
            signal.addEventListener('abort', () => resolve(late))
          })
      }
    })
    const response = await slow.post('/evm-chain', request('svc_getTransactionsByAddress', [address]))
    expect(await response.json()).toMatchObject({ error: { code: -32002 } })
    await expect.poll(() => released).toBe(1)
  })

  it('may not answer more than the host allows', async () => {
    const bounded = startService({
      limits: { responseBytes: 50 },
      handlers: { svc_getSyncStatus: async () => statusOf(1) }
    })
    const response = await bounded.post('/evm-chain', request('svc_getSyncStatus', []))
    expect(await response.json()).toMatchObject({
      error: { code: -32003, data: { reason: 'RESPONSE_TOO_LARGE' } }
    })
  })
})

describe('a batch', () => {
  it('is answered in its order, each request by itself', async () => {
    const shuffled = startService({
      handlers: {
        svc_getSyncStatus: async (_params, { chainId = 0 }) => {
          // The first asked answers last.
          await new Promise(resolve => setTimeout(resolve, chainId === 1 ? 20 : 0))
          return statusOf(chainId)
        }
      }
    })
    const batch = [
      request('svc_getSyncStatus', [], { id: 'a' }),
      '7',
      request('svc_nothing', [], { id: 2 }),
      '{"jsonrpc":"2.0","id":3.0,"method":"svc_getSyncStatus","chainId":31337,"params":[]}',
      request('svc_getSyncStatus', [], { id: 9 })
    ]
    const text = await (await shuffled.post('/evm-chain', `[${batch.join()}]`)).text()
    expect(text).toContain('"id":3.0,')
    expect(JSON.parse(text)).toMatchObject([
      { id: 'a', result: { chainId: 1 } },
      { id: null, error: { code: -32600 } },
      { id: 2, error: { code: -32601 } },
      { id: 3, result: { chainId: 31337 } },
      { id: 9, result: { chainId: 1 } }
    ])
  })

  it('may have 100 requests', async () => {
    const one = request('svc_getSyncStatus', [])
    const answers = await answerOf('/evm-chain', `[${Array(100).fill(one).join()}]`)
    expect(answers).toHaveLength(100)
  })

  it.each([
    ['none', '[]'],
    ['101', `[${Array(101).fill(request('svc_getSyncStatus', [])).join()}]`]
  ])('is one -32600 when it has %s', async (_what, body) => {
    expect(await failureOf('/evm-chain', body)).toMatchObject({
      id: null,
      code: -32600,
      reason: 'INVALID_REQUEST'
    })
  })

  it('of nested batches is answered with one error each', async () => {
    const answers = await answerOf('/evm-chain', '[[],[[]]]')
    expect(answers).toMatchObject([
      { id: null, error: { code: -32600 } },
      { id: null, error: { code: -32600 } }
    ])
  })
})
