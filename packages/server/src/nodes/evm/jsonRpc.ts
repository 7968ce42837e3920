import { NodeRpcError } from '../../platform/errors.ts'
import { readNodeMessage } from '../upstreams/errorWords.ts'
import type { UpstreamAnswer } from '../upstreams/httpUpstream.ts'
import { faultOfStatus, UpstreamError } from '../upstreams/upstreamError.ts'
import type { NodeCall, NodeOutcome } from './nodeCall.ts'

const maxMessageLength = 300

/**
 * Parses the body of an answer.
 * @returns the parsed body, whatever it is. A body that looks like JSON-RPC is returned under any HTTP status but 429,
 *   because some nodes answer execution errors with 400 or 500.
 * @throws {UpstreamError}
 */
export function readAnswer({ status, body, retryAfterMs }: UpstreamAnswer, name: string): unknown {
  let answer: unknown
  try {
    answer = JSON.parse(Buffer.concat(body).toString())
  } catch {
    answer = undefined
  }
  if (status >= 200 && status < 300) {
    if (answer !== undefined) return answer
    throw new UpstreamError(`${name} answered something that is not JSON`, 'malformed')
  }
  if (looksLikeJsonRpc(answer)) return answer
  throw new UpstreamError(`${name} answered HTTP ${status}`, faultOfStatus(status), {
    httpStatus: status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs })
  })
}

function looksLikeJsonRpc(answer: unknown): boolean {
  if (Array.isArray(answer)) return answer.length > 0 && answer.every(looksLikeJsonRpc)
  return typeof answer === 'object' && answer !== null && 'jsonrpc' in answer
}

/**
 * Reads one JSON-RPC response.
 * @returns `undefined` when `answer` is none.
 * @throws {UpstreamError} it asks to come back later.
 */
export function readOutcome(
  answer: unknown,
  { method }: NodeCall,
  { name, hide }: { readonly name: string; hide(text: string): string }
): NodeOutcome | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  if ('error' in answer && typeof answer.error === 'object' && answer.error !== null) {
    const { code, message, data } = answer.error as { code?: unknown; message?: unknown; data?: unknown }
    const rpcCode = typeof code === 'number' ? code : -32603
    // Not cut to its length first: half a key would not be recognised.
    const text =
      typeof message === 'string'
        ? hide(message.slice(0, 100 * maxMessageLength)).slice(0, maxMessageLength)
        : 'no message'
    const kind = readNodeMessage(rpcCode, text, data)
    if (kind === 'throttled' || kind === 'exhausted')
      throw new UpstreamError(`${name} limits the rate of calls (${rpcCode})`, kind)
    const context = { method, ...(kind === undefined ? {} : { nodeMessage: kind }) }
    return { ok: false, error: new NodeRpcError(`${method}: ${text} (${rpcCode})`, rpcCode, data, context) }
  }
  return 'result' in answer ? { ok: true, value: answer.result } : undefined
}

/** Returns the error's message; empty where there is no error. */
export function errorMessageOf(answer: unknown): string {
  const error = typeof answer === 'object' && answer !== null && 'error' in answer ? answer.error : undefined
  const message =
    typeof error === 'object' && error !== null && 'message' in error ? error.message : undefined
  return typeof message === 'string' ? message.slice(0, maxMessageLength) : ''
}

/** Returns the id of a response; NaN where there is none. */
export function idOf(answer: unknown): number {
  const id = typeof answer === 'object' && answer !== null && 'id' in answer ? answer.id : undefined
  return typeof id === 'number' || typeof id === 'string' ? Number(id) : Number.NaN
}
