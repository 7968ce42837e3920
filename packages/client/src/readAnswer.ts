import type { Batching, Call } from './Call.ts'
import type { Int64Form } from './ClientOptions.ts'
import { type ChainDataClientError, ProtocolError, TransportError } from './errors.ts'
import type { AnswerText } from './Method.ts'
import { parseRetryAfter } from './parseRetryAfter.ts'
import { redact } from './redact.ts'
import { isErrorObject, toRpcError } from './toRpcError.ts'
import type { HttpResponse } from './transport.ts'

/** The exchange that an answer belongs to. */
export interface Exchange extends AnswerText {
  readonly batching: Batching | undefined
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
  calls: readonly Call[],
  exchange: Exchange
): void {
  const { batching, origin, attempts, count, secrets, text } = exchange
  const is200 = status === 200
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    // The message of a syntax error quotes the text; JSON has no undefined.
  }

  for (const call of calls) {
    const { id, method } = call
    const http = {
      method: method.name,
      origin,
      attempts,
      status,
      requestId: redact(header('x-request-id') ?? undefined, secrets) as string | undefined,
      retryable: /^(408|425|429|50[0234])$/.test(`${status}`),
      retryAfterMs: parseRetryAfter(header('retry-after'))
    }
    const fail = (reason: string): never => {
      throw new ProtocolError(`no valid answer from ${origin} (${reason}, ${count})`, {
        ...http,
        code: 'PROTOCOL',
        reason,
        retryable: false
      })
    }
    const check = (met: unknown, reason: string) => is200 && !met && fail(reason)
    const find = (answers: unknown) => (batching ? batching.find(answers, id, check) : answers)
    try {
      const answer = find(json)
      const { jsonrpc, id: given, result, error } = Object(answer) as Envelope
      const failed = error !== undefined
      check(text.trim(), 'EMPTY_BODY')
      check(json !== undefined, 'NOT_JSON')
      check(isObject(answer), 'NOT_AN_OBJECT')
      check(jsonrpc === '2.0', 'WRONG_VERSION')
      // A request that the server could not read is answered without its id.
      check(given === id || (failed && given === null), 'WRONG_ID')
      check(failed === (result === undefined), failed ? 'RESULT_AND_ERROR' : 'NO_RESULT')
      if (isErrorObject(error)) throw toRpcError(error, call, http, secrets)
      check(!failed, 'MALFORMED_ERROR')
      if (!is200) {
        throw new TransportError(`HTTP status ${status} from ${origin} (${count})`, {
          ...http,
          code: 'HTTP',
          reason: status ? `STATUS_${status}` : 'REDIRECT'
        })
      }
      check(method.result !== 'list' || Array.isArray(result), 'NOT_A_LIST')
      check(method.result !== 'object' || isObject(result), 'NOT_AN_OBJECT')
      const resultIn = (other: unknown) => (find(other) as Envelope).result
      const reading = { form: exchange.int64, answer: exchange, resultIn, fail }
      call.value = method.read ? method.read(method, result, reading) : result
      call.error = undefined
    } catch (error) {
      // The functions called here throw nothing else.
      call.error = error as ChainDataClientError
    }
  }
}

function isObject(value: unknown): boolean {
  return value === Object(value) && !Array.isArray(value)
}
