import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { errorExamples, examples } from './examples.ts'
import type { MethodName } from './methodTypes.ts'
import {
  checkBatch,
  checkFailure,
  checkParams,
  checkRequest,
  checkResult,
  checkSuccess,
  type Mistake
} from './validators.ts'

const evm = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
const hash = '0x301657f8691004172b756e198a680f1e38065899b74f41175dde206071c17008'
const solana = '6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe'
const said = (mistake: Mistake | undefined) => mistake && `${mistake.path} ${mistake.message}`

describe('params that fit', () => {
  it.each<[MethodName, unknown[]]>([
    ['svc_getTransactionsByAddress', [evm]],
    ['svc_getTransactionsByAddress', [evm.toLowerCase()]],
    ['svc_getTransactionsByAddress', [`0x${evm.slice(2).toUpperCase()}`]],
    ['svc_getTransactionsByAddress', [evm, {}]],
    ['svc_getTransactionsByAddress', [evm, { limit: 1 }]],
    ['svc_getTransactionsByAddress', [evm, { limit: 1000, before: hash }]],
    ['svc_getTransactionsByAddress', [evm, { before: hash }]],
    ['svc_getTokensAndNFTs', [evm]],
    ['svc_getTokensAndNFTs', [evm, []]],
    ['svc_getTokensAndNFTs', [evm, Array.from({ length: 100 }, () => evm)]],
    ['enhancedGetTokensAndNFTs', [{ accountAddress: solana }]],
    ['enhancedGetTokensAndNFTs', [solana]],
    ['enhancedGetTokensAndNFTs', [solana, {}]],
    ['enhancedGetTokensAndNFTs', [solana, { parseMetadataUri: true }]],
    ['enhancedGetTokensAndNFTs', [{ accountAddress: solana, parseMetadataUri: false }]],
    ['enhancedGetTokensAndNFTs', [{ accountAddress: solana }, { parseMetadataUri: true }]],
    ['enhancedGetTokensAndNFTs', [{ accountAddress: solana }, { options: { parseMetadataUri: true } }]],
    ['enhancedGetTokensAndNFTs', [{ accountAddress: solana }, { options: {} }]],
    ['svc_getSyncStatus', []],
    ['rpc.discover', []]
  ])('%s accepts %j', (method, params) => {
    expect(checkParams(method, params)).toBeUndefined()
  })
})

describe('params that do not fit', () => {
  const address = 'must be a 20-byte address: 0x and 40 hexadecimal digits'
  const publicKey = 'must be a base58 public key of 32 to 44 characters'
  const ofEvm = '. This looks like an address of an EVM chain: those are asked for at /evm-chain'
  it.each<[MethodName, unknown, string]>([
    ['svc_getTransactionsByAddress', undefined, '/params must be an array'],
    ['svc_getTransactionsByAddress', { address: evm }, '/params must be an array'],
    ['svc_getTransactionsByAddress', [], '/params must have at least 1 element'],
    ['svc_getTransactionsByAddress', [null], '/params/0 must be a string'],
    ['svc_getTransactionsByAddress', [evm.slice(0, -1)], `/params/0 ${address}`],
    ['svc_getTransactionsByAddress', [`${evm}\n`], `/params/0 ${address}`],
    ['svc_getTransactionsByAddress', [evm.slice(2)], `/params/0 ${address}`],
    [
      'svc_getTransactionsByAddress',
      [solana],
      `/params/0 ${address}. This looks like an address on Solana: those are asked for at /solana`
    ],
    [
      'svc_getTransactionsByAddress',
      ['vitalik.eth'],
      `/params/0 ${address}; got "vitalik.eth". ENS names have to be resolved first`
    ],
    [
      'enhancedGetTokensAndNFTs',
      ['toly.sol'],
      `/params/0 ${publicKey}; got "toly.sol". Names have to be resolved first`
    ],
    ['svc_getTransactionsByAddress', [`${'a'.repeat(200)}.eth`], `/params/0 ${address}`],
    [
      'svc_getTransactionsByAddress',
      [evm, { limti: 5 }],
      '/params/1/limti is not a known member; the nearest is "limit"'
    ],
    [
      'enhancedGetTokensAndNFTs',
      [{ acountAdress: solana }],
      '/params/0/accountAddress is missing; "acountAdress" is not a known member'
    ],
    ['svc_getTransactionsByAddress', [evm, { page: 2 }], '/params/1/page is not a known member'],
    ['svc_getTransactionsByAddress', [evm, null], '/params/1 must be an object'],
    ['svc_getTransactionsByAddress', [evm, [hash]], '/params/1 must be an object'],
    ['svc_getTransactionsByAddress', [evm, { limit: 0 }], '/params/1/limit must be at least 1'],
    ['svc_getTransactionsByAddress', [evm, { limit: 1001 }], '/params/1/limit must be at most 1000'],
    ['svc_getTransactionsByAddress', [evm, { limit: 1.5 }], '/params/1/limit must be an integer'],
    ['svc_getTransactionsByAddress', [evm, { limit: '5' }], '/params/1/limit must be an integer'],
    [
      'svc_getTransactionsByAddress',
      [evm, { before: evm }],
      '/params/1/before must be a 32-byte hash: 0x and 64 hexadecimal digits'
    ],
    [
      'svc_getTransactionsByAddress',
      [evm, { include: ['transfers', 'logs'] }],
      '/params/1/include/1 must be one of ["transfers","internal","operations"]'
    ],
    ['svc_verifyHistory', [evm, {}, {}], '/params must have at most 2 elements'],
    ['svc_getTransactionsByAddress', [evm, { 'a/b~c': 1 }], '/params/1/a~1b~0c is not a known member'],
    [
      'svc_getTransactionsByAddress',
      [evm, JSON.parse('{"__proto__":{}}')],
      '/params/1/__proto__ is not a known member'
    ],
    [
      'svc_getTransactionsByAddress',
      [evm, { constructor: 1 }],
      '/params/1/constructor is not a known member'
    ],
    ['svc_getTransactionsByAddress', [evm, {}, 1], '/params must have at most 2 elements'],
    ['svc_getTokensAndNFTs', [evm, evm], '/params/1 must be an array'],
    ['svc_getTokensAndNFTs', [evm, [evm, '0x']], `/params/1/1 ${address}`],
    ['svc_getTokensAndNFTs', [evm, [evm, 5]], '/params/1/1 must be a string'],
    [
      'svc_getTokensAndNFTs',
      [evm, Array.from({ length: 101 }, () => evm)],
      '/params/1 must have at most 100 elements'
    ],
    ['enhancedGetTokensAndNFTs', [], '/params must have at least 1 element'],
    ['enhancedGetTokensAndNFTs', [1], '/params/0 must be a string'],
    ['enhancedGetTokensAndNFTs', [evm], `/params/0 ${publicKey}${ofEvm}`],
    ['enhancedGetTokensAndNFTs', [{}], '/params/0/accountAddress is missing'],
    ['enhancedGetTokensAndNFTs', [{ accountAddress: evm }], `/params/0/accountAddress ${publicKey}${ofEvm}`],
    [
      'enhancedGetTokensAndNFTs',
      [{ accountAddress: solana, commitment: 1 }],
      '/params/0/commitment is not a known member'
    ],
    [
      'enhancedGetTokensAndNFTs',
      [solana, { parseMetadataUri: 1 }],
      '/params/1/parseMetadataUri must be a boolean'
    ],
    ['enhancedGetTokensAndNFTs', [solana, true], '/params/1 must be an object'],
    ['enhancedGetTokensAndNFTs', [solana, { options: {} }], '/params/1/options is not a known member'],
    [
      'enhancedGetTokensAndNFTs',
      [{ accountAddress: solana }, { parseMetadata: true }],
      '/params/1/parseMetadata is not a known member; the nearest is "parseMetadataUri"'
    ],
    [
      'enhancedGetTokensAndNFTs',
      [{ accountAddress: solana }, { options: { parseMetadataUri: 'yes' } }],
      '/params/1/options/parseMetadataUri must be a boolean'
    ],
    [
      'enhancedGetTokensAndNFTs',
      [{ accountAddress: solana, parseMetadataUri: true }, {}],
      '/params/0/parseMetadataUri is not a known member'
    ],
    ['enhancedGetTokensAndNFTs', [solana, {}, {}], '/params must have at most 2 elements'],
    ['svc_getSyncStatus', [1], '/params must have at most 0 elements'],
    ['rpc.discover', {}, '/params must be an array']
  ])('%s refuses %j: %s', (method, params, mistake) => {
    expect(said(checkParams(method, params))).toBe(mistake)
  })
})

describe('requests', () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'm', chainId: 1, params: [] }

  it.each([
    ['as documented', request],
    ['without id', { jsonrpc: '2.0', method: 'm', chainId: 1, params: [] }],
    ['without chainId', { jsonrpc: '2.0', id: 1, method: 'm', params: [] }],
    ['with the largest id', { ...request, id: Number.MAX_SAFE_INTEGER }],
    ['with the smallest id', { ...request, id: Number.MIN_SAFE_INTEGER }],
    ['with a string id of 256 characters outside the basic plane', { ...request, id: '😀'.repeat(256) }],
    ['with further members', { ...request, traceparent: 'x' }]
  ])('%s are accepted', (_, value) => {
    expect(checkRequest(value)).toBeUndefined()
  })

  const id = '/id must be an integer within ±(2^53-1), or a string of 1 to 256 characters'
  it.each<[string, unknown, string]>([
    ['null', null, ' must be an object'],
    ['an array', [], ' must be an object'],
    ['another protocol version', { ...request, jsonrpc: '1.0' }, '/jsonrpc must be "2.0"'],
    ['a numeric protocol version', { ...request, jsonrpc: 2 }, '/jsonrpc must be a string'],
    ['no method', { jsonrpc: '2.0', params: [] }, '/method is missing'],
    ['a method that is no name', { ...request, method: 1 }, '/method must be a string'],
    ['no params', { jsonrpc: '2.0', method: 'm' }, '/params is missing'],
    ['scalar params', { ...request, params: 'x' }, '/params must be an array'],
    ['null params', { ...request, params: null }, '/params must be an array'],
    ['a null id', { ...request, id: null }, '/id must be an integer or a string'],
    ['a fractional id', { ...request, id: 1.5 }, '/id must be an integer or a string'],
    ['an id beyond 2^53-1', { ...request, id: 2 ** 53 }, '/id must be at most 9007199254740991'],
    ['an empty id', { ...request, id: '' }, id],
    ['an id of 257 characters', { ...request, id: 'x'.repeat(257) }, id]
  ])('with %s are refused as INVALID_REQUEST', (_, value, mistake) => {
    expect(said(checkRequest(value))).toBe(mistake)
    expect(checkRequest(value)?.reason).toBe('INVALID_REQUEST')
  })

  it.each<[string, unknown, string]>([
    ['params by name', { ...request, params: {} }, '/params must be an array'],
    ['a chainId that is a string', { ...request, chainId: '1' }, '/chainId must be an integer'],
    ['a null chainId', { ...request, chainId: null }, '/chainId must be an integer'],
    ['a fractional chainId', { ...request, chainId: 1.5 }, '/chainId must be an integer'],
    [
      'a chainId beyond 2^53-1',
      { ...request, chainId: 2 ** 53 },
      '/chainId must be at most 9007199254740991'
    ],
    ['a negative chainId', { ...request, chainId: -1 }, '/chainId must be at least 0']
  ])('with %s are refused as INVALID_PARAMS', (_, value, mistake) => {
    expect(said(checkRequest(value))).toBe(mistake)
    expect(checkRequest(value)?.reason).toBe('INVALID_PARAMS')
  })

  it('form batches of 1 to 100 entries, whatever the entries are', () => {
    expect(said(checkBatch([]))).toBe(' must have at least 1 element')
    expect(checkBatch([null])).toBeUndefined()
    expect(checkBatch(Array.from({ length: 100 }))).toBeUndefined()
    expect(said(checkBatch(Array.from({ length: 101 })))).toBe(' must have at most 100 elements')
  })
})

describe('answers', () => {
  it('carry a result, and chainId at most', () => {
    expect(checkSuccess({ jsonrpc: '2.0', id: 'a', chainId: 103, result: null })).toBeUndefined()
    expect(said(checkSuccess({ jsonrpc: '2.0', id: 1 }))).toBe('/result is missing')
    expect(said(checkSuccess({ jsonrpc: '2.0', id: null, result: 1 }))).toBe(
      '/id must be an integer or a string'
    )
    expect(said(checkSuccess({ jsonrpc: '2.0', id: 1, result: 1, error: {} }))).toBe(
      '/error is not a known member'
    )
  })

  it.each(Object.entries(errorExamples))('of the case %s are failures as the table says', (_, answer) => {
    expect(checkFailure(answer)).toBeUndefined()
  })

  it('that fail otherwise than the table says are found out', () => {
    const { error, ...envelope } = errorExamples.INVALID_PARAMS
    const changed = (change: object) => said(checkFailure({ ...envelope, error: { ...error, ...change } }))
    expect(changed({ code: -32600 })).toBe('/error/code must be -32602')
    expect(changed({ message: 'Bad' })).toBe('/error/message must be "Invalid params"')
    expect(changed({ data: undefined })).toBe('/error/data is missing')
    expect(changed({ data: { ...error.data, reason: 'ODD' } })).toBe(
      '/error/data/reason is not in the error table'
    )
    expect(changed({ data: { reason: 'INVALID_PARAMS', extraMessage: '' } })).toBe(
      '/error/data/path is missing'
    )
    expect(changed({ data: { ...error.data, stack: '' } })).toBe('/error/data/stack is not a known member')
  })
})

describe('results', () => {
  const cases = Object.entries(examples).flatMap(([method, list]) =>
    list.map(example => [method as MethodName, example.name, example] as const)
  )

  it.each(cases)('%s: the example "%s" fits, params and result', (method, _, example) => {
    expect(checkParams(method, example.params)).toBeUndefined()
    expect(checkResult(method, example.result)).toBeUndefined()
  })

  const history = 'svc_getTransactionsByAddress'
  const [pending, queued, confirmed, creation, failed] = examples[history][0]!.result

  it.each<[string, object, string]>([
    ['a pending record with fees', { ...pending, fees: '0x0' }, '/0/fees is not a known member'],
    [
      'a pending fee-market record with gasPrice',
      { ...pending, gasPrice: '0x1' },
      '/0/gasPrice must be absent here'
    ],
    ['a pending legacy record without gasPrice', without(queued!, 'gasPrice'), '/0/gasPrice is missing'],
    [
      'a legacy record with an access list',
      { ...failed, accessList: [] },
      '/0/accessList must be absent here'
    ],
    [
      'a fee-market record without maxFeePerGas',
      without(confirmed!, 'maxFeePerGas'),
      '/0/maxFeePerGas is missing'
    ],
    [
      'a fee-market record with blobs',
      { ...confirmed, maxFeePerBlobGas: '0x1' },
      '/0/maxFeePerBlobGas must be absent here'
    ],
    ['a confirmed record without gasSpent', without(confirmed!, 'gasSpent'), '/0/gasSpent is missing'],
    [
      'a failed creation with contractAddress',
      { ...creation, status: 4 },
      '/0/contractAddress must be absent here'
    ],
    ['a call with contractAddress', { ...creation, to: evm }, '/0/contractAddress must be absent here'],
    ['status 2', { ...confirmed, status: 2 }, '/0/status must be one of [3,4]'],
    ['a null receiver', { ...confirmed, to: null }, '/0/to must be a string'],
    [
      'a padded quantity',
      { ...confirmed, fees: '0x0a' },
      '/0/fees must be an unsigned integer as minimal 0x-hex'
    ]
  ])('%s is refused', (_, record, mistake) => {
    expect(said(checkResult(history, [record]))).toBe(mistake)
  })

  it('a record of a network-specific type needs no fee members', () => {
    const bare = without(without(without(confirmed!, 'accessList'), 'maxFeePerGas'), 'maxPriorityFeePerGas')
    expect(checkResult(history, [{ ...bare, type: 126 }])).toBeUndefined()
    expect(said(checkResult(history, [bare]))).toBe('/0/accessList is missing')
  })

  it('a record of blobs needs no blob fields, since older servers did not store them', () => {
    const bare = { ...confirmed!, type: 3 }
    expect(checkResult(history, [bare])).toBeUndefined()
    const blobs = { maxFeePerBlobGas: '0x1', blobVersionedHashes: [confirmed!.hash] }
    expect(checkResult(history, [{ ...bare, ...blobs }])).toBeUndefined()
  })

  it('64-bit integers may exceed what a number holds exactly', () => {
    const { result } = examples.enhancedGetTokensAndNFTs[0]!
    const largest = JSON.parse('18446744073709551615')
    expect(checkResult('enhancedGetTokensAndNFTs', { ...result, lamports: largest })).toBeUndefined()
    expect(said(checkResult('enhancedGetTokensAndNFTs', { ...result, lamports: 1.5 }))).toBe(
      '/lamports must be an integer'
    )
  })

  it('an empty list of incomplete entries is refused, because it is absent then', () => {
    const { result } = examples.svc_getTokensAndNFTs[0]!
    expect(said(checkResult('svc_getTokensAndNFTs', { ...result, incomplete: [] }))).toBe(
      '/incomplete must have at least 1 element'
    )
  })
})

it('the generated validators need no module, no eval and no require', () => {
  for (const name of ['paramsValidators', 'resultValidators']) {
    const source = readFileSync(new URL(`generated/${name}.gen.ts`, import.meta.url), 'utf8')
    expect(source).not.toMatch(/\brequire\b|^import |\beval\b|new Function/m)
  }
})

function without(record: object, name: string): object {
  return Object.fromEntries(Object.entries(record).filter(([key]) => key !== name))
}
