import type { EndpointPath, ErrorReason, MethodName, RpcFailure } from '@chain-data/protocol'
import { errors } from '@chain-data/protocol'
import { checkFailure, checkResult, checkSuccess } from '@chain-data/protocol/validators'
import { expect } from 'vitest'

export const credentials = { projectId: 'demo', serverKey: 'demo-server-key' }
export const evmChainId = 31337
export const solanaChainId = 103

/** The header of RFC 7617, made by hand: the client must not be the judge of itself. */
export function basicHeader(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`, 'utf8').toString('base64')}`
}

/** One HTTP answer as it came. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

/** Sends a body as it is; `init` replaces what is sent by default, `headers` one by one (`''` leaves one out). */
export async function post(url: string, body: string | Uint8Array<ArrayBuffer>, init: RequestInit = {}) {
  const headers = new Headers({
    authorization: basicHeader(credentials.projectId, credentials.serverKey),
    'content-type': 'application/json'
  })
  for (const [name, value] of Object.entries((init.headers ?? {}) as Record<string, string>)) {
    if (value === '') headers.delete(name)
    else headers.set(name, value)
  }
  const response = await fetch(url, { method: 'POST', body, ...init, headers })
  return { status: response.status, headers: response.headers, text: await response.text() }
}

/** A call as a caller writes it down. */
export interface Call {
  readonly endpoint?: EndpointPath
  readonly method: MethodName
  readonly chainId?: number
  readonly params: readonly unknown[]
  readonly id?: number | string
}

/** The request body of a call, the chain of its endpoint filled in. */
export function bodyOf({ endpoint = '/evm-chain', chainId, ...rest }: Call): string {
  const defaultChain = endpoint === '/solana' ? solanaChainId : evmChainId
  return JSON.stringify({ jsonrpc: '2.0', id: 1, chainId: chainId ?? defaultChain, ...rest })
}

/**
 * Makes a call that must succeed, as raw HTTP. Holds the answer to the generated validators and to the rules of the
 * envelope.
 *
 * @returns The result by `JSON.parse`, and the body's text for a look at exact digits.
 */
export async function succeed(baseUrl: string, call: Call): Promise<{ result: unknown; text: string }> {
  const { endpoint = '/evm-chain', method, id = 1 } = call
  const { status, headers, text } = await post(baseUrl + endpoint, bodyOf(call))
  expect(status, text).toBe(200)
  expect(headers.get('content-type')).toBe('application/json')
  const result = successResult(JSON.parse(text), { endpoint, method, id })
  return { result, text }
}

/** Holds one answer, alone or out of a batch, to what a success must look like. */
export function successResult(
  answer: unknown,
  { endpoint, method, id }: { endpoint: EndpointPath; method: MethodName; id: number | string }
): unknown {
  expect(answer).not.toHaveProperty('error')
  expect(checkSuccess(answer)).toBeUndefined()
  const { result, ...envelope } = answer as { result: unknown }
  const chain = endpoint === '/solana' ? { chainId: solanaChainId } : {}
  expect(envelope).toStrictEqual({ jsonrpc: '2.0', id, ...chain })
  expect(checkResult(method, result)).toBeUndefined()
  return result
}

/** What a refusal must be; absent members of `data` must be absent on the wire as well. */
export interface ExpectedRefusal {
  readonly reason: ErrorReason
  /** `error.data` without `reason` and `extraMessage`. Default: nothing more. */
  readonly data?: Readonly<Record<string, unknown>>
  /** Default 1. */
  readonly id?: number | string | null
  /** Of the answer's envelope; absent unless given. */
  readonly chainId?: number
}

/** Holds one answer to a refusal of the contract: validators, code, message, data and envelope, member by member. */
export function expectRefusal(answer: unknown, expected: ExpectedRefusal): RpcFailure {
  const { reason, data = {}, id = 1, chainId } = expected
  expect(checkFailure(answer)).toBeUndefined()
  const failure = answer as RpcFailure
  const { extraMessage } = failure.error.data
  expect(failure).toStrictEqual({
    jsonrpc: '2.0',
    id,
    ...(chainId === undefined ? {} : { chainId }),
    error: {
      code: errors[reason].code,
      message: errors[reason].message,
      data: { reason, extraMessage, ...data }
    }
  })
  expect(extraMessage.length).toBeGreaterThan(0)
  return failure
}
