import type { Answer } from './ClientOptions.ts'
import { type ErrorDetails, ProtocolError, TransportError } from './errors.ts'
import type { AnswerText, Method } from './Method.ts'
import { parseRetryAfter } from './parseRetryAfter.ts'
import type { Settings } from './readOptions.ts'
import { redact } from './redact.ts'
import { type ErrorObject, toRpcError } from './toRpcError.ts'
import type { HttpResponse } from './transport.ts'

/** How answers are read. */
export interface Answering extends Pick<Settings, 'maxResponseBytes' | 'int64'> {
  /**
   * Finds the answer to one call in an answer to several; absent: the answer is that to the call.
   *
   * @param check - Fails the call, for a reason, unless something holds.
   */
  readonly find?: (answers: unknown, id: number, check: (met: unknown, reason: string) => void) => unknown
}

/** An attempt to send a call, as its errors show it. */
export interface Attempt {
  /** What its errors hold: which method, where, and how many requests were sent. */
  readonly facts: Pick<ErrorDetails, 'method' | 'origin'> & Pick<Answer, 'attempts'>
  /** Which attempt it is, in words. */
  readonly count: string
}

/** The request of an attempt. */
interface Sent extends Attempt {
  readonly id: number
  readonly method: Method
  readonly body: string
  /** What no error may show. */
  readonly secrets: readonly string[]
}

/** What an answer holds for the caller. */
export type ReadAnswer = readonly [result: unknown, answer: Answer]

/**
 * Reads the result of a call in the answer to it.
 *
 * @throws {RpcError} The answer is an error of the service.
 * @throws {TransportError} It is of another status than 200, or too large.
 * @throws {ProtocolError} It is not what the service answers.
 */
export function readAnswer(
  response: HttpResponse,
  { find, int64, maxResponseBytes }: Answering,
  { id, method, body, secrets, facts, count }: Sent
): ReadAnswer {
  const { status, text, header } = response
  if (text === undefined) {
    const code = 'RESPONSE_LIMIT'
    throw new TransportError(
      `the answer is larger than maxResponseBytes (${maxResponseBytes})${method.advice?.(code) ?? ''}`,
      { ...facts, code }
    )
  }
  const http = {
    ...facts,
    status,
    requestId: redact(header('x-request-id') ?? undefined, secrets) as string | undefined,
    retryable: /^(408|425|429|50[0234])$/.test(`${status}`),
    retryAfterMs: parseRetryAfter(header('retry-after'))
  }
  const is200 = status === 200
  const fail = (reason: string): never => {
    throw new ProtocolError(`no valid answer from ${facts.origin} (${reason}, ${count})`, {
      ...http,
      code: 'PROTOCOL',
      reason,
      retryable: false
    })
  }
  const check = (met: unknown, reason: string) => is200 && !met && fail(reason)
  const answerIn = (answers: unknown) => (find ? find(answers, id, check) : answers)
  try {
    response.json ??= JSON.parse(text)
  } catch {
    // The message of a syntax error quotes the text; JSON has no undefined.
  }
  const answer = answerIn(response.json)
  const { jsonrpc, id: given, result, error } = Object(answer) as Record<string, unknown>
  const failed = error !== undefined
  check(text.trim(), 'EMPTY_BODY')
  check(response.json !== undefined, 'NOT_JSON')
  check(isObject(answer), 'NOT_AN_OBJECT')
  check(jsonrpc === '2.0', 'WRONG_VERSION')
  // A request that the server could not read is answered without its id.
  check(given === id || (failed && given === null), 'WRONG_ID')
  check(failed === (result === undefined), failed ? 'RESULT_AND_ERROR' : 'NO_RESULT')
  const { code, message } = Object(error) as Record<string, unknown>
  if (Number.isInteger(code) && typeof message === 'string') {
    throw toRpcError(error as ErrorObject, method, body, http, secrets)
  }
  check(!failed, 'MALFORMED_ERROR')
  if (!is200) {
    throw new TransportError(`HTTP status ${status} from ${facts.origin} (${count})`, {
      ...http,
      code: 'HTTP',
      reason: status ? `STATUS_${status}` : 'REDIRECT'
    })
  }
  check(method.result !== 'list' || Array.isArray(result), 'NOT_A_LIST')
  check(method.result !== 'object' || isObject(result), 'NOT_AN_OBJECT')
  const resultIn = (other: unknown) => (answerIn(other) as { result: unknown }).result
  const reading = { form: int64, answer: response as AnswerText, resultIn, fail }
  const { requestId } = http
  return [
    method.read ? method.read(method, result, reading) : result,
    { status, text, header, attempts: facts.attempts, ...(requestId && { requestId }) }
  ]
}

function isObject(value: unknown): boolean {
  return value === Object(value) && !Array.isArray(value)
}
