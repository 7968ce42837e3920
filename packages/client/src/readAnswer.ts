import type { Call } from './Call.ts'
import type { Int64Form } from './ClientOptions.ts'
import { type ChainDataClientError, ProtocolError, TransportError } from './errors.ts'
import { readExactJson } from './exactJson.ts'
import { parseRetryAfter } from './parseRetryAfter.ts'
import { redact } from './redact.ts'
import { isErrorObject, toRpcError } from './toRpcError.ts'
import type { HttpResponse } from './transport.ts'

/** The exchange that an answer belongs to. */
export interface Exchange {
  readonly isBatch: boolean
  readonly int64: Int64Form
  readonly origin: string
  readonly attempts: number
  /** `attempt 1 of 3`, for messages. */
  readonly count: string
  /** What the request was signed with. */
  readonly secrets: readonly string[]
}

type Envelope = Record<string, unknown>

/**
 * Gives each call of a request its value, or its error:
 *
 * - `RpcError`: the service said no, to this call or to the request as a whole;
 * - `TransportError` `HTTP`: something else said no;
 * - `ProtocolError`: status 200, but no answer to this call.
 */
export function readAnswer(
  { status, header }: HttpResponse,
  text: string,
  calls: readonly Call[],
  { isBatch, int64, origin, attempts, count, secrets }: Exchange
): void {
  const exchange = {
    origin,
    attempts,
    status,
    requestId: redact(header('x-request-id') ?? undefined, secrets) as string | undefined,
    retryable: /^(408|425|429|50[0234])$/.test(`${status}`),
    retryAfterMs: parseRetryAfter(header('retry-after'))
  }
  let plain: unknown
  try {
    plain = JSON.parse(text)
  } catch {
    // The message of a syntax error quotes the text; JSON has no undefined.
  }
  let exact: unknown

  for (const call of calls) {
    try {
      call.value = readFor(call)
      call.error = undefined
    } catch (error) {
      // The functions called here throw nothing else.
      call.error = error as ChainDataClientError
    }
  }

  function readFor(call: Call): unknown {
    const { id, method } = call
    const http = { ...exchange, method: call.name }
    const fail = (reason: string): never => {
      const facts = { ...http, code: 'PROTOCOL', reason, retryable: false } as const
      throw new ProtocolError(`no valid answer from ${origin} (${reason}, ${count})`, facts)
    }
    const is200 = status === 200
    const check = (met: unknown, reason: string) => is200 && !met && fail(reason)
    let answer = plain
    if (isBatch && Array.isArray(plain)) {
      const entries = plain.filter(entry => entry?.id === id)
      check(entries.length, 'MISSING_ENTRY')
      check(entries.length < 2, 'DUPLICATE_ENTRY')
      answer = entries[0]
    }
    const { jsonrpc, id: given, result, error } = Object(answer) as Envelope
    const failed = error !== undefined
    check(text.trim(), 'EMPTY_BODY')
    check(plain !== undefined, 'NOT_JSON')
    check(answer === Object(answer) && !Array.isArray(answer), 'NOT_AN_OBJECT')
    check(jsonrpc === '2.0', 'WRONG_VERSION')
    // A request that the server could not read is answered without its id.
    check(given === id || (failed && given === null), 'WRONG_ID')
    check(failed === (result === undefined), failed ? 'RESULT_AND_ERROR' : 'NO_RESULT')
    check(!failed || isErrorObject(error), 'MALFORMED_ERROR')
    if (isErrorObject(error)) throw toRpcError(error, call, http, secrets)
    if (!is200) {
      const reason = status ? `STATUS_${status}` : 'REDIRECT'
      throw new TransportError(`HTTP status ${status} from ${origin} (${count})`, {
        ...http,
        code: 'HTTP',
        reason
      })
    }
    const isList = Array.isArray(result)
    check(method.result !== 'list' || isList, 'NOT_A_LIST')
    check(method.result !== 'object' || (!isList && result === Object(result)), 'NOT_AN_OBJECT')
    const readExact = () => {
      exact ??= readExactJson(text)
      const source = isBatch ? (exact as unknown[])[(plain as unknown[]).indexOf(answer)] : exact
      return (source as Envelope).result
    }
    return method.read ? method.read(method, result, { form: int64, readExact, fail }) : result
  }
}
