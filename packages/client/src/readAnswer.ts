import type { Settled } from './Client.ts'
import type { Int64Form } from './ClientOptions.ts'
import { type ChainDataClientError, protocolError, TransportError } from './errors.ts'
import { readExactJson } from './exactJson.ts'
import { parseRetryAfter } from './parseRetryAfter.ts'
import { redact } from './redact.ts'
import { shapeResult } from './shapeResult.ts'
import { isErrorObject, toRpcError } from './toRpcError.ts'
import type { HttpResponse } from './transport.ts'

/** One question of a request, to which an answer must belong. */
export interface Asked {
  readonly id: number
  /** Name in the document, which tells the shape of the result. */
  readonly method: string
  /** For messages. */
  readonly wireName: string
  /** Written here: how it ended, so far. */
  outcome?: Settled<unknown>
}

/** How to read an answer. */
export interface Reading {
  /** Whether a list was sent, and a list must come back. */
  readonly isBatch: boolean
  readonly int64: Int64Form
  readonly secrets: readonly string[]
}

type Envelope = Record<string, unknown>

/**
 * Gives each question of a request its outcome: a result, or
 *
 * - `RpcError`: the service said no, to this question or to the request as a whole;
 * - `TransportError` `HTTP`: something else said no;
 * - `ProtocolError`: status 200, but no answer to this question.
 */
export function readAnswer(
  { status, text, header }: HttpResponse,
  asked: readonly Asked[],
  { isBatch, int64, secrets }: Reading
): void {
  const http = {
    status,
    requestId: redact(header('x-request-id') ?? undefined, secrets) as string | undefined,
    retryable: [408, 425, 429, 500, 502, 503, 504].includes(status),
    retryAfterMs: parseRetryAfter(header('retry-after'))
  }
  const { plain, exact } = readExactJson(text)

  for (const question of asked) {
    try {
      question.outcome = { status: 'fulfilled', value: readFor(question) }
    } catch (error) {
      // The functions called here throw nothing else.
      question.outcome = { status: 'rejected', reason: error as ChainDataClientError }
    }
  }

  function readFor({ id, method, wireName }: Asked): unknown {
    const need = (met: unknown, reason: string) => {
      if (!met) throw protocolError(reason, wireName, { ...http, retryable: false })
    }
    let answer = plain
    let source = exact
    if (isBatch && Array.isArray(plain)) {
      const places = [...plain.keys()].filter(place => plain[place]?.id === id)
      const place = places[0] as number
      need(places.length || status !== 200, 'MISSING_ENTRY')
      need(places.length < 2, 'DUPLICATE_ENTRY')
      answer = plain[place]
      source = (exact as unknown[])[place]
    }
    // JSON has no undefined: a member that is not there is one that is undefined.
    const { jsonrpc, id: given, result, error } = Object(answer) as Envelope
    const failed = error !== undefined
    if (status === 200) {
      need(text.trim(), 'EMPTY_BODY')
      need(plain !== undefined, 'NOT_JSON')
      need(answer === Object(answer) && !Array.isArray(answer), 'NOT_AN_OBJECT')
      need(jsonrpc === '2.0', 'WRONG_VERSION')
      // A request that the server could not read is answered without its id.
      need(given === id || (failed && given === null), 'WRONG_ID')
      need(!failed || result === undefined, 'RESULT_AND_ERROR')
      need(failed || result !== undefined, 'NO_RESULT')
      need(!failed || isErrorObject(error), 'MALFORMED_ERROR')
    }
    if (isErrorObject(error)) throw toRpcError(error, wireName, http, secrets)
    if (status === 200) return shapeResult(method, result, (source as Envelope).result, int64)
    throw new TransportError(`${wireName}: HTTP status ${status}`, {
      ...http,
      code: 'HTTP',
      reason: status ? `STATUS_${status}` : 'REDIRECT'
    })
  }
}
