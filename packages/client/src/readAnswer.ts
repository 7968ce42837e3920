import type { Settled } from './Client.ts'
import type { Int64Form } from './ClientOptions.ts'
import { type ChainDataClientError, ProtocolError, TransportError } from './errors.ts'
import { readExactJson } from './exactJson.ts'
import { parseRetryAfter } from './parseRetryAfter.ts'
import { redact } from './redact.ts'
import { shapeResult } from './shapeResult.ts'
import { isErrorObject, isRetryableStatus, toRpcError } from './toRpcError.ts'
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
  response: HttpResponse,
  asked: readonly Asked[],
  { isBatch, int64, secrets }: Reading
): Settled<unknown>[] {
  const { status, text, header } = response
  const requestId = redact(header('x-request-id') ?? undefined, secrets) as string | undefined
  const retryAfterMs = parseRetryAfter(header('retry-after') ?? undefined)
  const { plain, exact } = readExactJson(text)

  return asked.map(question => {
    try {
      return { status: 'fulfilled', value: readFor(question) }
    } catch (error) {
      // The functions called here throw nothing else.
      return { status: 'rejected', reason: error as ChainDataClientError }
    }
  })

  function readFor(question: Asked): unknown {
    const { id, method, wireName } = question
    const broken = (reason: string, what: string) =>
      new ProtocolError(reason, `${wireName}: ${what}`, { status, requestId })
    const refuse = (error: unknown) => {
      if (!isErrorObject(error)) throw broken('MALFORMED_ERROR', 'the error has no code or no message')
      throw toRpcError(error, { method: wireName, status, requestId, retryAfterMs, secrets })
    }

    if (status !== 200) {
      const { error } = Object(plain) as Envelope
      if (isErrorObject(error)) refuse(error)
      throw new TransportError(`${wireName}: HTTP status ${status} without a JSON-RPC error`, {
        code: 'HTTP',
        reason: status ? `STATUS_${status}` : 'REDIRECT',
        status,
        requestId,
        retryable: isRetryableStatus(status),
        retryAfterMs
      })
    }
    if (plain === undefined) {
      if (!text.trim()) throw broken('EMPTY_BODY', 'the answer is empty')
      // Only the media type is shown: a page may repeat the request, its headers included.
      const mediaType = /^[\w.+-]+\/[\w.+-]+/.exec(header('content-type') ?? '')?.[0] ?? 'unknown type'
      throw broken('NOT_JSON', `the answer is not JSON (${redact(mediaType, secrets)})`)
    }

    let answer = plain as Envelope
    let source = exact as Envelope
    if (isBatch && Array.isArray(plain)) {
      const places = [...plain.keys()].filter(place => (Object(plain[place]) as Envelope).id === id)
      const place = places[0]
      if (place === undefined) throw broken('MISSING_ENTRY', 'the batch was answered without this call')
      if (places.length > 1) throw broken('DUPLICATE_ENTRY', 'the batch was answered with this call twice')
      answer = plain[place]
      source = (exact as Envelope[])[place] as Envelope
    } else if (typeof plain !== 'object' || plain === null || Array.isArray(plain)) {
      throw broken('NOT_AN_OBJECT', 'one request was not answered by one JSON object')
    }
    if (answer.jsonrpc !== '2.0') throw broken('WRONG_VERSION', 'the answer is not JSON-RPC 2.0')
    const failed = 'error' in answer
    // A request that the server could not read is answered without its id.
    if (answer.id !== id && !(failed && answer.id === null)) {
      throw isBatch
        ? broken('NOT_AN_ARRAY', 'a batch was not answered by a JSON array')
        : broken('WRONG_ID', 'the answer carries the id of another request')
    }
    if (failed && 'result' in answer) {
      throw broken('RESULT_AND_ERROR', 'the answer holds a result and an error')
    }
    if (failed) refuse(answer.error)
    if (!('result' in answer)) throw broken('NO_RESULT', 'the answer holds neither a result nor an error')
    return shapeResult(method, answer.result, source.result, int64)
  }
}
