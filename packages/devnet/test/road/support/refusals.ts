import { ChainDataClientError, RpcError } from '@chain-data/client'
import { errors } from '@chain-data/protocol'
import { expect } from 'vitest'
import {
  credentials,
  type ExpectedRefusal,
  evmChainId,
  expectRefusal,
  post,
  type RawAnswer,
  solanaChainId
} from './callService.ts'
import { expectNoSecret } from './expectNoSecret.ts'

/** Every refusal of the service in this test file: headers and bodies. */
export const told: string[] = []

/** One refused exchange. Members that are left out are those of a correct call of an EVM method. */
export interface Row {
  readonly shows: string
  readonly path?: string
  readonly body?: string | Uint8Array<ArrayBuffer>
  readonly init?: RequestInit
  readonly expected: ExpectedRefusal
  /** Headers beside the content type that the contract names. */
  readonly headers?: Readonly<Record<string, string>>
}

export const someAddress = '0x425249Cf0F2f91f488E24cF7B1AA3186748f7516'
export const someAccount = '6XU36wCxWobLx5Rtsb58kmgAJKVYmMVqy4SHXxENAyAe'
export const history = 'svc_getTransactionsByAddress'

/** A call of an EVM method as text; `undefined` takes a member away. */
export function request(change: Record<string, unknown> = {}): string {
  const correct = { jsonrpc: '2.0', id: 1, method: history, chainId: evmChainId, params: [someAddress] }
  return JSON.stringify({ ...correct, ...change })
}

export const onSolana = (change: Record<string, unknown> = {}) =>
  request({ method: 'enhancedGetTokensAndNFTs', chainId: solanaChainId, params: [someAccount], ...change })

/** Makes the exchange of a row and holds it to what the row expects. */
export async function refuses(baseUrl: string, row: Row): Promise<void> {
  const { path = '/evm-chain', body = request(), init = {}, expected, headers } = row
  const hasBody = init.method === undefined || !['GET', 'HEAD'].includes(init.method)
  const answer = await post(baseUrl + path, body, hasBody ? init : { ...init, body: null })
  checkRefusal(answer, expected, headers)
}

/** Holds an answer to a refusal: status and headers, then the body. */
export function checkRefusal(answer: RawAnswer, expected: ExpectedRefusal, headers: Row['headers'] = {}) {
  told.push(answer.text, JSON.stringify([...answer.headers]))
  expect(answer.status, answer.text).toBe(errors[expected.reason].httpStatus)
  expect(answer.headers.get('content-type')).toBe('application/json')
  for (const [name, value] of Object.entries(headers)) expect(answer.headers.get(name), name).toBe(value)
  return expectRefusal(JSON.parse(answer.text), expected)
}

/** For `test.each`: what a row shows becomes the title. */
export const rows = (list: Row[]) => list.map(row => [row.shows, row] as const)

/** What a client error must say; its class follows from `rpcCode`. */
export async function expectClientError(
  call: Promise<unknown>,
  expected: { reason: string; rpcCode: number; status: number; retryable: boolean },
  more: (error: RpcError) => void = () => {}
) {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown
  )
  expect(error).toBeInstanceOf(ChainDataClientError)
  expect(error).toBeInstanceOf(RpcError)
  const { code, reason, rpcCode, status, retryable } = error as RpcError
  expect({ code, reason, rpcCode, status, retryable }).toEqual({ code: 'RPC', ...expected })
  expectNoSecret(error, credentials.serverKey)
  more(error as RpcError)
}
