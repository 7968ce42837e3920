import { errors, transport } from '@chain-data/protocol'
import { failureText } from '../rpc/envelope.ts'
import type { WireError } from '../rpc/toWireError.ts'
import type { HttpAnswer } from './exchange.ts'
import type { Guard } from './guards.ts'

/**
 * Guard: answers what is refused or fails behind it, and gives every answer its request id and its headers.
 *
 * @param toError - what the caller is told of a failure.
 */
export function answerErrors(toError: (failure: unknown, requestId: string) => WireError): Guard {
  return async ({ requestId, answerHeaders }, next) => {
    let answer: HttpAnswer
    try {
      answer = await next({})
    } catch (failure) {
      answer = errorAnswer(toError(failure, requestId))
    }
    const headers = {
      ...transport.answerHeaders,
      'x-request-id': requestId,
      ...answerHeaders,
      ...answer.headers
    }
    return { ...answer, headers }
  }
}

/** A refusal of a whole request, with the wait that it names as a header too. */
export function errorAnswer({ reason, error }: WireError): HttpAnswer {
  const waitMs = 'retryAfterMs' in error.data ? Number(error.data.retryAfterMs) : undefined
  return {
    status: errors[reason].httpStatus,
    headers: {
      'content-type': transport.responseContentType,
      ...(waitMs === undefined ? {} : { 'retry-after': String(Math.ceil(waitMs / 1_000)) })
    },
    body: failureText({ idText: undefined }, error)
  }
}
