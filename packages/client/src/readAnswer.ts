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
 * One outcome for each question of a request: a result, or
 *
 * - `RpcError`: the service said no, to this question or to the request as a whole;
 * - `TransportError` `HTTP`: something else said no;
 * - `ProtocolError`: status 200, but no answer to this question.
 */
export function readAnswer(
  { status, text, header }: HttpResponse,
  asked: readonly Asked[],
  { isBatch, int64, secrets }: Reading
): Settled<unknown>[] {
  const http = {
    status,
    requestId: redact(header('x-request-id') ?? undefined, secrets) as string | undefined,
    retryable: [408, 425, 429, 500, 502, 503, 504].includes(status),
    retryAfterMs: parseRetryAfter(header('retry-after') ?? undefined)
  }
  const { plain, exact } = readExactJson(text)

  return asked.map(question => {
    try {
      return { status: 'fulfilled', value: readFor(question) }
    } catch (error) {
      // The functions called here throw nothing else.
      return { status: 'rejected', reason: error as ChainDataClientError }
    }
  })

  function readFor({ id, method, wireName }: Asked): unknown {
    const need = (met: unknown, reason: string) => {
      if (!met) throw protocolError(reason, wireName, { status, requestId: http.requestId })
    }
    let answer = Object(plain) as Envelope
    let source = exact as Envelope

    if (status !== 200) {
      if (isErrorObject(answer.error)) throw toRpcError(answer.error, wireName, http, secrets)
      throw new TransportError(`${wireName}: HTTP status ${status} without a JSON-RPC error`, {
        ...http,
        code: 'HTTP',
        reason: status ? `STATUS_${status}` : 'REDIRECT'
      })
    }
    need(text.trim(), 'EMPTY_BODY')
    need(plain !== undefined, 'NOT_JSON')
    if (isBatch && Array.isArray(plain)) {
      const places = [...plain.keys()].filter(place => plain[place]?.id === id)
      need(places.length, 'MISSING_ENTRY')
      need(places.length === 1, 'DUPLICATE_ENTRY')
      answer = plain[places[0] as number]
      source = (exact as Envelope[])[places[0] as number] as Envelope
    }
    const failed = 'error' in answer
    need(answer === plain || isBatch, 'NOT_AN_OBJECT')
    need(!Array.isArray(answer), 'NOT_AN_OBJECT')
    need(answer.jsonrpc === '2.0', 'WRONG_VERSION')
    // A request that the server could not read is answered without its id.
    need(answer.id === id || (failed && answer.id === null), 'WRONG_ID')
    need(!failed || !('result' in answer), 'RESULT_AND_ERROR')
    if (failed) {
      need(isErrorObject(answer.error), 'MALFORMED_ERROR')
      throw toRpcError(answer.error as never, wireName, http, secrets)
    }
    need('result' in answer, 'NO_RESULT')
    return shapeResult(method, answer.result, source.result, int64)
  }
}
