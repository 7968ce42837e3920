import type { Int64Form } from './ClientOptions.ts'
import { type ChainDataClientError, protocolError, TransportError } from './errors.ts'
import { readExactJson } from './exactJson.ts'
import { parseRetryAfter } from './parseRetryAfter.ts'
import { redact } from './redact.ts'
import { int64Forms, shapeResult } from './shapeResult.ts'
import { isErrorObject, toRpcError } from './toRpcError.ts'
import type { HttpResponse } from './transport.ts'

/** One question of a request, to which an answer must belong. */
export interface Asked {
  readonly id: number
  /** As the caller named it, for messages; of the document, it tells the shape of the result. */
  readonly method: string
  /** Written here: how it ended, so far. */
  value?: unknown
  /** Written here; absent for a question that has its value. */
  error?: ChainDataClientError | undefined
}

type Envelope = Record<string, unknown>

/**
 * Gives each question of a request its value, or its error:
 *
 * - `RpcError`: the service said no, to this question or to the request as a whole;
 * - `TransportError` `HTTP`: something else said no;
 * - `ProtocolError`: status 200, but no answer to this question.
 *
 * @param isBatch - Whether a list was sent, and a list must come back.
 */
export function readAnswer(
  { status, header }: HttpResponse,
  text: string,
  asked: readonly Asked[],
  isBatch: boolean,
  int64: Int64Form,
  secrets: readonly string[]
): void {
  const http = {
    status,
    requestId: redact(header('x-request-id') ?? undefined, secrets) as string | undefined,
    retryable: /^(408|425|429|50[0234])$/.test(`${status}`),
    retryAfterMs: parseRetryAfter(header('retry-after'))
  }
  const { plain, exact } = readExactJson(text)

  for (const question of asked) {
    try {
      question.value = readFor(question)
      question.error = undefined
    } catch (error) {
      // The functions called here throw nothing else.
      question.error = error as ChainDataClientError
    }
  }

  function readFor({ id, method }: Asked): unknown {
    const is200 = status === 200
    const check = (met: unknown, reason: string) => {
      if (is200 && !met) throw protocolError(reason, method, { ...http, retryable: false })
    }
    let answer = plain
    let source = exact
    if (isBatch && Array.isArray(plain)) {
      const entries = plain.filter(entry => entry?.id === id)
      check(entries.length, 'MISSING_ENTRY')
      check(entries.length < 2, 'DUPLICATE_ENTRY')
      answer = entries[0]
      source = (exact as unknown[])[plain.indexOf(answer)]
    }
    // JSON has no undefined: a member that is not there is one that is undefined.
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
    if (isErrorObject(error)) throw toRpcError(error, method, http, secrets)
    if (is200) return shapeResult(method, result, (source as Envelope).result, int64Forms[int64])
    throw new TransportError(`${method}: HTTP status ${status}`, {
      ...http,
      code: 'HTTP',
      reason: status ? `STATUS_${status}` : 'REDIRECT'
    })
  }
}
