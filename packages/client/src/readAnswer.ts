import { ProtocolError, type RpcError, TransportError } from './errors.ts'
import { parseRetryAfter } from './parseRetryAfter.ts'
import type { Redact } from './redact.ts'
import { isErrorObject, isRetryableStatus, toRpcError } from './toRpcError.ts'
import type { HttpResponse } from './transport.ts'

/** The question that an answer must belong to. */
export interface Asked {
  readonly id: number
  /** Wire name, for messages. */
  readonly method: string
  readonly redact: Redact
}

/**
 * The result in the answer to one request.
 *
 * @throws {RpcError} The service said no.
 * @throws {TransportError} `HTTP`: something else said no.
 * @throws {ProtocolError} Status 200, but no answer to this request.
 */
export function readAnswer(response: HttpResponse, asked: Asked): unknown {
  if (response.status !== 200) throw refusal(response, asked)
  const answer = parseAnswer(response, asked)
  const broken = (reason: string, what: string) => new ProtocolError(reason, `${asked.method}: ${what}`, 200)

  if (!isObject(answer)) throw broken('NOT_AN_OBJECT', 'one request was not answered by one JSON object')
  if (answer.jsonrpc !== '2.0') throw broken('WRONG_VERSION', 'the answer is not JSON-RPC 2.0')
  const failed = 'error' in answer
  // A request that the server could not read is answered without its id.
  if (answer.id !== asked.id && !(failed && answer.id === null)) {
    throw broken('WRONG_ID', 'the answer carries the id of another request')
  }
  if (failed && 'result' in answer) throw broken('RESULT_AND_ERROR', 'the answer holds a result and an error')
  if (failed) {
    if (!isErrorObject(answer.error)) throw broken('MALFORMED_ERROR', 'the error has no code or no message')
    throw rpcError(answer.error, response, asked)
  }
  if (!('result' in answer)) throw broken('NO_RESULT', 'the answer holds neither a result nor an error')
  return answer.result
}

function parseAnswer({ text, contentType, status }: HttpResponse, asked: Asked): unknown {
  if (text.trim() === '')
    throw new ProtocolError('EMPTY_BODY', `${asked.method}: the answer is empty`, status)
  const answer = parseJson(text)
  if (answer !== undefined) return answer
  // Only the media type is shown: a page may repeat the request, its headers included.
  const mediaType = asked.redact(/^[\w.+-]+\/[\w.+-]+/.exec(contentType ?? '')?.[0] ?? 'unknown type')
  throw new ProtocolError('NOT_JSON', `${asked.method}: the answer is not JSON (${mediaType})`, status)
}

function refusal(response: HttpResponse, asked: Asked): RpcError | TransportError {
  const answer = parseJson(response.text)
  if (isObject(answer) && isErrorObject(answer.error)) return rpcError(answer.error, response, asked)
  const { status } = response
  return new TransportError(`${asked.method}: HTTP status ${status} without a JSON-RPC error`, {
    code: 'HTTP',
    reason: `STATUS_${status}`,
    status,
    retryable: isRetryableStatus(status),
    retryAfterMs: parseRetryAfter(response.retryAfter)
  })
}

function rpcError(error: Parameters<typeof toRpcError>[0], response: HttpResponse, asked: Asked): RpcError {
  return toRpcError(error, {
    method: asked.method,
    status: response.status,
    retryAfterMs: parseRetryAfter(response.retryAfter),
    redact: asked.redact
  })
}

/** `undefined` for what is not JSON; JSON itself has no such value. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The message of a syntax error quotes the text.
    return undefined
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
